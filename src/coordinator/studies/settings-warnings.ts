/** The warnings of a submission that every connected runner would refuse by its own settings. */
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { BatchSubmission, RunnerCapabilities, SubmissionWarning } from '../../contract/types.ts';
import { commonRefusals } from '../../domain/runner-settings.ts';
import { supports } from '../../domain/scheduling.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';

/** One for each variable, and one for the image; none while no runner is connected that takes the simulation. */
export function settingsWarnings({ runners }: Directory, { config }: BatchSubmission): SubmissionWarning[] {
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
  return warnings;
}

const wishOf = ({ environment = null, image }: BatchSubmission['config']['compute']['container']) => ({
  environment,
  image,
});
