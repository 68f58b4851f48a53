/** Tests that records read from their bytes have the members that JSON.parse gives. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { JobRecord } from '../../../../src/contract/types.ts';
import { ChunkLines, RecordBytes, RecordChunk } from '../../../../src/coordinator/answers/worker/records/chunk.ts';
import { readJob } from '../../../../src/coordinator/answers/worker/records/job.ts';
import { ResultReader } from '../../../../src/coordinator/answers/worker/records/result.ts';
import { KIND } from '../../../../src/coordinator/answers/worker/records/scanner.ts';
import { linesOf } from '../../../../src/coordinator/kernel/storage/integrity/bulk-check.ts';
import { keys } from '../../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { numberOf, outputsOf } from '../../../../src/domain/runs/outputs.ts';
import { times } from '../../../support/properties.ts';

const BATCH = '01a2014d-2084-8816-babd-d94b00000000';

function recordOf(text: string): RecordBytes {
  const bytes = new TextEncoder().encode(`before${text}after`);
  return new RecordBytes(new RecordChunk(bytes), 6, bytes.length - 5);
}

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'a.b', '', 'é', '"', '\\', '\n', '__proto__', 'toString', '7'),
  fc.string({ maxLength: 5, unit: 'binary' }),
);
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}));
const metadata = fc.dictionary(name, json, { maxKeys: 6 });

/** Reads the outputs of results one after the other, as a table does. */
class Outputs {
  readonly places = new Map<string, number>();
  readonly reader = new ResultReader((output) => {
    if (!this.places.has(output)) this.places.set(output, this.places.size);
    return this.places.get(output)!;
  });

  of(text: string): Map<string, unknown> {
    this.reader.read(recordOf(text));
    const found = [...this.places].filter(([, place]) => this.reader.kind(place) !== KIND.absent);
    return new Map(found.map(([output, place]) => [output, this.reader.outputValue(place)]));
  }
}

const sorted = (outputs: ReadonlyMap<string, unknown>): unknown[] => [...outputs].sort(([a], [b]) => (a < b ? -1 : 1));

describe('coordinator/answers/table records', () => {
  it('have the outputs of their metadata, whatever results came before', () => {
    fc.assert(
      fc.property(fc.array(metadata, { minLength: 1, maxLength: 5 }), (results) => {
        const outputs = new Outputs();
        for (const it of results) {
          const text = JSON.stringify({ job_id: 'x', success: true, output_files: ['{"}'], metadata: it });
          // As the record has it: -0 is 0 there.
          const expected = outputsOf((JSON.parse(text) as { metadata: object }).metadata);
          expect(sorted(outputs.of(text))).to.deep.equal(sorted(expected));
          for (const [output, value] of expected) {
            const place = outputs.places.get(output)!;
            expect(outputs.reader.outputNumber(place)).to.deep.equal(numberOf(value) ?? NaN);
            expect(outputs.reader.outputText(place)).to.equal(typeof value === 'string' ? value : null);
          }
        }
      }),
      { numRuns: times(1_000) },
    );
  });

  it('are read with spaces between their members too', () => {
    const text = '{ "metadata" : {"a" : [1, {"b":"}"}], "c": {"d": 1.50}, "e":"x" } , "execution_secs": 2.5 }';
    const outputs = new Outputs();
    const expected = new Map<string, unknown>([
      ['a', [1, { b: '}' }]],
      ['c.d', 1.5],
      ['e', 'x'],
    ]);
    expect(outputs.of(text)).to.deep.equal(expected);
    expect(outputs.reader.executionSecs).to.equal(2.5);
    expect(outputs.of('{"metadata":{"f": 1,"g":\t"x","h":2 }}')).to.deep.equal(
      new Map<string, unknown>([
        ['f', 1],
        ['g', 'x'],
        ['h', 2],
      ]),
    );
    const { bytes, start, end } = outputs.reader.outputBytes(outputs.places.get('f')!);
    expect(new TextDecoder().decode(bytes.subarray(start, end))).to.equal('1');
    expect(() => outputs.of('{"metadata":{"a":1')).to.throw(SyntaxError);
  });

  it('have the members of every result', () => {
    const reader = new ResultReader(() => -1);
    const rule = { variable: 'max_nz', condition: '> 3.8', value: 4 };
    reader.read(
      recordOf(
        JSON.stringify({
          execution_time_secs: 3,
          metadata: { execution_secs: 9, lost: 7 },
          error_message: 'it said "no": é',
          terminated_by: rule,
          would_terminate: { ...rule, variable: 'q"' },
          telemetry: { seen: ['lost'], lost: 12 },
        }),
      ),
    );
    expect([reader.executionSecs, reader.errorMessage, reader.telemetryLost]).to.deep.equal([3, 'it said "no": é', 12]);
    expect([reader.terminatedBy, reader.wouldTerminate]).to.deep.equal([rule, { ...rule, variable: 'q"' }]);
    reader.read(
      recordOf(JSON.stringify({ execution_time_secs: 3, metadata: {}, error_message: null, execution_secs: 0.5 })),
    );
    expect([reader.executionSecs, reader.errorMessage, reader.telemetryLost]).to.deep.equal([0.5, null, undefined]);
    expect([reader.terminatedBy, reader.wouldTerminate]).to.deep.equal([undefined, undefined]);
  });

  it('of jobs have their state', () => {
    const attempt = { n: 1, runner: 'r', claimed: 1 };
    const base = { attempt: 2, retries: 0, losses: 0, attempts: [attempt, { ...attempt, n: 2 }], attemptsOmitted: 0 };
    const jobs: JobRecord[] = [
      { value: 'Pending', ...base, attempts: [] },
      { value: 'Running', ...base, runnerId: 'r-1', startedAtMs: 1_795_318_160_540 },
      { value: 'Completed', ...base, runnerId: 'é"', completedAtMs: 5, attempts: [{ ...attempt, reason: 'unused' }] },
      {
        value: 'Failed',
        ...base,
        error: 'no\nyes',
        attempts: [attempt, { ...attempt, reason: 'exit', message: '"]}' }],
      },
    ];
    for (const job of jobs) {
      const { value, runnerId, startedAtMs, completedAtMs, error } = job;
      const reason = value === 'Completed' ? null : (job.attempts.at(-1)?.reason ?? null);
      const expected = { value, attempt: job.attempt, runnerId, startedAtMs, completedAtMs, error, reason };
      expect(readJob(recordOf(JSON.stringify(job)))).to.deep.equal(expected);
    }
  });

  it('are found in their chunks by run', () => {
    const texts = ['{"a":"é"}', '{}', '{"b":[1,2]}'];
    const chunk = linesOf(texts.map((text, run) => [keys.result(jobId(BATCH, run * 1_000_000)), text]));
    const found: [number, string][] = [];
    for (const lines = new ChunkLines(chunk); lines.runId >= 0; lines.drop())
      found.push([lines.runId, lines.record().text]);
    expect(found).to.deep.equal(texts.map((text, run) => [run * 1_000_000, text]));
    expect(new ChunkLines(new Uint8Array()).runId).to.equal(-1);
  });
});
