/** Finds out how this machine can find and end the processes of a run, and says at the start what it cannot. */
import { createHash } from 'node:crypto';
import { SimbatchError } from '../../domain/errors.ts';
import type { CgroupMode } from '../config/config.ts';
import type { Log } from '../log.ts';
import { Cgroups } from './cgroups.ts';
import { ProcessTable } from './proc-fs.ts';
import type { ProcessTools } from './process-scope.ts';

/**
 * @param owner what the cgroups belong to: those that a former process made for the same owner are ended and removed.
 * @throws SimbatchError `invalid-configuration` when cgroups are required and there are none.
 */
export function openProcessTools(mode: CgroupMode, owner: string, log: Log, table = new ProcessTable()): ProcessTools {
  const tag = `simbatch-${createHash('sha256').update(owner).digest('hex').slice(0, 12)}`;
  const cgroups = mode === 'off' ? 'cgroup is off' : Cgroups.open(tag);
  if (typeof cgroups !== 'string') {
    const limits = cgroups.controllers.length === 0 ? 'no limits' : `limits of ${cgroups.controllers.join(' and ')}`;
    log.info(`each run has a cgroup; ${limits}`);
    if (cgroups.killedAtStart > 0) {
      log.warn(
        `killed ${String(cgroups.killedAtStart)} processes left by a former runner process, found in their cgroups`,
      );
    }
    return { table, cgroups };
  }
  if (mode === 'required') {
    const remedy = 'give the runner a writable cgroup (Delegate=yes in its systemd unit), or set cgroup to auto';
    throw new SimbatchError('invalid-configuration', `runs cannot have cgroups: ${cgroups}; ${remedy}`);
  }
  const consequence = table.isAvailable
    ? 'a process that leaves its group and drops its environment outlives its run'
    : '/proc is missing too: a process that leaves its group outlives its run, and a runner that is killed leaves its simulations running';
  log.warn(`runs have no cgroup: ${cgroups}; ${consequence}`);
  return { table, cgroups: undefined };
}
