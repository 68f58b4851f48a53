/** Replicates within one study: independent randomisations of one design, one after the other in the order of runs. */
import { member } from '../../base/json/member.ts';
import type { Fault } from '../../contract/types.ts';
import type { RunSelection } from '../runs/run-selection.ts';

/** The runs of one replicate of a valid study; undefined for a study of one design. Run i is in replicate floor(i / runs). */
export const replicateRunsOf = (design: { runs: number; replicates?: number | null }): number | undefined =>
  typeof design.replicates === 'number' ? design.runs / design.replicates : undefined;

/** True where the selected runs are whole replicates of so many runs. */
export const areWholeReplicates = ({ ranges }: RunSelection, runs: number): boolean =>
  runs === 1 ||
  ranges.every(
    ({ first, last, step }) => (step === 1 || first === last) && first % runs === 0 && (last + 1) % runs === 0,
  );

/** The faults of `replicates` in a presumed `config.monte_carlo`; members of another type are skipped. */
export function replicateFaults(monteCarlo: unknown): Fault[] {
  const replicates = member(monteCarlo, 'replicates');
  if (typeof replicates !== 'number') return [];
  const at = (name: string, detail: string): Fault => ({ pointer: `/config/monte_carlo/${name}`, detail });
  const method = member(monteCarlo, 'sampling_method');
  if (typeof method === 'string' && method !== 'latin_hypercube' && method !== 'quasi_monte_carlo') {
    const why = method === 'monte_carlo' ? ', whose runs are independent of each other' : '';
    return [at('replicates', `is for latin_hypercube and quasi_monte_carlo, not for ${method}${why}; leave it out`)];
  }
  const replicate = member(monteCarlo, 'replicate');
  if (typeof replicate === 'number')
    return [
      at(
        'replicate',
        `is given beside replicates, which are the replicates 0 to ${replicates - 1}; give one of the two`,
      ),
    ];
  const runs = member(monteCarlo, 'runs');
  if (typeof runs !== 'number' || !(replicates >= 2) || (runs > 0 && runs % replicates === 0)) return [];
  const below = Math.floor(runs / replicates) * replicates;
  const fitting = below === 0 ? replicates : `${below} or ${below + replicates}`;
  return [at('runs', `is ${runs}, which are not ${replicates} replicates of as many runs each; use ${fitting} runs`)];
}
