/** The findings about a study that no runner takes: by its own settings, or since it is too old. */
import { commonRefusals } from '../runner-settings.ts';
import type { Runner } from '../../contract/types.ts';
import { featuresLacking, hasFeatures, partNeeding } from '../histories/feature.ts';
import { listed, MOST_NAMED, type Rule, type Situation } from './finding.ts';

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

/** @param accepting the connected runners of the simulation that are not drained. */
export const runnersTooOld = (accepting: (it: Situation) => readonly Runner[]): Rule => ({
  code: 'runner-too-old',
  find(situation) {
    const runners = accepting(situation);
    if (runners.some((runner) => hasFeatures(runner.capabilities, situation.needs))) return undefined;
    const lacking = featuresLacking(
      runners.map((it) => it.capabilities),
      situation.needs,
    );
    const parts = [...new Set(lacking.map((it) => partNeeding(it, situation.declared).words))].join(', and ');
    const which = runners.length === 1 ? 'the only runner' : `all ${runners.length} runners`;
    return {
      severity: 'blocked',
      message: `the study has ${parts}, and ${which} for "${situation.simulation}" ${runners.length === 1 ? 'is' : 'are'} too old for them`,
      remedy: 'install the version of the coordinator on a runner and start it again',
      runners: runners.slice(0, MOST_NAMED).map(({ id }) => id),
    };
  },
});
