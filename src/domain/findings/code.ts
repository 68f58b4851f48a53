/** Findings about the code that executes the runs of a study: several versions, and runners that a pinned study leaves out. */
import { shortCode } from '../code-name.ts';
import { shortId } from '../ids.ts';
import { engineFor, executesPinned } from '../code-pin.ts';
import { plural } from '../plural.ts';
import { supports } from '../scheduling.ts';
import type { Runner, StoredCode } from '../../contract/types.ts';
import { isOpen, listed, MOST_NAMED, type Rule, type Situation } from './finding.ts';

/** A version with its commit, for people: `9f3c12ab34cd (commit v1.2-3-gabc, changed since)`. */
function versionText({ identity: { digest, git } }: Pick<StoredCode, 'identity'>): string {
  if (git === undefined) return `${shortCode(digest)} (no commit)`;
  const state = git.dirty === true ? ', with changes' : git.dirty === null ? ', perhaps with changes' : '';
  return `${shortCode(digest)} (commit ${git.describe ?? git.commit.slice(0, 12)}${state})`;
}

/** Ended runs of one study that were made by more than one version of its code. */
const CODE_CHANGED: Rule = {
  code: 'code-changed',
  find({ batchId, codes, jobsByStatus }) {
    const used = codes.filter(({ runs }) => runs > 0).toSorted((a, b) => b.runs - a.runs);
    if (used.length < 2) return undefined;
    const parts = used
      .slice(0, 3)
      .map((it) => `${versionText(it)} made ${plural(it.runs, 'run')}, the first run ${it.firstRunId ?? 0}`);
    const more = used.length > 3 ? `; and ${used.length - 3} more` : '';
    const known = used.reduce((sum, { runs }) => sum + runs, 0);
    const unknown = jobsByStatus.Completed + jobsByStatus.Failed + jobsByStatus.Timeout - known;
    const rest = unknown > 0 ? `; the code of ${plural(unknown, 'run')} is not known` : '';
    const least = shortCode(used.at(-1)!.identity.digest);
    return {
      severity: 'warning',
      message: `the code has changed while the study ran, and ${used.length} versions made its results: ${parts.join('; ')}${more}${rest}`,
      remedy: `execute the runs of one version again: \`simbatch rerun ${shortId(batchId)} --where "code = '${least}'"\`; submit with \`policy.code: pin\` to allow one version alone`,
      count: used.length,
    };
  },
};

/** The runners that would take a run of a study if it did not pin its code. */
const leftOut = ({ runners, simulation, pin }: Situation): Runner[] =>
  runners.filter(
    (runner) =>
      runner.status !== 'Offline' &&
      supports(runner.capabilities, simulation) &&
      !executesPinned(runner, { simulationName: simulation, ...pin }),
  );

function codeOf(runner: Runner, { simulation, pin }: Situation): string {
  const engine = engineFor(runner, simulation, pin.pinsCode?.image);
  const code = engine === undefined || engine === 'image not looked at' ? undefined : engine.code;
  return `${runner.id} has ${code === undefined ? 'no known code' : versionText({ identity: code })}`;
}

/** Connected runners that a pinned study gives no run. */
const CODE_DIFFERS: Rule = {
  code: 'code-differs',
  find(situation) {
    const { pin, jobsByStatus, codes, runners, simulation } = situation;
    if (pin.pinsCode === undefined || !isOpen(situation) || jobsByStatus.Pending === 0) return undefined;
    const without = leftOut(situation);
    if (without.length === 0) return undefined;
    const isLeft = runners.some(
      (it) => it.status !== 'Offline' && supports(it.capabilities, simulation) && !without.includes(it),
    );
    const pinned = codes.find(({ identity }) => identity.digest === pin.pinnedCode);
    const wanted = pinned === undefined ? 'a code that its runner knows' : versionText(pinned);
    return {
      severity: isLeft ? 'warning' : 'blocked',
      message: `the study pins ${wanted}, and ${listed(without.map((it) => codeOf(it, situation)))}: ${without.length === 1 ? 'it gets' : 'they get'} no run of it`,
      remedy:
        'restore the pinned code on these machines; or cancel the study and submit it again without `policy.code`',
      count: without.length,
      runners: without.slice(0, MOST_NAMED).map(({ id }) => id),
    };
  },
};

export const CODE_RULES: readonly Rule[] = [CODE_CHANGED, CODE_DIFFERS];
