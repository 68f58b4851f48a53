/** The warnings of a submission that no connected runner would take: by its own settings, or since it is too old. */
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { BatchSubmission, RunnerCapabilities, SubmissionWarning } from '../../contract/types.ts';
import { featuresLacking, hasFeatures, partNeeding } from '../../domain/histories/feature.ts';
import { commonRefusals } from '../../domain/runner-settings.ts';
import { supports } from '../../domain/scheduling.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';

/** One for each variable, one for the image and one for each part that runners are too old for; none while no runner is connected that takes the simulation. */
export function settingsWarnings(
  { runners }: Directory,
  { config }: BatchSubmission,
  needs: readonly string[] | undefined,
): SubmissionWarning[] {
  const { container } = config.compute;
  const pool: RunnerCapabilities[] = [];
  for (const runner of runners.values()) {
    const { value, context } = stateOf(runner);
    if (value !== 'Offline' && supports(context.capabilities, config.simulation.name)) pool.push(context.capabilities);
  }
  const { variables, image } = commonRefusals(pool, wishOf(container)) ?? { variables: [], image: undefined };
  const warnings: SubmissionWarning[] = variables.map((name) => ({
    code: 'environment-refused',
    pointer: `/config/compute/container/environment${pointerToken(name)}`,
    detail: `no connected runner allows the variable ${JSON.stringify(name)}: the runs wait; use a name that begins with SIM_, or have an operator add it to environment_allowed of a runner`,
  }));
  if (image !== undefined) {
    warnings.push({
      code: 'image-refused',
      pointer: '/config/compute/container/image',
      detail: `no connected runner allows the image ${JSON.stringify(image)}: the runs wait; have an operator add it to container_images of a runner`,
    });
  }
  if (pool.length > 0 && !pool.some((it) => hasFeatures(it, needs))) {
    const parts = featuresLacking(pool, needs).map((it) => partNeeding(it, config));
    for (const [member, words] of new Map(parts.map((it) => [it.member, it.words])))
      warnings.push({
        code: 'runner-too-old',
        pointer: `/config/${member}`,
        detail: `every connected runner is too old for ${words}: the runs wait; install the version of the coordinator on a runner and start it again`,
      });
  }
  return warnings;
}

const wishOf = ({ environment = null, image }: BatchSubmission['config']['compute']['container']) => ({
  environment,
  image,
});
