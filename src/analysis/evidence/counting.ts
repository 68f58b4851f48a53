/** How runs are counted in statistics and verdicts, by their class. Pure. */
import type { EvidenceReport } from '../../contract/types.ts';
import { RUN_CLASSES, type RunClass } from '../table/run-class.ts';
import type { RunsEvidence } from './runs.ts';

const IN_NONE = 'in none: it has no outputs';
const UNKNOWN = 'unknown: it counts against either verdict';

const STATISTICS: Readonly<Record<RunClass, string>> = {
  ok: 'in all statistics of the outputs that it has',
  terminated: 'in none: a rule ended it, so its outputs are those of an unfinished run',
  crashed: IN_NONE,
  timeout: IN_NONE,
  lost: IN_NONE,
  cancelled: IN_NONE,
  open: 'in none: it has not ended',
};

/** The rows of the classes that have runs. */
export function countedRuns({
  counts,
  requirements,
}: Pick<RunsEvidence, 'counts' | 'requirements'>): EvidenceReport['counted'] {
  return RUN_CLASSES.filter((name) => counts[name] > 0).map((name) => ({
    class: name,
    runs: counts[name],
    statistics: STATISTICS[name],
    verdicts: requirements.length === 0 ? 'there is no requirement' : verdictsOf(name, requirements),
  }));
}

function verdictsOf(name: RunClass, requirements: RunsEvidence['requirements']): string {
  if (name === 'ok') return 'passes or fails by the condition; unknown where the output is missing';
  if (name !== 'terminated') return name === 'open' ? 'not judged yet' : UNKNOWN;
  const rules = new Set(requirements.map(({ terminated }) => terminated ?? 'fail'));
  const [rule] = rules;
  if (rules.size > 1) return 'as each requirement says by `terminated`';
  return rule === 'fail' ? 'fails' : rule === 'exclude' ? 'left out' : UNKNOWN;
}
