/** `simbatch launcher check` for one host: whether it is reached, and has what a runner needs. */
import type { CheckResult } from '../../engine.ts';
import type { QueueConfig } from '../../settings.ts';
import type { Machine } from './machines.ts';
import { OLDEST_NODE } from '../../kit/start-script.ts';
import { checkScript } from './scripts.ts';
import type { SshSection } from './section.ts';
import type { SshProgram } from './ssh-program.ts';

export async function checkHost(
  ssh: SshProgram,
  machine: Machine,
  queue: QueueConfig<SshSection>,
): Promise<CheckResult[]> {
  const { target, folders } = machine;
  const { section, runner, size, name } = queue;
  const { place } = target;
  const ok = (message: string): CheckResult => ({ queue: name, isFault: false, message: `${place}: ${message}` });
  const fault = (why: string): CheckResult => ({
    queue: name,
    isFault: true,
    message: `the queue ${name} cannot use ${place}: ${why}`,
  });
  let lines: string[];
  try {
    const needsNode = runner.program === undefined && section.ship !== 'kit-with-node';
    lines = await ssh.script(
      target,
      checkScript(folders, { setup: section.setup, program: runner.program?.[0], needsNode }),
    );
  } catch (error) {
    return [fault(error instanceof Error ? error.message : String(error))];
  }
  const found = Object.fromEntries(lines.map((it) => it.split('\t', 2))) as Record<string, string | undefined>;
  const faults: CheckResult[] = [];
  const cores = Number(found['cores']);
  const wanted = (machine.rooms.get(name) ?? 0) * size.cores;
  if (cores > 0 && cores < wanted) {
    faults.push(
      fault(`it has ${String(cores)} cores and the queue counts on ${String(wanted)}; correct its cores or size.cores`),
    );
  }
  if (found['directory'] !== 'yes')
    faults.push(fault(`${folders.directory} cannot be made there; name another directory`));
  if (found['tar'] === 'no') faults.push(fault('there is no program tar; install it, or name runner.program'));
  if (found['program'] === 'no')
    faults.push(fault(`there is no program ${runner.program?.[0] ?? ''}; correct runner.program or setup`));
  const version = found['node'];
  if (version !== undefined && !isNewEnough(version)) {
    const has = version === 'none' ? 'there is no Node' : `its Node is ${version}`;
    faults.push(fault(`${has}; install ${OLDEST_NODE} or newer, load one in setup, or use ship: kit-with-node`));
  }
  if (faults.length > 0) return faults;
  const node = version === undefined ? '' : `, Node ${version}`;
  return [ok(`reached; ${String(cores)} cores${node}`)];
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
