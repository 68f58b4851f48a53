/** A Parquet table in one reading has the rows and columns of one whose outputs are found first. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { OutputTypes } from '../../../../src/analysis/export/output-types.ts';
import type { ReadingHead, RowKind } from '../../../../src/coordinator/answers/row-readings.ts';
import { parquetEncoder } from '../../../../src/coordinator/answers/worker/formats/parquet.ts';
import { type Member, membersOf, rowBlocks } from '../../../../src/coordinator/answers/worker/table/members.ts';
import { parquetInOneReading } from '../../../../src/coordinator/answers/worker/table/one-reading.ts';
import { OutputScan } from '../../../../src/coordinator/answers/worker/table/output-scan.ts';
import { description, planOf, type TablePlan } from '../../../../src/coordinator/answers/worker/table/plan.ts';
import { kindsFor, RowWriter } from '../../../../src/coordinator/answers/worker/table/row-writer.ts';
import { encodeSubmission } from '../../../../src/coordinator/resources/study-cache.ts';
import { linesOf } from '../../../../src/coordinator/storage/integrity/bulk-check.ts';
import { keys } from '../../../../src/coordinator/storage/keys.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { SAMPLING_SCHEME } from '../../../../src/domain/sampling/sampler.ts';
import { times } from '../../../support/properties.ts';
import { study } from '../../../support/studies.ts';

const BATCH = '01a2014d-2084-8816-babd-d94b00000000';
const GROUP_ROWS = 40;
const CHUNK_ROWS = 17;

type Metadata = Record<string, unknown>;

/** A batch in memory: each run has a job, and a result where it has metadata. */
class Batch {
  readonly member: Member;
  /** Chunks that were read. */
  reads = 0;
  readonly #runs: readonly (Metadata | undefined)[];
  readonly #next: Record<RowKind, number> = { job: 0, result: 0 };

  constructor(runs: readonly (Metadata | undefined)[]) {
    this.#runs = runs;
    const head: ReadingHead = {
      reading: 1,
      batchId: BATCH,
      version: 'Completed',
      submission: encodeSubmission(study({ runs: runs.length }), 42),
      samplingScheme: SAMPLING_SCHEME,
      method: 'monte_carlo',
      configHash: 'none',
      totalJobs: runs.length,
      createdAtMs: 0,
      timeLimitMs: 0,
      isCancelled: true,
      endedAtMs: 5,
      openRuns: 0,
    };
    [this.member] = membersOf([head], () => (kind) => Promise.resolve(this.#chunk(kind))) as [Member];
  }

  restart = (from = 0): Promise<void> => {
    Object.assign(this.#next, { job: from, result: from });
    return Promise.resolve();
  };

  #chunk(kind: RowKind): Uint8Array | null {
    this.reads++;
    const entries: [string, string][] = [];
    for (; this.#next[kind] < this.#runs.length && entries.length < CHUNK_ROWS; this.#next[kind]++) {
      const run = this.#next[kind];
      const metadata = this.#runs[run];
      const job = { value: 'Completed', attempt: 1, startedAtMs: 1000 + run, completedAtMs: 2000 + run, attempts: [] };
      const record = kind === 'job' ? job : { execution_time_secs: 1, metadata };
      if (metadata !== undefined) entries.push([keys[kind](jobId(BATCH, run)), JSON.stringify(record)]);
    }
    return entries.length === 0 ? null : linesOf(entries);
  }
}

const REQUEST = { batchId: BATCH, format: 'parquet' } as const;
const planFor = (batch: Batch, types: OutputTypes): TablePlan => planOf([batch.member], types, REQUEST);
const scanned = (batch: Batch): Promise<OutputTypes> =>
  new OutputScan().types([batch.member], { mayBeOlder: false, restart: () => batch.restart() });

async function inOneReading(
  batch: Batch,
  onPiece: (bytes: number) => void = () => {},
): Promise<{ file: Uint8Array; found: OutputTypes | undefined }> {
  let found: OutputTypes | undefined;
  const pieces: Uint8Array[] = [];
  const parts = {
    member: batch.member,
    planOf: (types: OutputTypes) => planFor(batch, types),
    groupRows: () => GROUP_ROWS,
    restart: batch.restart,
    scan: () => scanned(batch),
    describe: (plan: TablePlan) => description(plan, REQUEST),
    found: (types: OutputTypes) => void (found = types),
  };
  for await (const piece of parquetInOneReading(parts)) {
    onPiece(piece.length);
    pieces.push(piece);
  }
  return { file: joined(pieces), found };
}

/** The file of a table whose outputs are known before its first byte. */
async function inTwoReadings(batch: Batch): Promise<{ file: Uint8Array; types: OutputTypes }> {
  const types = await scanned(batch);
  const plan = planFor(batch, types);
  const encoder = parquetEncoder(plan.columns, description(plan, REQUEST));
  const writer = new RowWriter(plan.columns, GROUP_ROWS);
  const pieces = [encoder.begin({ batchId: BATCH, warnings: [] })];
  const flush = (): void => {
    pieces.push(encoder.write(writer.chunk));
    writer.chunk.clear();
  };
  for await (const block of rowBlocks([batch.member], kindsFor(plan.columns))) {
    for (const row of block) {
      writer.write(row);
      if (writer.isFull) flush();
    }
  }
  flush();
  pieces.push(encoder.end({ matched: 0, of: 0 }));
  return { file: joined(pieces), types };
}

const joined = (pieces: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces));

async function contentOf(file: Uint8Array): Promise<unknown> {
  const buffer = file.slice().buffer;
  const { schema, key_value_metadata: described, row_groups: groups, num_rows: rows } = parquetMetadata(buffer);
  const sizes = groups.map((it) => it.num_rows);
  const columns = groups.map((it) => it.columns.map((column) => column.meta_data?.path_in_schema));
  return { schema, described, rows, sizes, columns, values: await parquetReadObjects({ file: buffer }) };
}

const kindsOf = (types: OutputTypes): unknown =>
  Array.from(types.names(), (name) => [name, types.of(name), types.hasNumbers(name)]);

async function expectSame(runs: readonly (Metadata | undefined)[]): Promise<{ reads: number; isSame: boolean }> {
  const batch = new Batch(runs);
  const one = await inOneReading(batch);
  const two = await inTwoReadings(new Batch(runs));
  expect(await contentOf(one.file)).to.deep.equal(await contentOf(two.file));
  expect(one.found && kindsOf(one.found)).to.deep.equal(kindsOf(two.types));
  return { reads: batch.reads, isSame: Buffer.compare(one.file, two.file) === 0 };
}

const runsOf = (count: number, metadataOf: (run: number) => Metadata | undefined): (Metadata | undefined)[] =>
  Array.from({ length: count }, (_, run) => metadataOf(run));

describe('coordinator/answers/table one-reading', function () {
  this.timeout(60_000);
  const cases: Record<string, (run: number) => Metadata | undefined> = {
    'an output of the last run alone': (run) => (run === 399 ? { a: 1, late: 'text' } : { a: run }),
    'a text of the last run in an output of numbers': (run) => ({ a: run === 399 ? 'text' : run / 3, b: run }),
    'a number after booleans': (run) => ({ a: run < 350 ? run % 2 === 0 : 0.5 }),
    'booleans after numbers': (run) => ({ a: run < 350 ? run : true }),
    'a list after texts': (run) => ({ a: run < 250 ? `text ${run}` : [run] }),
    'a text after nulls': (run) => ({ a: run < 250 ? null : 'text', b: null }),
    'outputs that appear one after the other': (run) => ({ [`out_${Math.floor(run / 50)}`]: run, a: 1 }),
    'an output that changes its type twice': (run) => ({ a: run < 150 ? true : run < 300 ? run : 'text' }),
    'runs that were never claimed': (run) =>
      run % 7 === 2 || run > 330 ? undefined : { a: run, ['b'.repeat(1 + (run >> 7))]: 'x' },
    'nested outputs that appear late': (run) => ({ a: { b: run < 300 ? { c: run } : { d: `text ${run}` } } }),
    'no outputs': () => ({}),
  };
  for (const [title, metadataOf] of Object.entries(cases)) {
    it(`has every column and value: ${title}`, async () => {
      await expectSame(runsOf(400, metadataOf));
    });
  }

  it('writes the same bytes where all outputs appear in the first runs', async () => {
    const { isSame } = await expectSame(
      runsOf(1000, (run) => ({ a: Math.sin(run), b: run % 2 === 0, c: `text ${run % 5}` })),
    );
    expect(isSame).to.equal(true);
  });

  it('reads each record once, but for those of the first runs', async () => {
    const { reads } = await expectSame(runsOf(5000, (run) => ({ a: run })));
    const chunks = (2 * 5000) / CHUNK_ROWS;
    expect(reads).to.be.within(chunks, 1.1 * chunks);
  });

  it('writes files of a few rows', async () => {
    for (const count of [1, 3, 40, 99, 100, 101]) await expectSame(runsOf(count, (run) => ({ a: run })));
  });

  it('refuses a table that is too wide before its first byte where the first runs show it, and breaks it off later', async () => {
    const outputs = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`output_${at}`, at]));
    const lengths: Record<number, number> = {};
    for (const wide of [5, 250]) {
      lengths[wide] = 0;
      const batch = new Batch(runsOf(400, (run) => (run === wide ? outputs : { a: run })));
      const count = (bytes: number): number => (lengths[wide]! += bytes);
      const failure = await inOneReading(batch, count).catch((error: unknown) => (error as Error).message);
      expect(failure).to.match(/^the table is too wide/);
    }
    expect(lengths).to.deep.equal({ 5: 0, 250: lengths[250] });
    expect(lengths[250]).to.be.greaterThan(0);
  });

  it('has every column and value, whatever outputs appear when', async () => {
    const value = (kind: string, run: number): unknown =>
      ({
        number: run / 7,
        boolean: run % 3 === 0,
        text: `text ${run % 11}`,
        null: null,
        list: [run],
        absent: undefined,
      })[kind];
    const kind = fc.constantFrom('number', 'number', 'boolean', 'text', 'null', 'list', 'absent');
    const output = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd.e'),
      before: kind,
      after: kind,
      at: fc.nat(320),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(output, { maxLength: 4 }), async (outputs) => {
        await expectSame(
          runsOf(320, (run) =>
            Object.fromEntries(
              outputs.map(({ name, before, after, at }) => [name, value(run < at ? before : after, run)]),
            ),
          ),
        );
      }),
      { numRuns: times(40) },
    );
  });
});
