/** Sobol' indices: equal to SALib, honest about missing blocks, and right about a function whose indices are known. */
import { expect } from 'chai';
import { blocksOf } from '../../../src/analysis/indices/blocks.ts';
import { indexBounds } from '../../../src/analysis/indices/bounds.ts';
import { estimateIndices } from '../../../src/analysis/indices/indices.ts';
import { studyIndices } from '../../../src/analysis/indices/study-indices.ts';
import { studySampler } from '../../../src/domain/sampling/sampler.ts';
import { saltelliDesign } from '../../../src/domain/sampling/designs/saltelli.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';
import { expectClose, referenceData } from '../data.ts';
import { type Run, tableOf } from '../tables.ts';

interface Case {
  second_order: boolean;
  inputs: string[];
  values: number[];
  first: number[];
  total: number[];
  second?: number[];
  first_error: number[];
  total_error: number[];
  second_error?: number[];
}
const { cases } = referenceData('indices.json') as { cases: Case[] };
const ANGLE = { distribution: { type: 'uniform', min: -Math.PI, max: Math.PI } as const, units: 'rad' };

function configOf(inputs: readonly string[], blocks: number, secondOrder = false): BatchConfig {
  const { config } = study({ runs: blocks * ((secondOrder ? 2 : 1) * inputs.length + 2) });
  return {
    ...config,
    dispersions: Object.fromEntries(inputs.map((name) => [name, ANGLE])),
    monte_carlo: {
      runs: config.monte_carlo.runs,
      sampling_method: 'saltelli',
      seed: 3,
      design: { indices: 'total', second_order: secondOrder },
    },
  };
}

const ishigami = ([x, y, z]: Float64Array): number =>
  Math.sin(x!) + 7 * Math.sin(y!) ** 2 + 0.1 * z! ** 4 * Math.sin(x!);

function outputsOf(config: BatchConfig, model: (inputs: Float64Array) => number): number[] {
  const sampler = studySampler(config, 3);
  const row = new Float64Array(sampler.names.length);
  return Array.from({ length: config.monte_carlo.runs }, (_, run) => {
    sampler.sampleInto(run, row);
    return model(row);
  });
}

describe('analysis/indices', () => {
  for (const known of cases) {
    const order = known.second_order ? 'with' : 'without';
    it(`are those of SALib on the same table, ${order} second order`, () => {
      const design = saltelliDesign(configOf(known.inputs, 1, known.second_order));
      const table = tableOf(known.values, { method: 'saltelli' });
      const blocks = blocksOf(table, Float64Array.from(known.values), design, known.values.length);
      const found = estimateIndices(blocks, [1, 2]);
      expect(blocks.missing).to.equal(0);
      for (const name of ['first', 'total', 'second'] as const) {
        const expected = known[name] ?? [];
        expect(found[name]).to.have.length(expected.length);
        expected.forEach((value, at) => expectClose(found[name][at]!, value, 1e-12, `${name} ${at}`, 1));
        // Two bootstraps of some thousand samples differ by a few per cent.
        known[`${name}_error`]?.forEach((error, at) =>
          expectClose(found.errors[name][at]!, error, 0.15, `error of ${name} ${at}`),
        );
      }
    });
  }

  it('find those of the Ishigami function, and what the inputs explain only together', () => {
    const config = configOf(['x', 'y', 'z'], 4096, true);
    const table = tableOf(outputsOf(config, ishigami), { method: 'saltelli' });
    const { inputs, pairs, interactions, blocks, warnings, sentence } = studyIndices(table, config, 'y');
    const known = { x: [0.3139, 0.5576], y: [0.4424, 0.4424], z: [0, 0.2437] } as const;
    expect(inputs.map((it) => it.name)).to.deep.equal(['x', 'y', 'z']);
    for (const { name, first, total } of inputs) {
      const [expectedFirst, expectedTotal] = known[name as keyof typeof known];
      expect(first.value, name).to.be.closeTo(expectedFirst, 0.01);
      expect(total.value, name).to.be.closeTo(expectedTotal, 0.01);
      expect(first.interval[0] <= expectedFirst && expectedFirst <= first.interval[1], name).to.equal(true);
      expect(total.interval[0] <= expectedTotal && expectedTotal <= total.interval[1], name).to.equal(true);
      expect([first.told_apart, first.bounds, total.bounds], name).to.deep.equal([name !== 'z', null, null]);
    }
    expect(pairs.filter((it) => it.told_apart).map((it) => it.names)).to.deep.equal([['x', 'z']]);
    expect(interactions).to.be.closeTo(0.2437, 0.02);
    expect(blocks).to.deep.equal({ used: 4096, missing: 0, rows: 8 });
    expect(warnings.map((it) => it.code)).to.include('own-randomness');
    expect(sentence).to.match(
      /^share of the variance of y by input: x \(0\.5\d, by itself 0\.3\d\), y \(.*\), z \(0\.2\d, by itself -?0\.0\d\); 0\.2\d is explained only by inputs together; from 4096 blocks$/,
    );
  });

  it('have no input without effect told apart, nor any where the output never changes', () => {
    const config = configOf(['x', 'y', 'z'], 256);
    const without = studyIndices(tableOf(outputsOf(config, ([x, y]) => x! + 2 * y!)), config, 'y');
    const z = without.inputs.find((it) => it.name === 'z')!;
    expect([z.total.value, z.total.told_apart, z.first.told_apart]).to.deep.equal([0, false, false]);
    expect(without.warnings.map((it) => it.code)).to.not.include('own-randomness');
    expect(without.sentence).to.contain('1 of 3 inputs not told apart from none');
    const constant = studyIndices(tableOf(outputsOf(config, () => 4)), config, 'y');
    expect(constant.inputs.map((it) => [it.first.value, it.total.value])).to.deep.equal([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect(constant.sentence).to.contain('no input of 3 is told apart from none');
  });

  it('drop the block of a run without a value, count it, and bound what it could have changed', () => {
    const config = configOf(['x', 'y', 'z'], 64);
    const values = outputsOf(config, ishigami);
    const whole = studyIndices(tableOf(values), config, 'y');
    const runs: Run[] = [...values];
    for (const run of [7, 100, 101]) runs[run] = 'crashed';
    runs[203] = Number.NaN;
    const { blocks, inputs, excluded, n_used, warnings } = studyIndices(tableOf(runs), config, 'y');
    expect(blocks).to.deep.equal({ used: 61, missing: 3, rows: 5 });
    expect([n_used, excluded]).to.deep.equal([305, { crashed: 3, no_value: 12 }]);
    expect(warnings.map((it) => it.code)).to.include('blocks-missing');
    for (const { name, first, total } of inputs) {
      const all = whole.inputs.find((it) => it.name === name)!;
      for (const [part, index] of [
        [first, all.first.value],
        [total, all.total.value],
      ] as const) {
        expect(part.bounds![0], name).to.be.at.most(Math.max(0, index));
        expect(part.bounds![1], name).to.be.at.least(Math.min(1, index));
      }
      expect(total.bounds![1] - total.bounds![0], name).to.be.within(0.01, 0.9);
    }
  });

  it('are bounded by whatever the missing blocks hold', () => {
    const config = configOf(['x', 'y'], 12);
    const design = saltelliDesign(config);
    const values = outputsOf(config, ([x, y]) => x! * y! + x!);
    const low = Math.min(...values.slice(4));
    const high = Math.max(...values.slice(4));
    const missing = values.map((value, run) => (run < 4 ? Number.NaN : value));
    const bounds = indexBounds(blocksOf(tableOf(missing), Float64Array.from(missing), design, values.length))!;
    for (let pattern = 0; pattern < 81; pattern++) {
      const ends = [0, 1, 2, 3].map((at) => [low, (low + high) / 2, high][Math.floor(pattern / 3 ** at) % 3]!);
      const filled = Float64Array.from(values, (value, run) => (run < 4 ? ends[run]! : value));
      const found = estimateIndices(blocksOf(tableOf([...filled]), filled, design, filled.length), [1, 2]);
      for (const name of ['first', 'total'] as const) {
        found[name].forEach((value, at) => {
          const [least, most] = bounds[name][at]!;
          const share = Math.min(1, Math.max(0, value));
          expect(share >= least - 1e-12 && share <= most + 1e-12, `${name} ${at} of ${ends.join()}`).to.equal(true);
        });
      }
    }
  });

  it('take memory and time by the runs that have ended, however many runs the design has', () => {
    const config = configOf(['x', 'y', 'z'], 429_496_729);
    const values = outputsOf(configOf(['x', 'y', 'z'], 16), ishigami);
    const { blocks, inputs } = studyIndices(tableOf(values), config, 'y');
    expect(blocks).to.deep.equal({ used: 16, missing: 429_496_713, rows: 5 });
    expect(inputs.map((it) => it.first.bounds)).to.deep.equal([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
    const last = 429_496_728 * 5;
    const runIds = Uint32Array.from([...values.keys()], (run) => (run < 75 ? run : last + run - 75));
    expect(studyIndices({ ...tableOf(values), runIds }, config, 'y').blocks.used).to.equal(16);
    runIds[79] = 2 ** 31;
    expect(studyIndices({ ...tableOf(values), runIds }, config, 'y').blocks.used).to.equal(15);
  });

  it('need eight complete blocks, the design, and a known output', () => {
    const config = configOf(['x'], 16);
    const few = outputsOf(config, ([x]) => x!).map((value, run): Run => (run < 21 ? value : 'open'));
    expect(studyIndices(tableOf(few), config, 'y')).to.deep.include({
      inputs: [],
      variance: null,
      reason: '7 complete blocks of 16: indices need at least 8',
    });
    const other = { ...config, monte_carlo: { runs: 48, sampling_method: 'monte_carlo', seed: 3 } as const };
    for (const [given, why] of [
      [other, 'the design of the study is monte_carlo'],
      [undefined, 'the design of the study is not known here'],
    ] as const)
      expect(studyIndices(tableOf(few), given, 'y')).to.deep.include({
        inputs: [],
        reason: `${why}, and indices need the design saltelli; sensitivity is for any design`,
      });
    expect(() => studyIndices(tableOf(few), config, 'z')).to.throw(RangeError, 'no output "z"');
    expect(() => studyIndices(tableOf(few), config, 'y', 1)).to.throw(RangeError, 'confidence is 1');
  });
});
