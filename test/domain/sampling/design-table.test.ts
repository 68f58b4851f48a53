/** Designs as text and columns. */
import { expect } from 'chai';
import { study } from '../../support/studies.ts';
import { RunSelection } from '../../../src/domain/runs/run-selection.ts';
import {
  DESIGN_FORMATS,
  designColumns,
  designText,
  type DesignFormat,
} from '../../../src/domain/sampling/design-table.ts';
import { createSampler, studySampler } from '../../../src/domain/sampling/sampler.ts';
import type { Sampler } from '../../../src/domain/sampling/run-values.ts';
import { dispersionsOf, names, unitSampler } from './support.ts';

const between = (from: number, to: number) => RunSelection.between(from, to);
const text = (sampler: Sampler, format: DesignFormat, from: number, to: number) =>
  [...designText(sampler, format, between(from, to))].join('');

describe('design table', () => {
  const small = createSampler(
    dispersionsOf([
      ['b', { type: 'fixed', value: -2.5 }],
      ['__proto__', { type: 'fixed', value: 1e-300 }],
      ['a,"q"', { type: 'fixed', value: 7 }],
      ['=SUM(A1)', { type: 'fixed', value: 0 }],
    ]),
    { runs: 3, sampling_method: 'monte_carlo', seed: 1 },
  );

  it('writes CSV with quoted and guarded names', () => {
    expect(text(small, 'csv', 1, 3)).to.equal(
      `run_id,'=SUM(A1),__proto__,"a,""q""",b\r\n1,0,1e-300,7,-2.5\r\n2,0,1e-300,7,-2.5\r\n`,
    );
  });

  it('writes NDJSON and JSON that read back as the parameters', () => {
    const expected = [0, 1, 2].map((run) => JSON.stringify({ run_id: run, parameters: small.parameters(run) }));
    expect(text(small, 'ndjson', 0, 3)).to.equal(expected.map((line) => `${line}\n`).join(''));
    expect((JSON.parse(text(small, 'json', 0, 3)) as unknown[]).map((row) => JSON.stringify(row))).to.deep.equal(
      expected,
    );
  });

  it('writes a design without runs or without dispersions', () => {
    expect(text(small, 'json', 0, 0)).to.equal('[]\n');
    expect(text(small, 'ndjson', 2, 2)).to.equal('');
    expect(text(createSampler({}, { runs: 2, sampling_method: 'monte_carlo', seed: 1 }), 'csv', 0, 2)).to.equal(
      'run_id\r\n0\r\n1\r\n',
    );
  });

  it('writes the selected runs under their run ids', () => {
    const selection = RunSelection.of([0, 2]);
    expect([...designText(small, 'csv', selection)].join('').split('\r\n').slice(1, -1)).to.deep.equal([
      '0,0,1e-300,7,-2.5',
      '2,0,1e-300,7,-2.5',
    ]);
    expect([...designColumns(small, selection).run_id]).to.deep.equal([0, 2]);
    expect(JSON.parse([...designText(small, 'json', selection)].join(''))).to.have.length(2);
  });

  it('writes the level of each axis, and nothing for a parameter that a cell does not have', () => {
    const scenarios = { 'a, b': { one: { gust: 3 }, '2, or': { mass: 1, wind: 2 } } };
    const sampler = studySampler(study({ runs: 1, config: { scenarios } }).config, 42);
    const { mass, wind } = sampler.parameters(0);
    expect(text(sampler, 'csv', 0, 2)).to.equal(
      `run_id,"a, b",gust,mass,wind\r\n0,one,3,${mass},${wind}\r\n1,"2, or",,1,2\r\n`,
    );
    const rows = text(sampler, 'ndjson', 0, 2).trim().split('\n');
    expect(JSON.parse(rows[1]!)).to.deep.equal({
      run_id: 1,
      parameters: { mass: 1, wind: 2 },
      scenario: { 'a, b': '2, or' },
      sample: 0,
    });
  });

  it('reads back every digit, and comes in chunks of bounded size', () => {
    const sampler = unitSampler(names(6), 'latin_hypercube', 5000);
    for (const format of DESIGN_FORMATS) {
      const chunks = [...designText(sampler, format, between(0, 5000))];
      expect(chunks.length).to.be.above(5);
      expect(Math.max(...chunks.map((chunk) => chunk.length))).to.be.below(70_000);
    }
    const rows = text(sampler, 'csv', 0, 5000).split('\r\n').slice(1, -1);
    const { run_id: runIds, columns } = designColumns(sampler, between(4000, 4100));
    for (const [row, runId] of runIds.entries()) {
      const expected = [runId, ...sampler.uniforms(runId)];
      expect(rows[runId]!.split(',').map(Number)).to.deep.equal(expected);
      expect([runId, ...columns.map((column) => column[row]!)]).to.deep.equal(expected);
    }
    expect(runIds.length).to.equal(100);
  });
});
