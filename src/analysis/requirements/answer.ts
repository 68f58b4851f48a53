/** The shapes of judged requirements, of the schema of the answer. */
import type { RequirementVerdict, Verdict } from '../../contract/types.ts';

export type { JudgedRequirement } from '../../contract/types.ts';
/** While runs are open, the counts are those of the complete prefix; of a settled sequential test, those at its decision. */
export type RequirementAnswer = RequirementVerdict;
/** A judged requirement that has a verdict: every one but those on runs that were chosen. */
export type DecidedRequirement = RequirementAnswer & { verdict: Verdict };
