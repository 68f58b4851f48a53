/** Saltelli's design: its rows, their keys, and the studies that cannot have it. */
import { expect } from 'chai';
import { deriveKey } from '../../../src/domain/sampling/key.ts';
import { quasiMonteCarloUniforms } from '../../../src/domain/sampling/designs/quasi-monte-carlo.ts';
import { SAMPLING_SCHEME, createSampler } from '../../../src/domain/sampling/sampler.ts';
import { isFromB, saltelliDesign, saltelliFaults } from '../../../src/domain/sampling/designs/saltelli.ts';
import { directionNumbers } from '../../../src/domain/sampling/designs/sobol.ts';
import type { BatchConfig, DistributionType } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';
import { UNIT, dispersionsOf } from './support.ts';

const FIXED: DistributionType = { type: 'fixed', value: 4 };
type Design = BatchConfig['monte_carlo']['design'];

function configOf(pairs: [string, DistributionType][], runs: number, design?: Design): BatchConfig {
  const { config } = study({ runs });
  const dispersions = dispersionsOf(pairs);
  const monteCarlo = {
    runs,
    sampling_method: 'saltelli',
    seed: 5,
    ...(design === undefined ? {} : { design }),
  } as const;
  return { ...config, dispersions, monte_carlo: monteCarlo };
}

describe('domain/sampling/saltelli', () => {
  it('has the rows of a block in the order of SALib', () => {
    const table: [secondOrder: boolean, rows: string[]][] = [
      [false, ['AAA', 'BAA', 'ABA', 'AAB', 'BBB']],
      [true, ['AAA', 'BAA', 'ABA', 'AAB', 'ABB', 'BAB', 'BBA', 'BBB']],
    ];
    for (const [second_order, rows] of table) {
      const pairs: [string, DistributionType][] = [
        ['c', UNIT],
        ['a', UNIT],
        ['0', FIXED],
        ['b', UNIT],
      ];
      const design = saltelliDesign(configOf(pairs, 8, { indices: 'total', second_order }));
      expect([design.inputs, design.rows]).to.deep.equal([['a', 'b', 'c'], rows.length]);
      const found = rows.map((_, row) => [0, 1, 2].map((place) => (isFromB(design, row, place) ? 'B' : 'A')).join(''));
      expect(found).to.deep.equal(rows);
    }
  });

  it("takes A and B from the first and the next dimensions of Sobol' points, with the keys NAME and NAME#B", () => {
    const config = configOf(
      [
        ['x', UNIT],
        ['f', FIXED],
        ['y', UNIT],
      ],
      40,
    );
    const sampler = createSampler(config.dispersions, { ...config.monte_carlo, seed: 5 });
    const of = (name: string, dimension: number) =>
      quasiMonteCarloUniforms(deriveKey(SAMPLING_SCHEME, 'saltelli', '5', name, 0), directionNumbers(dimension));
    const a = [of('x', 0), of('y', 1)];
    const b = [of('x#B', 2), of('y#B', 3)];
    for (let run = 0; run < 40; run++) {
      const block = Math.floor(run / 4);
      const [fromA, fromB] = [a, b].map((matrix) => matrix.map((column) => column(block)));
      const rows = [fromA, [fromB![0], fromA![1]], [fromA![0], fromB![1]], fromB];
      expect(sampler.parameters(run), `run ${run}`).to.deep.equal({ f: 4, x: rows[run % 4]![0], y: rows[run % 4]![1] });
      expect([...sampler.uniforms(run)]).to.deep.equal([Number.NaN, ...rows[run % 4]!]);
    }
  });

  it('keeps every run when it is extended', () => {
    const [less, more] = [40, 80].map((runs) => {
      const config = configOf(
        [
          ['x', UNIT],
          ['y', UNIT],
        ],
        runs,
      );
      return createSampler(config.dispersions, { ...config.monte_carlo, seed: 5 });
    });
    for (let run = 0; run < 40; run++) expect(more!.parameters(run)).to.deep.equal(less!.parameters(run));
  });

  it('refuses a study that cannot have it, with what to do', () => {
    const two: [string, DistributionType][] = [
      ['x', UNIT],
      ['y', UNIT],
    ];
    const many = Array.from({ length: 556 }, (_, at): [string, DistributionType] => [`p${at}`, UNIT]);
    const correlated = {
      ...configOf(two, 8),
      correlations: [{ parameters: ['x', 'y'] as [string, string], rank: 0.5 }],
    };
    const table: [config: BatchConfig, pointer: string, detail: RegExp][] = [
      [
        configOf(two, 9),
        '/config/monte_carlo/runs',
        /a block of this design has 4 runs \(2 inputs\): give a multiple, such as 8 or 12$/,
      ],
      [
        configOf(two, 8, { indices: 'total', second_order: true }),
        '/config/monte_carlo/runs',
        /has 6 runs .* such as 6 or 12$/,
      ],
      [configOf([['f', FIXED]], 3), '/config/dispersions', /no input that varies by chance/],
      [configOf(many, 558), '/config/dispersions', /at most 555 inputs that vary, not 556/],
      [
        configOf([...two, ['t~/', { type: 'table', values: [1, 2] }]], 8),
        '/config/dispersions/t~0~1',
        /give a distribution/,
      ],
      [
        configOf(
          [
            ['x', UNIT],
            ['x#B', UNIT],
          ],
          8,
        ),
        '/config/dispersions',
        /"x#B" is the name of "x"/,
      ],
      [correlated, '/config/correlations', /independent inputs/],
      [
        {
          ...correlated,
          correlations: null,
          monte_carlo: { runs: 8, sampling_method: 'monte_carlo', seed: 1, design: { indices: 'total' } },
        },
        '/config/monte_carlo/design',
        /for the sampling method saltelli, not monte_carlo/,
      ],
    ];
    for (const [config, pointer, detail] of table) {
      const [fault, ...others] = saltelliFaults(config);
      expect(others).to.deep.equal([]);
      expect(fault?.pointer).to.equal(pointer);
      expect(fault?.detail).to.match(detail);
    }
    expect(saltelliFaults(configOf(two, 8))).to.deep.equal([]);
  });
});
