/** Tests that stored records come out of chunks of bytes as they are, and that a row of a table has their members. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Column } from '../../../../src/analysis/export/columns.ts';
import { OutputTypes } from '../../../../src/analysis/export/output-types.ts';
import { nextOf, recordsIn, runBlocks, StoredRun } from '../../../../src/coordinator/answers/worker/runs.ts';
import type { Member } from '../../../../src/coordinator/answers/worker/table/members.ts';
import { RowWriter } from '../../../../src/coordinator/answers/worker/table/row-writer.ts';
import type { RowKind } from '../../../../src/coordinator/answers/row-readings.ts';
import { linesOf } from '../../../../src/coordinator/kernel/storage/lines.ts';
import { keys } from '../../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { numberOf, outputsOf } from '../../../../src/domain/runs/outputs.ts';
import { times } from '../../../support/properties.ts';

const BATCH = '01a2014d-2084-8816-babd-d94b00000000';

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
/** The records of some runs: any run may lack one of them, or both. */
const records = fc.uniqueArray(fc.tuple(fc.nat(0xffff_fffe), fc.option(json), fc.option(metadata)), {
  selector: ([runId]) => runId,
  maxLength: 20,
});

type Stored = readonly [runId: number, job: unknown, metadata: unknown];

/** Serves the records in chunks of a few lines, as the coordinator does. */
function chunks(stored: readonly Stored[], lines: number): (kind: RowKind) => Promise<Uint8Array | null> {
  const left = { job: [] as [string, string][], result: [] as [string, string][] };
  for (const [runId, job, outputs] of stored) {
    const id = jobId(BATCH, runId);
    if (job !== null) left.job.push([keys.job(id), JSON.stringify({ job })]);
    if (outputs !== null) left.result.push([keys.result(id), JSON.stringify({ metadata: outputs })]);
  }
  return (kind) => Promise.resolve(left[kind].length === 0 ? null : linesOf(left[kind].splice(0, lines)));
}

async function allOf(blocks: AsyncIterable<readonly StoredRun[]>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const block of blocks) for (const { runId, job, result } of block) found.push([runId, job, result]);
  return found;
}

/** As a record has it: -0 is 0 there. */
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const columnOf = (type: Column['type'], member: string): Column => ({
  name: member,
  member,
  type,
  source: 'output',
  units: null,
  description: null,
});

describe('coordinator/answers/table records', () => {
  it('are those of each run, whichever records a run has and wherever chunks end', async () => {
    const given = fc.tuple(records, fc.integer({ min: 1, max: 5 }));
    const property = fc.asyncProperty(given, async ([unordered, lines]) => {
      const runs = unordered.toSorted(([a], [b]) => a - b);
      const expected = runs.map(([runId, job, outputs]) => [
        runId,
        job === null ? undefined : stored({ job }),
        outputs === null ? undefined : stored({ metadata: outputs }),
      ]);
      // A result without a job record belongs to no row; a reading of results alone has it.
      const both = expected.filter(([, job]) => job !== undefined);
      expect(await allOf(runBlocks(chunks(runs, lines)))).to.deep.equal(both);
      const results = expected.filter(([, , result]) => result !== undefined);
      const found = await allOf(runBlocks(chunks(runs, lines), ['result']));
      expect(found).to.deep.equal(results.map(([runId, , result]) => [runId, undefined, result]));
    });
    await fc.assert(property, { numRuns: times(300) });
  });

  it('of results become the cells of their outputs', () => {
    const property = fc.property(fc.array(metadata, { minLength: 1, maxLength: 5 }), (results) => {
      const types = new OutputTypes();
      const written = results.map((it) => outputsOf(stored(it)));
      for (const it of written) for (const [output, value] of it) types.add(output, value);
      const names = [...types.names()];
      const columns = (['mixed', 'number', 'text'] as const).flatMap((type) => names.map((it) => columnOf(type, it)));
      for (const type of ['mixed', 'number', 'text'] as const) {
        const ofType = columns.filter((it) => it.type === type);
        const writer = new RowWriter(ofType, results.length);
        for (const [runId, it] of results.entries()) {
          const run = new StoredRun(runId, undefined, JSON.stringify({ metadata: it }));
          writer.write({ member: undefined as unknown as Member, run });
        }
        for (const [place, output] of names.entries()) {
          const values = written.map((it) => {
            const value = it.get(output);
            if (type === 'number') return numberOf(value) ?? Number.NaN;
            if (type === 'text') return typeof value === 'string' ? value : null;
            return value ?? null;
          });
          expect([...writer.chunk.cells[place]!.values]).to.deep.equal(values);
        }
      }
    });
    fc.assert(property, { numRuns: times(300) });
  });

  it('are found in their chunks by run', () => {
    const texts = ['{"a":"é"}', '{}', '{"b":[1,2]}'];
    const chunk = linesOf(texts.map((text, run) => [keys.result(jobId(BATCH, run * 1_000_000)), text]));
    expect(recordsIn(chunk)).to.deep.equal(texts.map((text, run) => [run * 1_000_000, text]));
    expect(recordsIn(new Uint8Array())).to.deep.equal([]);
  });

  it('of some runs are asked for in parts, and a part without records does not end the reading', async () => {
    const asked: number[] = [];
    const next = nextOf(
      Uint32Array.from({ length: 1_200 }, (_, run) => run),
      (kind, runIds) => {
        asked.push(runIds.length);
        const last = runIds.at(-1)!;
        const isStored = kind === 'job' && last === 1_199;
        return Promise.resolve(linesOf(isStored ? [[keys.job(jobId(BATCH, last)), '{}']] : []));
      },
    );
    expect(recordsIn((await next('job'))!)).to.deep.equal([[1_199, '{}']]);
    expect(await next('job')).to.equal(null);
    expect(await next('result')).to.equal(null);
    expect(asked).to.deep.equal([500, 500, 200, 500, 500, 200]);
  });
});
