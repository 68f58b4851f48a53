/** A table whose rows end with the last run that has ended gives the answers of a table of all runs. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { answerTo, concluded, QUESTIONS, type Asked } from '../../../src/analysis/questions.ts';
import { requireJoinable } from '../../../src/analysis/table/join.ts';
import type { TableLayout } from '../../../src/analysis/table/layout.ts';
import { RunTableBuilder, type RunRecord } from '../../../src/analysis/table/table-builder.ts';
import type { StudyVerdicts } from '../../../src/contract/types.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { type RunTable, runsOf } from '../../../src/analysis/table/run-table.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';

const BATCH = '019a0000-0000-8000-8000-000000000000';
const requirements = [
  { name: 'once', output: 'y', condition: '< 5', probability: 0.5 },
  { name: 'always', output: 'y', condition: '< 5', probability: 0.5, look: 'continuous' as const },
];
const QUERIES: Readonly<Record<string, readonly object[]>> = {
  sensitivity: [{ output: 'y' }],
  indices: [{ output: 'y' }],
  worst: [{ output: 'y', k: 3 }],
  compare: [{ with: BATCH }],
  convergence: [{}, { output: 'y' }, { output: 'y', quantity: 'p90' }],
};
/** Files and histories are not in a table, and this study has no cells. */
const questions = QUESTIONS.map((it) => it.name).filter(
  (it) => !['band', 'telemetry-band', 'transitions', 'pbox'].includes(it),
);

const record = fc.oneof(
  fc.record({ status: fc.constant('Completed' as const), y: fc.double({ min: 0, max: 10, noNaN: true }) }),
  fc.record({ status: fc.constantFrom('Failed' as const, 'Timeout' as const, 'Cancelled' as const) }),
  fc.constant(undefined),
);

function built(layout: Partial<TableLayout>, runs: number, records: readonly (RunRecord | undefined)[]) {
  const builder = new RunTableBuilder({ batchId: BATCH, method: 'monte_carlo', runs, ...layout });
  for (const it of records) if (it !== undefined) builder.add(it);
  return builder;
}

/** A design for indices, of whole blocks, with at least as many runs as the table has. */
function configOf(table: RunTable): BatchConfig {
  const { config } = study({ runs: Math.ceil(runsOf(table) / 4) * 4 });
  const dispersions = { x: config.dispersions['wind']!, z: config.dispersions['wind']! };
  return { ...config, dispersions, monte_carlo: { ...config.monte_carlo, sampling_method: 'saltelli' } };
}

async function answers(builder: RunTableBuilder): Promise<Record<string, unknown>> {
  const table = builder.build();
  const about = { table, submission: { requirements, config: configOf(table) } };
  const all: Record<string, unknown> = {};
  for (const name of questions)
    for (const query of QUERIES[name] ?? [{}]) {
      const asked = { name, query } as Pick<Asked, 'name' | 'query'>;
      all[`${name} ${JSON.stringify(query)}`] = concluded(name, await answerTo(asked, [about]));
    }
  return all;
}

/**
 * Without the points of courses between the first run and the last one, and without the comparison, whose pairs are the rows of both
 * tables: a run that was cancelled before it began has nothing to compare.
 */
function comparable({
  'compare {"with":"019a0000-0000-8000-8000-000000000000"}': _,
  ...all
}: Record<string, unknown>): unknown {
  const { requirements: judged, ...rest } = all['verdicts {}'] as StudyVerdicts;
  return {
    ...all,
    'verdicts {}': { ...rest, requirements: judged.map((it) => ({ ...it, course: it.course.at(-1) })) },
  };
}

describe('analysis/table: rows that grow', () => {
  const cases = fc.record({
    ended: fc.array(record, { maxLength: 60 }),
    absent: fc.integer({ min: 0, max: 40 }),
    from: fc.integer({ min: 0, max: 10 }),
    order: fc.infiniteStream(fc.nat()),
  });
  const recordsOf = (ended: readonly ({ status: RunRecord['status']; y?: number } | undefined)[]) =>
    ended.map((it, row): RunRecord | undefined =>
      it === undefined
        ? undefined
        : {
            row,
            status: it.status,
            parameters: { x: Math.sin(row), z: Math.cos(3 * row) },
            outputs: it.y === undefined ? [] : [['y', it.y]],
            errorMessage: it.status === 'Failed' ? `bad ${row}` : null,
          },
    );

  it('gives the same answers while runs are open, in whatever order they end', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ ended, absent, from, order }) => {
        const records = recordsOf(ended);
        const runs = records.length + absent;
        const shuffled = records
          .map((it) => ({ it, rank: order.next().value! }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ it }) => it);
        const expected = await answers(built({}, runs, shuffled));
        expect(await answers(built({ grows: { from } }, runs, shuffled))).to.deep.equal(expected);
      }),
    );
  });

  it('gives the same answers when the other runs were cancelled', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ ended, absent, from }) => {
        const records = recordsOf(ended).map((it, row): RunRecord => it ?? { row, status: 'Cancelled' });
        const runs = records.length + absent;
        const others = Array.from({ length: absent }, (_, at): RunRecord => ({
          row: records.length + at,
          status: 'Cancelled',
        }));
        const growing = built({ grows: { from } }, runs, records);
        expect(growing.cancelAbsent()).to.equal(absent);
        const expected = await answers(built({}, runs, [...records, ...others]));
        expect(comparable(await answers(growing))).to.deep.equal(comparable(expected));
      }),
    );
  });

  it('refuses more bytes than it may have, before it has them', () => {
    const refusalOf = (act: () => unknown): string => {
      try {
        act();
        return 'none';
      } catch (error) {
        return error instanceof SimbatchError ? `${error.code}: ${error.message}` : String(error);
      }
    };
    const maxBytes = 64 * 2 ** 20;
    const far: RunRecord = { row: 2 ** 31 - 2, status: 'Cancelled' };
    expect(refusalOf(() => built({ grows: { from: 5 }, maxBytes }, 2 ** 31 - 1, [far]))).to.match(
      /^answer-too-large: .* runs take 38912 MiB, more than 64; read the runs as a table/,
    );
    expect(refusalOf(() => built({ maxBytes }, 2 ** 31 - 1, []))).to.match(/^answer-too-large/);
    const wide: RunRecord = {
      row: 0,
      status: 'Completed',
      outputs: Array.from({ length: 9 }, (_, at) => [`y${at}`, at]),
    };
    expect(built({ maxBytes }, 1_000_000, [wide]).build().omittedOutputs).to.deep.equal(['y6', 'y7', 'y8']);
    // Beside another study no output is left out: the table is kept, and would have fewer than it has alone.
    const beside = { maxBytes, pairBytes: 32 * 2 ** 20 };
    expect(refusalOf(() => built(beside, 1_000_000, [wide]))).to.match(
      /^answer-too-large: .* 1000000 of 1000000 runs take \d+ MiB, more than 32 beside those of the other study; read the runs as a table/,
    );
    expect(built({ maxBytes, pairBytes: 70 * 2 ** 20 }, 1_000_000, [wide]).build().omittedOutputs).to.have.length(3);
  });

  it('refuses to pool the runs of a family whose copy takes more than a gibibyte', () => {
    const member = (rows: number) => ({ bytes: 85 * rows, table: { rows } });
    requireJoinable([member(2_000_000), member(2_500_000)]);
    expect(() => requireJoinable([member(2_000_000), member(2_600_000)])).to.throw(
      SimbatchError,
      /the runs of the family are not pooled: this takes 1027 MiB, more than 1024; ask about each study without `family`/,
    );
  });
});
