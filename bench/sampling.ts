/**
 * Cost of a sample: microseconds per run for each method, for 6 and for 100 dispersions, inverse CDFs included, and the making of
 * a sampler. Run it alone (`node dist/bench/sampling.js`) or by `bench/run.ts`, which collects `run()`.
 */
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { createSampler } from '../src/domain/sampling/sampler.ts';
import { DRAWING_METHODS, type DrawingMethod } from '../src/contract/enums.ts';
import type { DispersionConfig, DistributionType } from '../src/contract/types.ts';

const REPETITIONS = 7;
/** How many values one repetition draws: enough for a few tens of milliseconds. */
const VALUES = 240_000;

/** The mixture the targets are set for: 2 normal, uniform, exponential, gamma, beta. */
const MIXTURE: DistributionType[] = [
  { type: 'normal', mean: 100, std_dev: 15 },
  { type: 'normal', mean: 0, std_dev: 1 },
  { type: 'uniform', min: -1, max: 1 },
  { type: 'exponential', lambda: 0.001 },
  { type: 'gamma', shape: 2, scale: 0.5 },
  { type: 'beta', alpha: 2, beta: 5 },
];
/** Microseconds per run of 6 dispersions that must not be exceeded on one core. */
const TARGETS: Partial<Record<DrawingMethod, number>> = { monte_carlo: 3, latin_hypercube: 6, quasi_monte_carlo: 5 };

function study(count: number): Record<string, DispersionConfig> {
  const pairs = Array.from({ length: count }, (_, k) => {
    return [`parameter_${k}`, { distribution: MIXTURE[k % MIXTURE.length]!, units: '' }] as const;
  });
  return Object.fromEntries(pairs);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Microseconds that `act` takes. */
function timed(act: () => void): number {
  const start = process.hrtime.bigint();
  act();
  return Number(process.hrtime.bigint() - start) / 1e3;
}

/** One row per method and number of dispersions; medians of several repetitions after a warm-up. */
export function run(): Promise<Record<string, number | string>[]> {
  const rows: Record<string, number | string>[] = [];
  for (const count of [MIXTURE.length, 100]) {
    const dispersions = study(count);
    const runs = Math.round(VALUES / count);
    const values = new Float64Array(count);
    for (const method of DRAWING_METHODS) {
      const plan = { runs, sampling_method: method, seed: 1 } as const;
      const makings: number[] = [];
      const samplings: number[] = [];
      for (let repetition = -2; repetition < REPETITIONS; repetition++) {
        let sampler = createSampler(dispersions, plan);
        const making = timed(() => {
          sampler = createSampler(dispersions, plan);
        });
        const sampling = timed(() => {
          for (let index = 0; index < runs; index++) sampler.sampleInto(index, values);
        });
        if (repetition < 0) continue;
        makings.push(making);
        samplings.push(sampling / runs);
      }
      rows.push({
        method,
        dispersions: count,
        'us per run': Number(median(samplings).toFixed(2)),
        target: count === MIXTURE.length ? (TARGETS[method] ?? '') : '',
        'us to make the sampler': Number(median(makings).toFixed(0)),
      });
    }
  }
  return Promise.resolve(rows);
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) console.table(await run());
