/** A design change of the sounding rocket in one of its inputs: the two studies are paired, and the interval is that of the differences. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { designOf } from '../../../src/analysis/compare/pairing.ts';
import { type ComparedStudy, compareStudies } from '../../../src/analysis/compare/study-comparison.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';
import { SAMPLING_SCHEME, studySampler } from '../../../src/domain/sampling/sampler.ts';
import { type Run, tableOf } from '../../analysis/tables.ts';
import { root } from '../clients/program.ts';
import { expectClose } from '../../analysis/data.ts';

interface Model {
  Rocket: new (parameters: Record<string, number>, seed: string, runId: number) => unknown;
  fly: (rocket: unknown, observe: () => void) => Record<string, unknown>;
}

const folder = `${root}examples/sounding-rocket/`;
const RUNS = 200;
/** 0.975 quantile of Student's t with 199 degrees of freedom, by SciPy 1.17.1: `stats.t.ppf(0.975, 199)`. */
const T_199 = 1.9719565442517533;

/** The example with 8 varying inputs: the other normal ones stay at their means. */
function configOf(drogueRate: number): BatchConfig {
  const { config } = parse(readFileSync(`${folder}study.yaml`, 'utf8')) as { config: BatchConfig };
  const frozen = ['total_impulse_ns', 'launch_azimuth_deg', 'wind_direction_deg', 'main_altitude_m'];
  for (const name of frozen) {
    const { mean } = config.dispersions[name]!.distribution as { mean: number };
    config.dispersions[name]!.distribution = { type: 'fixed', value: mean };
  }
  config.dispersions['temperature_offset_k']!.distribution = { type: 'fixed', value: 0 };
  config.dispersions['drogue_delay_s']!.distribution = { type: 'exponential', lambda: drogueRate };
  config.monte_carlo.runs = RUNS;
  return config;
}

function flown(model: Model, config: BatchConfig): { study: ComparedStudy; ranges: number[] } {
  const seed = config.monte_carlo.seed!;
  const sampler = studySampler(config, seed);
  const ranges: number[] = [];
  const runs = Array.from({ length: RUNS }, (_, run): Run => {
    const parameters = sampler.parameters(run);
    const { landing } = model.fly(new model.Rocket(parameters, String(seed), run), () => {}) as {
      landing: { s: number[] };
    };
    ranges.push(Math.hypot(landing.s[0]!, landing.s[1]!));
    return { status: 'Completed', parameters, outputs: [['range_m', ranges.at(-1)!]] };
  });
  const table = tableOf(runs, { method: config.monte_carlo.sampling_method });
  return { study: { table, configuration: config, drawn: designOf(config, SAMPLING_SCHEME) }, ranges };
}

describe('examples/sounding-rocket, a later drogue', () => {
  it('is compared in pairs with the flights before, though one of 8 inputs differs', async () => {
    const model = (await import(`${folder}rocket.mjs`)) as Model;
    const [before, after] = [flown(model, configOf(1.25)), flown(model, configOf(1))];
    const found = compareStudies(before.study, after.study);
    if (!found.paired) throw new Error(found.sentence);
    expect(found.pairing).to.deep.equal({ inputs: 8, equal: 7, differing: ['drogue_delay_s'], reason: null });
    expect(found.sentence).to.match(/^paired: drogue_delay_s differs, 7 of 8 inputs equal; 200 pairs: /);

    const differences = after.ranges.map((it, i) => it - before.ranges[i]!);
    const mean = differences.reduce((sum, it) => sum + it, 0) / RUNS;
    const variance = differences.reduce((sum, it) => sum + (it - mean) ** 2, 0) / (RUNS - 1);
    const half = T_199 * Math.sqrt(variance / RUNS);
    const [output] = found.outputs;
    expectClose(output!.interval![0], mean - half, 1e-9, 'lower end');
    expectClose(output!.interval![1], mean + half, 1e-9, 'upper end');
    expect(output!.p_holm).to.be.below(1e-10);

    // As two samples, the same flights show nothing.
    const apart = {
      ...after.study,
      drawn: designOf({ ...configOf(1), monte_carlo: { ...configOf(1).monte_carlo, seed: 1 } }),
    };
    const unpaired = compareStudies(before.study, apart);
    if (unpaired.paired) throw new Error(unpaired.sentence);
    expect(unpaired.sentence).to.match(/^unpaired, since the seeds differ: 20260301 and 1; passing /);
    const [low, high] = unpaired.outputs[0]!.welch!;
    expect(low).to.be.below(0);
    expect(high).to.be.above(0);
    expect((high - low) / (2 * half)).to.be.above(5);
  });
});
