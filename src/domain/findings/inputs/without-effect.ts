/** The finding about inputs of a study that change no output of its simulation, as a probe has shown. */
import { listed, type Rule } from '../finding.ts';

/** A dispersed input whose runs in the latest probe give every output of the nominal run. */
export const WITHOUT_EFFECT: Rule = {
  code: 'parameter-without-effect',
  find({ probed }) {
    if (probed === undefined || probed.withoutEffect.length === 0) return undefined;
    const { probe, withoutEffect } = probed;
    const names = listed(withoutEffect.map((name) => JSON.stringify(name)));
    const [change, quantile, it] = withoutEffect.length === 1 ? ['changes', 'its', 'it'] : ['change', 'their', 'each'];
    return {
      severity: 'warning',
      message: `${names} ${change} no output at ${quantile} 1 % and 99 % quantile, to the bit, in the probe ${probe}`,
      remedy: `make the simulation use ${it}, or leave ${it} out of the study; then probe it again: \`simbatch probe\``,
      count: withoutEffect.length,
    };
  },
};
