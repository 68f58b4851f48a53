/** The records of actors: the encoding equals JSON.stringify, and decoding inverts it. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { INITIAL_HISTORY, type JobContext } from '../../../../machines/job-context.ts';
import { INITIAL_COUNTERS, type BatchContext } from '../../../../machines/batch.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { ATTEMPT_OUTCOMES, JOB_STATUSES } from '../../../../src/contract/enums.ts';
import {
  ATTEMPT_MEMBERS,
  JOB_MEMBERS,
  type Member,
  type Members,
  type MemberType,
} from '../../../../src/contract/members/members.ts';
import type { AttemptRecord, JobHistoryState, JobStatus } from '../../../../src/contract/types.ts';
import { encodeJob, encodeResult } from '../../../../src/coordinator/kernel/actors/job-codec.ts';
import { reportedResult } from '../../../../src/coordinator/kernel/records/to-resource.ts';
import { decodeJob, type JobState } from '../../../../src/coordinator/kernel/actors/actor-kinds.ts';

const BATCH_ID = '01900000-0000-8000-8000-000000000000';
const resources: Record<string, number> = { gpu: 1 };
const limits = { maxRetries: 3, timeLimitMs: 1000, cpuMilli: 100, memoryBytes: 1e9, resources };
const batch = { ...INITIAL_COUNTERS, ...limits, batchId: BATCH_ID } as BatchContext;
const about = { jobId: jobId(BATCH_ID, 7), batchId: BATCH_ID, runId: 7, ...limits };

const ms = fc.integer({ min: 0, max: 4e12 });
const count = fc.nat({ max: 1000 });

const anyText = fc.string({ unit: 'binary', maxLength: 20 });
const maybe = <T>(it: fc.Arbitrary<T>) => fc.option(it, { nil: undefined });
const SCALARS = {
  count,
  time: ms,
  text: anyText,
  'runner-id': anyText,
  outcome: fc.constantFrom(...ATTEMPT_OUTCOMES),
};
const attempt = fc.record(
  mapped(ATTEMPT_MEMBERS, ({ type }) => SCALARS[type as keyof typeof SCALARS]),
  { requiredKeys: Object.entries<Member>(ATTEMPT_MEMBERS).flatMap(([name, it]) => (it.optional ? [] : [name])) },
);
const ANY: Record<MemberType, fc.Arbitrary<unknown>> = { ...SCALARS, attempts: fc.array(attempt, { maxLength: 3 }) };
const history = fc.record(
  mapped(JOB_MEMBERS, ({ type, optional }) => (optional ? maybe(ANY[type]) : ANY[type])),
) as unknown as fc.Arbitrary<JobHistoryState>;

function mapped<T>(members: Members, map: (it: Member) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(members).map(([name, it]) => [name, map(it)]));
}

describe('coordinator/kernel/actors: the record of a job', () => {
  it('equals the output of JSON.stringify, in the order of the state', () => {
    fc.assert(
      fc.property(fc.constantFrom(...JOB_STATUSES), history, (value, it) => {
        expect(encodeJob({ value, context: { ...about, ...it } })).to.equal(JSON.stringify({ value, ...it }));
      }),
    );
  });

  it('is decoded to the state it was encoded from', () => {
    fc.assert(
      fc.property(fc.constantFrom(...JOB_STATUSES), history, (value, it) => {
        const state: JobState = { value, context: { ...about, ...it } };
        const again = decodeJob(about.jobId, encodeJob(state), batch);
        expect(again).to.deep.equal(state);
      }),
    );
  });

  it('is encoded again when any member differs', () => {
    const one: AttemptRecord = {
      n: 1,
      runner: 'r',
      claimed: 1,
      started: 2,
      code: 'c',
      ended: 3,
      outcome: 'failed',
      reason: 'x',
      message: 'm',
      ownError: 'e',
    };
    const kept: JobHistoryState = { ...historyOf(full), attempts: [one] };
    const another = (value: unknown): unknown => (typeof value === 'number' ? value + 1 : `${String(value)}2`);
    const changed: JobHistoryState[] = [
      ...Object.entries(kept).flatMap(([name, value]) =>
        name === 'attempts' ? [] : [{ ...kept, [name]: another(value) }],
      ),
      ...Object.entries(one).map(([name, value]) => ({ ...kept, attempts: [{ ...one, [name]: another(value) }] })),
      { ...kept, attempts: [] },
      { ...kept, attempts: [one, one] },
    ];
    const [ofJob, ofAttempt] = [Object.keys(JOB_MEMBERS).length - 1, Object.keys(ATTEMPT_MEMBERS).length];
    expect(changed).to.have.length(ofJob + ofAttempt + 2);
    const text = (value: JobStatus, it: JobHistoryState) => encodeJob({ value, context: { ...about, ...it } });
    for (const it of changed) {
      expect(text('Failed', kept)).to.equal(JSON.stringify({ value: 'Failed', ...kept }));
      expect(text('Failed', it)).to.equal(JSON.stringify({ value: 'Failed', ...it }));
    }
    expect(text('Timeout', kept)).to.equal(JSON.stringify({ value: 'Timeout', ...kept }));
  });

  it('names every stored member of a job', () => {
    const names = Object.keys(JSON.parse(encodeJob({ value: 'Running', context: full })) as object);
    expect(names).to.have.members(['value', ...Object.keys(INITIAL_HISTORY)]);
  });
});

const full: JobContext = {
  ...about,
  ...INITIAL_HISTORY,
  infrastructureFaults: 5,
  runnerId: 'r',
  claimedAtMs: 1,
  startedAtMs: 2,
  completedAtMs: 3,
  dueAtMs: 4,
  error: 'e',
  reusedFrom: 'j',
  reusedEndedAtMs: 6,
  reusedCode: 'c',
};

function historyOf(context: JobContext): JobHistoryState {
  const names = Object.keys(INITIAL_HISTORY) as (keyof JobHistoryState)[];
  return Object.fromEntries(names.map((name) => [name, context[name]])) as unknown as JobHistoryState;
}

describe('coordinator/kernel/actors: the record of a result', () => {
  it('equals the output of JSON.stringify, with the members that the runner measured as they came', () => {
    const measured = fc.record(
      {
        execution_time_secs: count,
        output_files: fc.array(anyText, { maxLength: 3 }),
        metadata: fc.dictionary(anyText, fc.jsonValue(), { maxKeys: 3, noNullPrototype: true }),
        telemetry_data: fc.option(anyText),
        execution_secs: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
        // Its members are not in the order of the schema.
        telemetry: fc.record({ samples: count, seen: fc.array(anyText), refused: count, lost: count }),
      },
      { requiredKeys: ['execution_time_secs', 'output_files', 'metadata'] },
    );
    fc.assert(
      fc.property(fc.option(measured, { nil: undefined }), fc.option(anyText), (reported, error) => {
        const result = reportedResult(about.jobId, reported, error, 1500);
        expect(encodeResult(result)).to.equal(JSON.stringify(result));
      }),
    );
  });
});
