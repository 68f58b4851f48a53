/** The finding about a study that every runner refuses by its own settings. */
import { commonRefusals } from '../runner-settings.ts';
import type { Runner } from '../../contract/types.ts';
import { listed, type Rule, type Situation } from './finding.ts';

/** @param large the runners that could take a run otherwise. */
export const refusedBySettings = (large: (it: Situation) => readonly Runner[]): Rule => ({
  code: 'settings-refuse',
  find(situation) {
    const runners = large(situation);
    const refused = commonRefusals(
      runners.map((it) => it.capabilities),
      situation.container,
    );
    if (refused === undefined) return undefined;
    const { variables, image } = refused;
    const names = listed(variables.map((it) => JSON.stringify(it)));
    const what = [
      ...(variables.length === 0 ? [] : [`${names} of \`container.environment\``]),
      ...(image === undefined ? [] : [`the image ${JSON.stringify(image)}`]),
    ].join(' and ');
    const remedies = [
      ...(variables.length === 0
        ? []
        : ['submit with names that begin with SIM_, or add them to `environment_allowed` of a runner']),
      ...(image === undefined ? [] : ['add the image to `container_images` of a runner']),
    ];
    return {
      severity: 'blocked',
      message: `no runner that could take a run allows ${what}`,
      remedy: remedies.join('; '),
      runners: runners.slice(0, 10).map(({ id }) => id),
    };
  },
});
