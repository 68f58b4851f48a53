/** Whether a runner knows what a study needs beyond the first version of the protocol. Pure. */
import type { BatchConfig, RunnerCapabilities } from '../../contract/types.ts';

/** The feature of runners that compute histories and derived outputs. */
export const HISTORIES_FEATURE = 'histories';

/** The feature of runners that compute them of the files of finished runs. */
export const EXTRACTION_FEATURE = 'extraction';

/** The feature of runners that seed the runs of a sample alike in every cell of scenarios. */
export const SCENARIOS_FEATURE = 'scenarios';

/** The features that runners need for the runs of a study; undefined: none. */
export function neededFeatures(
  { histories, derived, scenarios, epistemic }: Pick<BatchConfig, 'histories' | 'derived' | 'scenarios' | 'epistemic'>,
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

/** The features that the study needs and the runner does not have. */
export const featuresMissing = (
  { features = [] }: Pick<RunnerCapabilities, 'features'>,
  needs: readonly string[] = [],
): string[] => needs.filter((it) => !features.includes(it));

/** True when the runner has every feature that the study needs. */
export const hasFeatures = (
  runner: Pick<RunnerCapabilities, 'features'>,
  needs: readonly string[] | undefined,
): boolean => needs === undefined || featuresMissing(runner, needs).length === 0;
