/** One history of all runs as a stream: each format against the values that were reported, long and wide, selected or not. */
import { expect } from 'chai';
import { tableFromIPC } from '@uwdata/flechette';
import { parquetReadObjects } from 'hyparquet';
import type { Uuid } from '../../../src/contract/types.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import type { HistoriesRequest } from '../../../src/coordinator/answers/table-request.ts';
import type { GivenBack } from '../../../src/base/async/sent-pieces.ts';
import { Scene } from '../../support/scene.ts';

/** More than a chunk of columns takes, and than a chunk of records. */
const [RUNS, POINTS] = [90, 1_700];
const TIMES = Array.from({ length: POINTS }, (_, at) => at / 4);
/** With missing values, infinite ones, and those that JSON writes with an exponent. */
function valueAt(run: number, at: number): number {
  if (at >= POINTS - run) return Number.NaN;
  if (at === 3) return run % 2 === 0 ? Infinity : -Infinity;
  return at === 5 ? 1e-300 * (run + 1) : Math.sin(run * 1e4 + at);
}
const valuesOf = (run: number): number[] => TIMES.map((_, at) => valueAt(run, at));

describe('coordinator/histories: stream', () => {
  let scene: Scene;
  let batch: Uuid;

  before(async () => {
    scene = await Scene.open();
    const capabilities = {
      max_concurrent_jobs: RUNS,
      cpu_cores: 0,
      memory_gb: 0,
      gpu_available: false,
      supported_simulation_types: [],
      features: ['histories'],
    };
    await scene.api.register({ id: 'r1', instance: 'r1-1', capabilities });
    const at = { from: 0, to: (POINTS - 1) / 4, step: 0.25 };
    const histories = [
      { variable: 'other', at: { points: [1] } },
      { name: 'nz', variable: 'nz_g', at, units: 'g' },
    ];
    batch = await scene.submit({ runs: RUNS, maxRetries: 0, config: { histories } });
    await scene.api.claim('r1', { instance: 'r1-1', max_jobs: RUNS });
    for (let run = 0; run < RUNS; run += 1) {
      const own = { runner_id: 'r1', attempt: 1 };
      await scene.api.start(jobId(batch, run), own);
      if (run === 7) {
        await scene.api.fail(jobId(batch, run), { ...own, reason: 'invalid', error_message: 'no' });
        continue;
      }
      const reported = { other: encodeHistory([run]), nz: encodeHistory(valuesOf(run)) };
      const result = { execution_time_secs: 1, output_files: [], metadata: { miss: run }, histories: reported };
      await scene.api.complete(jobId(batch, run), { ...own, result });
    }
  });
  after(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  async function bytesOf(asked: Partial<HistoriesRequest>): Promise<Buffer> {
    const request = { batchId: batch, name: 'nz', format: 'ndjson', wide: false, ...asked } as const;
    const answer = await scene.api.histories(request);
    if (answer.state !== 'ready') throw new Error(answer.state);
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) pieces.push(piece);
    expect(Math.max(...pieces.map((it) => it.length))).to.be.at.most(512 * 1024);
    expect(Math.min(...pieces.map((it) => it.length)), 'an empty piece').to.be.above(0);
    return Buffer.concat(pieces);
  }
  const lines = (bytes: Buffer): Record<string, unknown>[] =>
    bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((it) => JSON.parse(it) as Record<string, unknown>);
  async function parquet(bytes: Buffer): Promise<Record<string, unknown>[]> {
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    return parquetReadObjects({ file });
  }
  const runs = (select: (run: number) => boolean = () => true): number[] =>
    Array.from({ length: RUNS }, (_, run) => run).filter((run) => run !== 7 && select(run));
  const shown = (value: number): unknown =>
    Number.isNaN(value) ? null : Number.isFinite(value) ? value : String(value);

  it('has a row for each run and time, in their order', async () => {
    const expected = runs().flatMap((run) => TIMES.map((time, at) => [run, time, valueAt(run, at)]));
    const text = lines(await bytesOf({}));
    expect(text.length).to.equal(expected.length);
    for (const [at, [run, time, value]] of expected.entries())
      if (text[at]!['run_id'] !== run || text[at]!['time'] !== time || text[at]!['value'] !== shown(value!))
        expect(text[at]).to.deep.equal({ run_id: run, time, value: shown(value!) });
    for (const rows of [
      await parquet(await bytesOf({ format: 'parquet' })),
      tableFromIPC(await bytesOf({ format: 'arrow' })).toArray() as Record<string, number>[],
    ]) {
      expect(rows.length).to.equal(expected.length);
      for (const [at, [run, time, value]] of expected.entries()) {
        const row = rows[at]!;
        if (row['run_id'] !== run || row['time'] !== time || !Object.is(row['value'], value))
          expect(row).to.deep.equal({ run_id: run, time, value });
      }
    }
  });

  it('has a row for each run when it is wide, with a column for each time', async () => {
    const text = lines(await bytesOf({ wide: true }));
    expect(text).to.deep.equal(runs().map((run) => ({ run_id: run, values: valuesOf(run).map(shown) })));
    for (const rows of [
      await parquet(await bytesOf({ format: 'parquet', wide: true })),
      tableFromIPC(await bytesOf({ format: 'arrow', wide: true })).toArray() as Record<string, number>[],
    ]) {
      expect(rows.map((it) => it['run_id'])).to.deep.equal(runs());
      for (const row of rows)
        expect(TIMES.map((time) => row[String(time)])).to.deep.equal(valuesOf(row['run_id'] as number));
    }
  });

  it('is the same where the memory of its pieces is given back, which the worker takes', async () => {
    const answer = await scene.api.histories({ batchId: batch, name: 'nz', format: 'ndjson', wide: false });
    if (answer.state !== 'ready') throw new Error(answer.state);
    const body = answer.body as AsyncIterable<Uint8Array> & GivenBack;
    const [pieces, copies]: [Uint8Array[], Buffer[]] = [[], []];
    for await (const piece of body) {
      pieces.push(piece);
      copies.push(Buffer.from(piece));
      body.giveBack(Buffer.from('of another stream'));
      body.giveBack(piece);
      body.giveBack(piece);
    }
    expect(pieces.length).to.be.above(5);
    // One is read ahead. A piece that was taken has no bytes here any more.
    expect(pieces.slice(0, -2).map((it) => it.byteLength)).to.deep.equal(pieces.slice(0, -2).map(() => 0));
    expect(Buffer.concat(copies).equals(await bytesOf({}))).to.equal(true);
  });

  it('has the same fields as CSV, where a missing value is empty', async () => {
    const field = (value: number): string => (Number.isNaN(value) ? '' : String(value));
    const long = runs().flatMap((run) => TIMES.map((time, at) => `${run},${time},${field(valueAt(run, at))}\r\n`));
    const wide = runs().map((run) => `${[run, ...valuesOf(run).map(field)].join(',')}\r\n`);
    for (const [isWide, header, expected] of [
      [false, 'run_id,time,value', long],
      [true, ['run_id', ...TIMES].join(), wide],
    ] as const) {
      const text = (await bytesOf({ format: 'csv', wide: isWide })).toString();
      expect(text === `${header}\r\n${expected.join('')}`, `wide: ${isWide}`).to.equal(true);
    }
    const none = await bytesOf({ format: 'csv', where: 'outputs.miss > 1000' });
    expect(none.toString()).to.equal('run_id,time,value\r\n');
  });

  it('has the runs that a condition selects, also none', async () => {
    for (const [where, select] of [
      ['outputs.miss > 80', (run: number) => run > 80],
      ['outputs.miss < 3 or outputs.miss = 50', (run: number) => run < 3 || run === 50],
      ['class = ok', () => true],
      ['outputs.miss > 1000', () => false],
    ] as const) {
      const text = (await bytesOf({ wide: true, where })).toString();
      const found = text === '' ? [] : lines(Buffer.from(text));
      expect(found, where).to.deep.equal(
        runs(select).map((run) => ({ run_id: run, values: valuesOf(run).map(shown) })),
      );
      const rows = await parquet(await bytesOf({ format: 'parquet', where }));
      expect(rows.length, where).to.equal(runs(select).length * POINTS);
    }
  });

  it('has another history by its name', async () => {
    expect(lines(await bytesOf({ name: 'other' }))).to.deep.equal(
      runs().map((run) => ({ run_id: run, time: 1, value: run })),
    );
  });

  it('names units and the history in the schema', async () => {
    const { fields } = tableFromIPC(await bytesOf({ format: 'arrow' })).schema;
    expect(fields.map(({ name, metadata, nullable }) => [name, metadata?.get('units'), nullable])).to.deep.equal([
      ['run_id', undefined, false],
      ['time', 's', false],
      ['value', 'g', false],
    ]);
    expect(fields[2]?.metadata?.get('description')).to.equal('nz');
  });

  for (const [title, asked, message] of [
    ['an unknown history', { name: 'nzz' }, /no history "nzz"; did you mean "nz"\?/],
    ['a name that is far from any', { name: 'altitude' }, /it has other, nz$/],
    ['a condition on an unknown column', { where: 'outputs.mis > 3' }, /outputs.mis.*did you mean/],
    ['half a condition', { where: 'outputs.miss >' }, /./],
  ] as const)
    it(`refuses ${title} before the first byte`, async () => {
      const error = await bytesOf(asked).catch((it: unknown) => it);
      expect(error).to.be.instanceOf(SimbatchError).and.to.have.property('code', 'malformed-query');
      expect((error as Error).message).to.match(message);
    });

  it('has a tag for an ended study, which a client that has it need not read', async () => {
    const request = { batchId: batch, name: 'nz', format: 'arrow', wide: false } as const;
    const answer = await scene.api.histories(request);
    expect(answer.tag).to.be.a('string');
    if (answer.state === 'ready') await (answer.body as AsyncIterableIterator<Uint8Array>).return?.();
    const again = await scene.api.histories(request, { isKnown: (tag) => tag === answer.tag });
    expect(again.state).to.equal('unchanged');
  });

  it('a reader that leaves frees its place', async () => {
    for (let reader = 0; reader < 40; reader += 1) {
      const answer = await scene.api.histories({ batchId: batch, name: 'nz', format: 'arrow', wide: false });
      if (answer.state !== 'ready') throw new Error(answer.state);
      const body = answer.body as AsyncIterableIterator<Uint8Array>;
      await body.next();
      await body.return?.();
    }
  });
});
