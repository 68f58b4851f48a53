/** How the runs of a study were chosen, as far as statistics of them depend on it. */
import type { BatchConfig, BatchSubmission, SamplingMethod } from '../../contract/types.ts';
import { allDistributions } from '../scenarios/overrides.ts';
import { isCanary } from '../probe/canary-design.ts';
import { scenariosOf } from '../scenarios/epistemic.ts';

/**
 * `table`: rows that a user has chosen, of unknown dependence, whatever method draws the other inputs. `canary`: the nominal run and the corners of a
 * canary study. `scenarios`: the runs of all cells together, of which each cell alone is a sample.
 */
export type DesignMethod = SamplingMethod | 'table' | 'canary' | 'scenarios';

/** The limits of statistics about runs that are not a sample of the dispersions. */
export interface NoSample {
  /** Of the warning, and the reason of a missing verdict. */
  code: string;
  message: string;
  /** Why there is no error estimate, as a clause. */
  why: string;
}

const NO_SAMPLE: ReadonlyMap<DesignMethod, NoSample> = new Map([
  [
    'adaptive',
    {
      code: 'adaptive-design',
      message: 'these runs were chosen; means, quantiles and rates are those of the chosen rows, not of the system',
      why: 'the runs were chosen',
    },
  ],
  [
    'canary',
    {
      code: 'canary-design',
      message:
        'these runs were chosen: every input at its median, or all inputs at one end; means, quantiles and rates are those of the chosen rows, not of the system',
      why: 'the runs were chosen',
    },
  ],
  [
    'scenarios',
    {
      code: 'scenarios-design',
      message:
        'the runs of all cells share their random numbers: means, quantiles and rates of all cells together are those of a mixture of the cells and have no error estimate; ask for them by axis',
      why: 'the cells share their random numbers',
    },
  ],
  [
    'saltelli',
    {
      code: 'saltelli-design',
      message:
        'the runs of a block share inputs: means, quantiles and rates have no error estimate here, and tests that take runs as independent do not hold; the answer of this design is its indices',
      why: 'the runs of a saltelli design share inputs',
    },
  ],
]);

/** The limits of a design whose runs are not a sample of the dispersions, so that no interval and no verdict holds; undefined for others. */
export const noSampleOf = (method: DesignMethod): NoSample | undefined => NO_SAMPLE.get(method);

/** True for the code of such a limit. */
export const limitsStatistics = (code: string): boolean => [...NO_SAMPLE.values()].some((it) => it.code === code);

/** The sampling method; `table` where an input that varies has its values in a table, `canary` of a canary study. */
export function designMethod({ config, labels }: Designed): DesignMethod {
  if (isCanary({ config, labels })) return 'canary';
  return scenariosOf(config) === undefined ? methodOfCell(config) : 'scenarios';
}

type Designed = Pick<BatchSubmission, 'labels'> & {
  config: Pick<BatchConfig, 'dispersions' | 'monte_carlo' | 'scenarios' | 'epistemic'>;
};

/** The design of the runs of one cell of a study with scenarios, and of a study without any. */
export function methodOfCell(config: Designed['config']): DesignMethod {
  const { monte_carlo } = config;
  if (NO_SAMPLE.has(monte_carlo.sampling_method)) return monte_carlo.sampling_method;
  const hasTable = allDistributions(config).some(
    (it) => it.type === 'table' && it.values.some((value) => value !== it.values[0]),
  );
  return hasTable ? 'table' : monte_carlo.sampling_method;
}
