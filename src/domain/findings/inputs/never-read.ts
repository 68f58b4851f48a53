/** The finding about parameters of a study that its simulation does not look up. */
import { closestMatch } from '../../../base/text/closest-match.ts';
import { plural } from '../../plural.ts';
import { listed, MOST_NAMED, type Rule } from '../finding.ts';

/** A dispersed parameter that no run has looked up, of enough runs with known look-ups. */
export const NEVER_READ: Rule = {
  code: 'parameter-never-read',
  find({ inputs }) {
    if (inputs === undefined) return undefined;
    const { runs, asked, neverRead } = inputs;
    if (neverRead.length === 0) return undefined;
    const meant = neverRead.flatMap((name) => {
      const nearest = closestMatch(name, asked) ?? asked.find((it) => shareWord(it, name));
      return nearest === undefined
        ? []
        : [`asked for ${JSON.stringify(nearest)}; did you mean ${JSON.stringify(name)}?`];
    });
    const names = listed(neverRead.map((name) => JSON.stringify(name)));
    const it = neverRead.length === 1 ? 'it' : 'them';
    const is = neverRead.length === 1 ? 'was' : 'were';
    const hint = meant.length === 0 ? '' : `; the simulation ${listed(meant.slice(0, MOST_NAMED))}`;
    return {
      severity: 'warning',
      message: `${names} ${is} looked up by none of ${plural(runs, 'completed run')}${hint}`,
      remedy: `make the simulation use ${it}, or leave ${it} out of the study; \`simbatch probe\` shows the effect of every input`,
      count: neverRead.length,
    };
  },
};

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1);

/** Whether two names have a word in common, as `cd_bias` and `cd_scale` have. */
function shareWord(one: string, other: string): boolean {
  const words = new Set(wordsOf(one));
  return wordsOf(other).some((word) => words.has(word));
}
