/** Tables of runs: rows, columns, conditions, order and pages against the other operations of the API. */
import { expect } from 'chai';
import fc from 'fast-check';
import { StudyTable } from '../../../../src/contract/answers/table.ts';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { times } from '../../../support/properties.ts';
import { Scene } from '../../../support/scene.ts';
import { strictFaults } from '../../../support/strict-schema.ts';
import {
  type Asked,
  bytesOf,
  cellOf,
  flown,
  HOSTILE,
  naiveRows,
  naiveSort,
  report,
  type Row,
  tableOf,
} from './flown-study.ts';

/** The rows with all columns of the table, as its JSON shows them. */
function withColumns(rows: readonly Row[], columns: readonly { name: string; type: string }[]): Row[] {
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name }): [string, unknown] => [name, row[name] === undefined ? null : row[name]]),
    ),
  );
}

/** As entries: deep equality of objects overlooks members named `__proto__`. */
const entries = (rows: readonly Row[]): [string, unknown][][] => rows.map((row) => Object.entries(row));

describe('coordinator/answers/table', () => {
  let scene: Scene;
  /** With runs in every state. */
  let open: string;
  /** Ended: its last runs were cancelled, some untouched. */
  let over: string;
  let rows: Row[];
  before(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 500 });
    over = await flown(scene, { runs: 60, claimed: 50 });
    await scene.api.cancelBatch(over);
    open = await flown(scene);
    rows = await naiveRows(scene, open);
  });
  after(() => scene.api.close());

  const refusal = async (asked: Asked): Promise<string> => {
    try {
      await tableOf(scene, open, asked);
      return 'answered';
    } catch (error) {
      return error instanceof SimbatchError ? `${error.code}: ${error.message}` : String(error);
    }
  };

  it('has every run, in every state, with all that is known of it', async () => {
    const table = await tableOf(scene, open);
    expect(new Set(rows.map((it) => it['status']))).to.deep.equal(
      new Set(['Pending', 'Claimed', 'Running', 'Completed', 'Failed', 'Timeout']),
    );
    expect(entries(table.rows)).to.deep.equal(entries(withColumns(rows, table.columns)));
    expect([table.matched, table.of, table.tag]).to.deep.equal([40, 40, undefined]);
    expect(table.warnings.map((it) => it.code)).to.deep.equal(['unfinished']);
    const { next: _next, tag: _tag, ...body } = table;
    expect(strictFaults(StudyTable, body)).to.deep.equal([]);
  });

  it('has a row for runs that were cancelled before anything ran', async () => {
    const table = await tableOf(scene, over);
    expect(entries(table.rows)).to.deep.equal(entries(withColumns(await naiveRows(scene, over), table.columns)));
    expect(table.rows.at(-1)).to.include({ status: 'Cancelled', class: 'cancelled', attempt: 0 });
    expect(table.rows.at(-1)!['ended_at']).to.be.a('string');
    expect(table.warnings).to.deep.equal([]);
    expect(table.tag).to.match(/^".+"$/);
  });

  it('has the columns of runs, then parameters, declared outputs and the others as they appear, with types and units', async () => {
    const { columns } = await tableOf(scene, open);
    const shown = columns.slice(11).map((it) => `${it.name} ${it.type} ${it.units}`);
    expect(shown.slice(0, 12)).to.deep.equal([
      'execution_secs number s',
      'error_message text null',
      'terminated_by text null',
      'would_terminate text null',
      'telemetry_lost number null',
      'code text null',
      'reused_from text null',
      'parameters.mass number kg',
      'parameters.wind number m/s',
      'outputs.miss_m number m',
      'outputs.never number K',
      'outputs.landed boolean null',
    ]);
    expect(columns.find((it) => it.name === 'outputs.miss_m')).to.include({ description: 'distance, at touchdown' });
    const types = new Map(columns.map((it) => [it.name, it.type]));
    expect(['run_id', 'status', 'started_at'].map((it) => types.get(it))).to.deep.equal(['integer', 'text', 'time']);
    expect(['mode', 'path', 'mixed', 'nested.deep.value'].map((it) => types.get(`outputs.${it}`))).to.deep.equal([
      'text',
      'mixed',
      'mixed',
      'number',
    ]);
    for (const name of HOSTILE) expect(types.get(`outputs.${name}`), name).to.equal('number');
    // An object is not an output, its members are.
    expect([...types.keys()].filter((it) => it.startsWith('outputs.nested'))).to.deep.equal([
      'outputs.nested.deep.value',
    ]);
  });

  it('has the named columns in the order of the request', async () => {
    const { rows: shown, columns } = await tableOf(scene, open, { columns: ['class', 'outputs.miss_m', 'run_id'] });
    expect(columns.map((it) => it.name)).to.deep.equal(['class', 'outputs.miss_m', 'run_id']);
    expect(shown).to.deep.equal(withColumns(rows, columns));
    const all = await tableOf(scene, open, { columns: ['run_id', 'parameters.*', 'outputs.never'] });
    expect(all.columns.map((it) => it.name)).to.deep.equal([
      'run_id',
      'parameters.mass',
      'parameters.wind',
      'outputs.never',
    ]);
  });

  it('refuses unknown names with the nearest one, repeated columns and what it cannot read', async () => {
    const table: [Asked, string][] = [
      [{ columns: ['outputs.mis_m'] }, 'the table has no column "outputs.mis_m"; did you mean "outputs.miss_m"?'],
      [{ columns: ['run_id', 'run_id'] }, '"run_id" is named twice; name it once'],
      [{ where: 'outputs.mis_m > 1' }, 'unknown column "outputs.mis_m"; did you mean "outputs.miss_m"?'],
      [{ where: 'class > 1' }, 'the column "class" holds texts, 1 is not one'],
      [{ where: 'outputs.miss_m >' }, 'expected a value, the expression ends'],
      [{ sort: ['-outputs.mis_m'] }, 'the table has no column "outputs.mis_m"; did you mean "outputs.miss_m"?'],
      [{ sort: ['run_id', '-run_id'] }, 'it names "run_id" twice'],
      [{ sort: Array.from({ length: 9 }, (_, at) => `c${at}`) }, 'at most 8 are possible'],
    ];
    for (const [asked, expected] of table) {
      for (const page of [{}, { limit: 3 }]) {
        expect(await refusal({ ...asked, ...page }))
          .to.match(/^malformed-query: /)
          .and.include(expected);
      }
    }
  });

  it('selects by any column, shown or not', async () => {
    const table: [string, (row: Row) => boolean][] = [
      ['outputs.miss_m > 20 and class = ok', (it) => Number(it['outputs.miss_m']) > 20 && it['class'] === 'ok'],
      ['outputs.landed = true', (it) => it['outputs.landed'] === true],
      ['outputs.mode = \'a,"b"\'', (it) => it['outputs.mode'] === 'a,"b"'],
      ['outputs.mixed < 10', (it) => Number(cellOf(it, 'outputs.mixed') ?? 99) < 10],
      ['outputs.path = \'[3,"x"]\'', (it) => JSON.stringify(it['outputs.path']) === '[3,"x"]'],
      ["'outputs.__proto__' > 30", (it) => (it['outputs.__proto__'] as number) > 30],
      ['runner_id is null', (it) => it['runner_id'] === null],
      [
        "started_at < '2026-01-01T00:00:30Z'",
        (it) => it['started_at'] !== null && (it['started_at'] as string) < '2026-01-01T00:00:30Z',
      ],
      ['parameters.wind < 0 or attempt = 0', (it) => Number(it['parameters.wind']) < 0 || it['attempt'] === 0],
      ['outputs.never is not null', () => false],
    ];
    for (const [where, isSelected] of table) {
      const expected = rows.filter(isSelected).map((it) => it['run_id']);
      const found = await tableOf(scene, open, { where, columns: ['run_id'] });
      expect(
        found.rows.map((it) => it['run_id']),
        where,
      ).to.deep.equal(expected);
      expect([found.matched, found.of]).to.deep.equal([expected.length, 40]);
      const paged = await pages({ where, columns: ['run_id'], limit: 7 });
      expect(
        paged.map((it) => it['run_id']),
        where,
      ).to.deep.equal(expected);
    }
  });

  async function pages(asked: Asked, batchId = open): Promise<Row[]> {
    const found: Row[] = [];
    let after: string | undefined;
    do {
      const page = await tableOf(scene, batchId, { ...asked, after });
      expect(page.rows.length).to.be.at.most(asked.limit!);
      found.push(...page.rows);
      after = page.next;
    } while (after !== undefined);
    return found;
  }

  it('sorts and pages as a naive implementation does, by any columns', async () => {
    const columns = ['run_id', 'status', 'runner_id', 'ended_at', 'parameters.mass', 'error_message'];
    const outputs = ['miss_m', 'landed', 'mode', 'mixed', 'path', '__proto__', 'never', 'rare'];
    const names = [...columns, ...outputs.map((it) => `outputs.${it}`)];
    const expected = new Map([
      [open, rows],
      [over, await naiveRows(scene, over)],
    ]);
    const key = fc.tuple(fc.constantFrom(...names), fc.boolean());
    const asked = fc.record({
      batchId: fc.constantFrom(open, over),
      sort: fc.uniqueArray(key, { maxLength: 3, selector: ([name]) => name }),
      where: fc.constantFrom(undefined, 'outputs.landed = false', 'outputs.miss_m is null or run_id < 20'),
      limit: fc.constantFrom(undefined, 1, 3, 17, 40, 100),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ batchId, sort, where, limit }) => {
        const keys = sort.map(([name, isDescending]) => (isDescending ? `-${name}` : name));
        const selected = expected.get(batchId)!.filter((it) => isSelected(it, where));
        const runs = naiveSort(selected, keys).map((it) => it['run_id']);
        const request = { columns: ['run_id'], where, ...(keys.length === 0 ? {} : { sort: keys }) };
        const found =
          limit === undefined
            ? (await tableOf(scene, batchId, request)).rows
            : await pages({ ...request, limit }, batchId);
        expect(found.map((it) => it['run_id'])).to.deep.equal(runs);
      }),
      { numRuns: times(60) },
    );
  });

  const isSelected = (row: Row, where: string | undefined): boolean => {
    if (where === undefined) return true;
    if (where.startsWith('outputs.landed')) return row['outputs.landed'] === false;
    return cellOf(row, 'outputs.miss_m') === null || Number(row['run_id']) < 20;
  };

  it('shows the outputs of runs that ended after an earlier page was read', async () => {
    const own = await Scene.open();
    await own.register('a', { slots: 10 });
    const batchId = await flown(own, { runs: 6, claimed: 2 });
    expect((await tableOf(own, batchId, { limit: 2 })).columns.map((it) => it.name)).to.not.include('outputs.rare');
    await report(own, 4);
    expect((await tableOf(own, batchId, { limit: 3 })).rows.at(2)).to.include({ 'outputs.rare': 7 });
    expect((await tableOf(own, batchId, { columns: ['outputs.rare'] })).matched).to.equal(6);
    await own.api.close();
  });

  it('says on a page of a sorted table that runs ended since the first one', async () => {
    const own = await Scene.open();
    await own.register('a', { slots: 10 });
    const batchId = await flown(own, { runs: 6, claimed: 3 });
    const sort = ['-outputs.miss_m'];
    const first = await tableOf(own, batchId, { sort, limit: 2 });
    const same = await tableOf(own, batchId, { sort, limit: 2, after: first.next });
    expect(same.warnings.map((it) => it.code)).to.deep.equal(['unfinished']);
    await report(own, 3, true);
    const next = await tableOf(own, batchId, { sort, limit: 2, after: first.next });
    expect(next.warnings.map((it) => it.code)).to.deep.equal(['changed']);
    await own.api.close();
  });

  it('has an entity tag once the batch has ended, another one for each question', async () => {
    const tags = await Promise.all(
      [{}, { limit: 5 }, { where: 'run_id > 3' }, { columns: ['run_id'] }].map(
        async (it: Asked) => (await tableOf(scene, over, it)).tag,
      ),
    );
    expect(new Set(tags).size).to.equal(4);
    const known = { isKnown: (tag: string) => tag === tags[0] };
    expect(await scene.api.table({ batchId: over, format: 'json' }, known)).to.deep.equal({
      state: 'unchanged',
      tag: tags[0],
    });
  });

  it('is a table without rows for a batch without runs, in every format', async () => {
    const batchId = await scene.submit({ runs: 0 });
    expect(await tableOf(scene, batchId)).to.deep.include({ rows: [], matched: 0, of: 0 });
    expect(await tableOf(scene, batchId, { limit: 5, sort: ['run_id'] })).to.deep.include({ rows: [], matched: 0 });
    const csv = await bytesOf(scene, { batchId, format: 'csv', columns: ['run_id', 'class'] });
    expect(csv.bytes.toString()).to.equal('run_id,class\r\n');
  });

  it('closes its readings when a client leaves after the first piece, and before it', async () => {
    const closed = new AbortController();
    closed.abort();
    const request = { batchId: over, format: 'csv' } as const;
    // More often than tables may be open at once.
    for (let time = 0; time < 40; time++) {
      await scene.api.table(request, { abandoned: closed.signal });
      const answer = await scene.api.table(request);
      if (answer.state !== 'ready' || answer.body instanceof Uint8Array) throw new Error('not a stream');
      for await (const piece of answer.body) {
        expect(piece.length).to.be.greaterThan(0);
        break;
      }
    }
  });
});
