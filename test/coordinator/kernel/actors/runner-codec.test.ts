/** The record of a runner: what it holds comes back as it was, and takes little room. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { createActor } from 'xstate';
import { runnerMachine } from '../../../../machines/runner.ts';
import type { HeldAttempt } from '../../../../src/contract/types.ts';
import { decodeRunner, encodeRunner } from '../../../../src/coordinator/kernel/actors/runner-codec.ts';
import { jobId, newBatchId } from '../../../../src/domain/ids.ts';

const STUDIES = [1, 2].map((it) => newBatchId(it, new Uint8Array(6)));
const GPUS = { gpu: 1 };

const stateOf = (held: readonly HeldAttempt[]) => {
  const input = { runnerId: 'lab', now: 1 };
  const { context } = createActor(runnerMachine, { input }).getSnapshot();
  return { value: 'Busy' as const, context: { ...context, held } };
};
const heldAgain = (held: readonly HeldAttempt[]) => decodeRunner(encodeRunner(stateOf(held))).context.held;
const attempt = (run: number, more: Partial<HeldAttempt> = {}): HeldAttempt => ({
  jobId: jobId(STUDIES[0]!, run),
  attempt: 1,
  cpuMilli: 0,
  memoryBytes: 0,
  ...more,
});

describe('coordinator/kernel/actors/runner-codec', () => {
  it('gives back each attempt in its place, whatever lies beside it', () => {
    const some = fc.record(
      {
        study: fc.constantFrom(...STUDIES),
        run: fc.nat(6),
        attempt: fc.constantFrom(1, 1, 1, 2),
        cpuMilli: fc.constantFrom(0, 0, 500),
        memoryBytes: fc.constantFrom(0, 0, 1 << 30),
        resources: fc.constantFrom(GPUS, { gpu: 2 }),
        missingSinceMs: fc.constantFrom(5, 6),
      },
      { requiredKeys: ['study', 'run', 'attempt', 'cpuMilli', 'memoryBytes'] },
    );
    // Sequences: each of so many runs from one on.
    const parts = fc.array(fc.tuple(some, fc.integer({ min: 1, max: 5 })), { maxLength: 12 });
    fc.assert(
      fc.property(parts, (them) => {
        const held = them.flatMap(([{ study, run, ...more }, count]) =>
          Array.from({ length: count }, (_, at) => ({ ...more, jobId: jobId(study, run + at) })),
        );
        expect(heldAgain(held)).to.deep.equal(held);
      }),
    );
  });

  it('takes the room of one attempt for runs that follow each other, and gives back as many as there may be', () => {
    const held = Array.from({ length: 5_000 }, (_, run) => attempt(run));
    const text = encodeRunner(stateOf(held));
    expect((JSON.parse(text) as { held: { runs: number }[] }).held.map(({ runs }) => runs)).to.deep.equal([
      1_024, 1_024, 1_024, 1_024, 904,
    ]);
    expect(decodeRunner(text).context.held).to.deep.equal(held);
  });

  it('begins anew at a gap, at another attempt, and at a missing attempt', () => {
    const held = [attempt(0), attempt(1), attempt(3), attempt(4, { attempt: 2 }), attempt(5, { missingSinceMs: 7 })];
    const { held: stored } = JSON.parse(encodeRunner(stateOf(held))) as { held: { jobId: string; runs?: number }[] };
    expect(stored.map(({ jobId: id, runs }) => [id, runs])).to.deep.equal([
      [held[0]!.jobId, 2],
      ...held.slice(2).map((it) => [it.jobId, undefined]),
    ]);
    expect(heldAgain(held)).to.deep.equal(held);
  });

  it('reads a record with each attempt by itself', () => {
    const held = [attempt(0), attempt(1)];
    const { value, context } = stateOf(held);
    expect(decodeRunner(JSON.stringify({ value, ...context })).context.held).to.deep.equal(held);
  });
});
