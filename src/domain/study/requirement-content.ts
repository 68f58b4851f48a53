/** The content of a requirement: a condition on an output, or several requirements in the same run. Checked at submission and when judging. */
import type { Requirement } from '../../contract/types.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import { parseRequirementCondition } from './condition.ts';

export interface ContentFault {
  /** The member at fault. */
  member: 'output' | 'condition' | 'all';
  detail: string;
}

const EITHER = 'give `output` and `condition`, or `all` with the names of requirements';

/** The faults of a requirement among those of its study; members of other types are the schema's to refuse. */
export function contentFaults(
  { name, output, condition, all }: Partial<Requirement>,
  study: readonly Partial<Requirement>[],
): ContentFault[] {
  if (all === undefined) {
    const missing = (['output', 'condition'] as const).filter((it) => ({ output, condition })[it] === undefined);
    const faults = missing.map((member): ContentFault => ({ member, detail: `is missing; ${EITHER}` }));
    const parsed = typeof condition === 'string' ? parseRequirementCondition(condition) : undefined;
    return typeof parsed === 'string' ? [...faults, { member: 'condition', detail: parsed }] : faults;
  }
  if (!Array.isArray(all)) return [];
  const [extra] = (['output', 'condition'] as const).filter((it) => ({ output, condition })[it] !== undefined);
  if (extra !== undefined) return [{ member: extra, detail: `is given beside \`all\`; ${EITHER}` }];
  if (new Set(all).size < Math.max(2, all.length))
    return [{ member: 'all', detail: 'must name at least two different requirements; name each once' }];
  const names = study.flatMap((one) => (typeof one.name === 'string' && one.name !== name ? [one.name] : []));
  return all.flatMap((it: unknown): ContentFault[] => {
    if (typeof it !== 'string') return [];
    const shown = JSON.stringify(it);
    if (it === name) return [{ member: 'all', detail: `names ${shown}, the requirement itself; leave it out` }];
    const named = study.find((one) => one.name === it);
    if (named === undefined) {
      const meant = closestMatch(it, names);
      const hint = meant === undefined ? 'name requirements of the study' : `did you mean "${meant}"?`;
      return [{ member: 'all', detail: `names ${shown}, which is not a requirement of the study; ${hint}` }];
    }
    if (named.all === undefined) return [];
    return [{ member: 'all', detail: `names ${shown}, which has \`all\` itself; name its requirements instead` }];
  });
}
