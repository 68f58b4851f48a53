/** Findings about launchers: programs that start runners on clusters while runs wait. */
import type { LauncherFinding } from '../../contract/enums.ts';
import { listed, type Rule, type Situation } from './finding.ts';

const REMEDIES: Readonly<Record<LauncherFinding, string>> = {
  'no-capacity-fits': 'add a queue that fits to launcher.yaml, or lower `cpu_request` or `memory_request`',
  'lifetime-too-short': 'raise `lifetime` of a queue in launcher.yaml, or lower `compute.job_timeout_seconds`',
  'settings-refuse':
    'change the runners of a queue as the message says (`environment_allowed`, `container_images`, their code, their version), or submit with names that begin with SIM_ and without what they refuse',
};

/** The rules; `isPoolAble`: a runner of the pool can execute runs of the study, which then does not depend on a launcher. */
export function launcherRules(isPoolAble: (situation: Situation) => boolean): readonly Rule[] {
  const noCapacity: Rule = {
    code: 'no-capacity-fits',
    find(situation) {
      const [found] = situation.launchers?.unserved ?? [];
      if (found === undefined || isPoolAble(situation)) return undefined;
      const remedy = REMEDIES[found.code];
      return { severity: 'blocked', message: found.message, remedy, count: found.runs };
    },
  };
  const launching: Rule = {
    code: 'launching',
    find(situation) {
      const { launchers } = situation;
      if (launchers === undefined || launchers.unserved.length > 0 || isPoolAble(situation)) return undefined;
      const { names, blocked } = launchers;
      if (blocked.length > 0) {
        return {
          severity: 'blocked',
          message: `no runner can execute a run, and the launcher ${listed(names)} starts none: ${listed(blocked)}`,
          remedy: 'see `simbatch launcher why`; resume a paused queue with `simbatch launcher resume`',
        };
      }
      return {
        severity: 'waiting',
        message: `no runner can execute a run yet; the launcher ${listed(names)} starts runners`,
        remedy: 'wait; `simbatch launcher why` explains each decision',
      };
    },
  };
  return [noCapacity, launching];
}
