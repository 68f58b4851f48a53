/** Findings about launchers: programs that start runners on clusters while runs wait. */
import type { LauncherFinding } from '../../contract/enums.ts';
import { formatDuration } from '../durations.ts';
import { connected, listed, type LaunchersAbout, type Rule, type Situation } from './finding.ts';

const REMEDIES: Readonly<Record<LauncherFinding, string>> = {
  'no-capacity-fits': 'add a queue that fits to launcher.yaml, or lower `cpu_request` or `memory_request`',
  'lifetime-too-short': 'raise `lifetime` of a queue in launcher.yaml, or lower `compute.job_timeout_seconds`',
  'settings-refuse':
    'change the runners of a queue as the message says (`environment_allowed`, `container_images`, their code, their version), or submit with names that begin with SIM_ and without what they refuse',
};

/** The first three sentences, and how many more there are. */
const sentences = (all: readonly string[]): string =>
  [...all.slice(0, 3), ...(all.length > 3 ? [`${all.length - 3} more queues`] : [])].join('; ');

/** The launchers that do not report any more, as a sentence. */
function silence({ silent }: LaunchersAbout): string {
  const each = silent.map(({ name, silentMs }) => `${name} (last report ${formatDuration(silentMs)} ago)`);
  const [subject, verb] = silent.length === 1 ? ['launcher', 'does'] : ['launchers', 'do'];
  return `the ${subject} ${listed(each)} ${verb} not run, or cannot reach this coordinator`;
}

/** The rules; `isPoolAble`: a runner of the pool can execute runs of the study, which then does not depend on a launcher. */
export function launcherRules(isPoolAble: (situation: Situation) => boolean): readonly Rule[] {
  /** The launchers, where the study depends on them and one reports. */
  const reporting = (situation: Situation): LaunchersAbout | undefined =>
    situation.launchers === undefined || situation.launchers.names.length === 0 || isPoolAble(situation)
      ? undefined
      : situation.launchers;
  const noCapacity: Rule = {
    code: 'no-capacity-fits',
    find(situation) {
      const launchers = reporting(situation);
      const [found] = launchers?.unserved ?? [];
      if (launchers === undefined || found === undefined) return undefined;
      const others = launchers.silent.length === 0 ? '' : `; ${silence(launchers)}`;
      return {
        severity: 'blocked',
        message: `${found.message}${others}`,
        remedy: REMEDIES[found.code],
        count: found.runs,
      };
    },
  };
  const launching: Rule = {
    code: 'launching',
    find(situation) {
      const launchers = reporting(situation);
      if (launchers === undefined || launchers.unserved.length > 0) return undefined;
      const { names, queues, silent } = launchers;
      const others = silent.length === 0 ? '' : `; ${silence(launchers)}`;
      const says = `${sentences(queues.map((it) => it.text))}${others}`;
      const isOne = names.length === 1;
      const who = `the launcher${isOne ? '' : 's'} ${listed(names)}`;
      if (queues.every((it) => it.isBlocked)) {
        return {
          severity: 'blocked',
          message: `no runner can execute a run, and ${who} start${isOne ? 's' : ''} none: ${says}`,
          remedy: 'see `simbatch launcher why`; resume a paused queue with `simbatch launcher resume`',
        };
      }
      const does = queues.some((it) => it.isStarting)
        ? `start${isOne ? 's' : ''} runners`
        : `${isOne ? 'has' : 'have'} started none`;
      return {
        severity: 'waiting',
        message: `no runner can execute a run yet; ${who} ${does}: ${says}`,
        remedy: 'wait; `simbatch launcher why` explains each decision',
      };
    },
  };
  const silent: Rule = {
    code: 'launcher-silent',
    find(situation) {
      const { launchers } = situation;
      if (launchers === undefined || launchers.names.length > 0 || connected(situation).length > 0) return undefined;
      return {
        severity: 'blocked',
        message: `no runner can execute a run, and ${silence(launchers)}`,
        remedy:
          'start it again with `simbatch launcher run` where its launcher.yaml is, or a runner with `simbatch runner`',
      };
    },
  };
  return [noCapacity, launching, silent];
}
