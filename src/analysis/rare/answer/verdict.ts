/** The verdict on the requirement of a study of rare events among the verdicts on its requirements. */
import type { JudgedRequirement, Requirement, RequirementVerdict } from '../../../contract/types.ts';
import { requirementsOf } from '../../requirements/requirement.ts';
import type { AnsweredStudy } from '../../table/answered-study.ts';
import { jointRare, requirementOf } from './of-study.ts';

/**
 * The verdicts with that of the rare-event method for its requirement, of all studies that were submitted together. The counts stay those of the
 * chosen runs. A requirement that was amended is another one than the rounds were made for, and has no verdict.
 */
export function withRareVerdict<T extends RequirementVerdict | JudgedRequirement>(
  judged: T[],
  study: AnsweredStudy,
): T[] {
  if (study.rare === undefined) return judged;
  const asked = requirementOf(study);
  const now = requirementsOf(study.submission).find(({ name }) => name === asked?.name);
  const rare = jointRare(study);
  if (asked === undefined || now === undefined || rare.phase === null || !areEqual(asked, now)) return judged;
  const { verdict, estimate, lower, direct, sentence, warnings } = rare;
  const found: Partial<RequirementVerdict> = {
    estimate: estimate === null ? null : 1 - estimate,
    // The bound of the regions found is in the sentence: here are the bounds that hold without an assumption.
    lower: direct === null ? 0 : 1 - direct.upper,
    upper: lower === null ? 1 : 1 - lower,
    verdict: verdict?.verdict ?? 'open',
    sentence: `${WORDS[verdict?.verdict ?? 'open']}${verdict?.given == null ? '' : ' as far as regions were found'}${verdict?.reason === 'one-study' ? ' by one study alone' : ''}: ${sentence}`,
  };
  return judged.map((it) => {
    if (it.name !== asked.name) return it;
    const { reason: _, ...counted } = it;
    const reason = verdict?.reason == null ? {} : { reason: verdict.reason };
    const course = 'course' in it ? { course: [] } : {};
    return { ...counted, ...found, ...reason, ...course, warnings: [...it.warnings, ...warnings] } as T;
  });
}

const WORDS = { met: 'met', violated: 'violated', 'not-shown': 'not shown', open: 'open' } as const;

function areEqual(a: Requirement, b: Requirement): boolean {
  const shape = ({ output, condition, probability, confidence = 0.95, terminated = 'fail' }: Requirement): string =>
    JSON.stringify([output, condition, probability, confidence, terminated]);
  return shape(a) === shape(b);
}
