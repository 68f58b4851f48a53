/** Whether a runner knows what a study needs beyond the first version of the protocol. Pure. */
import type { BatchConfig, RunnerCapabilities } from '../../contract/types.ts';

/** The feature of runners that compute histories and derived outputs. */
export const HISTORIES_FEATURE = 'histories';

/** The feature of runners that compute them of the files of finished runs. */
export const EXTRACTION_FEATURE = 'extraction';

/** The feature of runners that seed the runs of a sample alike in every cell of scenarios. */
export const SCENARIOS_FEATURE = 'scenarios';

/** The members of a configuration that need features of runners. */
export type Declaring = Pick<BatchConfig, 'histories' | 'derived' | 'scenarios' | 'epistemic'>;

/** The features that runners need for the runs of a study; undefined: none. */
export function neededFeatures(
  { histories, derived, scenarios, epistemic }: Declaring,
  isExtraction = false,
): readonly string[] | undefined {
  const declares = (histories?.length ?? 0) + (derived?.length ?? 0) > 0;
  const needs = [
    ...(declares ? [HISTORIES_FEATURE] : []),
    ...(isExtraction ? [EXTRACTION_FEATURE] : []),
    ...(scenarios === undefined && epistemic === undefined ? [] : [SCENARIOS_FEATURE]),
  ];
  return needs.length === 0 ? undefined : needs;
}

/** The part of a study that needs a feature of runners: its words, and its member of the configuration, the first of several. */
export function partNeeding(
  feature: string,
  { histories, scenarios, epistemic }: Declaring,
): { words: string; member: keyof Declaring } {
  if (feature !== SCENARIOS_FEATURE)
    return { words: 'histories or derived outputs', member: (histories?.length ?? 0) > 0 ? 'histories' : 'derived' };
  if (epistemic === undefined) return { words: 'scenarios', member: 'scenarios' };
  if (scenarios === undefined) return { words: 'epistemic inputs', member: 'epistemic' };
  return { words: 'scenarios and epistemic inputs', member: 'scenarios' };
}

/** The features that the study needs and the runner does not have. */
export const featuresMissing = (
  { features = [] }: Pick<RunnerCapabilities, 'features'>,
  needs: readonly string[] = [],
): string[] => needs.filter((it) => !features.includes(it));

/** The needed features that each of the runners lacks, or, where none is such, those that any lacks. */
export function featuresLacking(
  runners: readonly Pick<RunnerCapabilities, 'features'>[],
  needs: readonly string[] = [],
): string[] {
  const lacking = runners.map((it) => featuresMissing(it, needs));
  const byAll = needs.filter((it) => lacking.every((missing) => missing.includes(it)));
  return byAll.length > 0 ? byAll : needs.filter((it) => lacking.some((missing) => missing.includes(it)));
}

/** True when the runner has every feature that the study needs. */
export const hasFeatures = (
  runner: Pick<RunnerCapabilities, 'features'>,
  needs: readonly string[] | undefined,
): boolean => needs === undefined || featuresMissing(runner, needs).length === 0;
