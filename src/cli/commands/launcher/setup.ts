/** The options of the launcher's commands, its configuration file and its engines. */
import { dirname, join, resolve } from 'node:path';
import { Option } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import { clientOf } from '../../../client/http-fetch.ts';
import { openCoordinatorFault } from '../../../launcher/check/open-coordinator.ts';
import { otherUsers } from '../../../launcher/check/other-users.ts';
import { readLauncherConfig } from '../../../launcher/config/read-config.ts';
import type { LauncherConfig, QueueConfig } from '../../../launcher/settings.ts';
import type { Engine } from '../../../launcher/engine.ts';
import { ENGINES } from '../../../launcher/engines/table.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { readTextFile } from '../../study/check-study.ts';
import { readStudyText } from '../../study/study-file.ts';
import { plural } from '../../terminal/format.ts';

/** The place of the launcher's state: given, or beside its configuration. */
export interface StateFlags {
  config: string;
  stateDir?: string;
}

export interface LauncherFlags extends StateFlags {
  endpoint?: string;
  trustOpenCoordinator?: boolean;
  keepDays?: number;
}

/** One folder for all commands: the launcher runs in it, and the others read it and leave commands in it. */
const STATE_FOLDER = 'simbatch-launcher';

export const configOption = (): Option =>
  new Option('--config <file>', 'the configuration of the launcher')
    .env('SVC_LAUNCHER_CONFIG')
    .default('launcher.yaml');

export const stateOption = (): Option =>
  new Option(
    '--state-dir <dir>',
    `where the launcher keeps its allocations (default: ${STATE_FOLDER} beside the configuration)`,
  ).env('SVC_LAUNCHER_STATE');

export const trustOption = (): Option =>
  new Option(
    '--trust-open-coordinator',
    'start runners for a coordinator without tokens also where other users reach it: they can execute programs under this account',
  );

/** Why no runners of Slurm or ssh may be started for the coordinator; undefined: they may. */
export async function untrusted(
  { trustOpenCoordinator }: LauncherFlags,
  config: LauncherConfig,
): Promise<string | undefined> {
  if (trustOpenCoordinator === true) return undefined;
  const client = clientOf({ endpoint: config.endpoint });
  return openCoordinatorFault({ config, askWithoutToken: () => client.demand(), otherUsers });
}

/** The state folder as a whole path. The configuration file is not read. */
export const stateFolderOf = ({ config, stateDir = '' }: StateFlags): string =>
  stateDir === '' ? join(dirname(resolve(config)), STATE_FOLDER) : resolve(stateDir);

export interface LauncherSetup {
  config: LauncherConfig;
  /** The engine of each queue, by the name of the queue. */
  engines: ReadonlyMap<string, Engine>;
}

/**
 * @param label marks the allocations in the engines, in place of that of the configuration
 * @throws Failure with a line `file:line:column: pointer detail` for every fault
 */
export async function launcherSetup(
  flags: LauncherFlags,
  label: (launcher: string) => string = (it) => it,
): Promise<LauncherSetup> {
  const { config: file, endpoint } = flags;
  const text = readStudyText(await readTextFile(file));
  const faults = text.faults.map((it) => `  ${file}:${it.line}:${it.column}: ${it.detail}`);
  if (faults.length > 0) throw invalid(file, faults);
  const read = readLauncherConfig(text.value, endpoint === '' ? undefined : endpoint);
  if (!('config' in read)) {
    const lines = read.faults.map(({ pointer, detail }) => {
      const { line, column } = text.place(pointer, detail.startsWith('is not known'));
      return `  ${file}:${line}:${column}: ${pointer || '/'} ${detail}`;
    });
    throw invalid(file, lines);
  }
  const scratchDirectory = join(stateFolderOf(flags), 'scratch');
  const engines = new Map<string, Engine>();
  for (const module of ENGINES) {
    const queues = read.config.queues.filter((it) => it.engine === module.name) as QueueConfig<never>[];
    if (queues.length === 0) continue;
    const engine = module.open({
      launcher: label(read.config.launcher),
      runnerEndpoint: read.config.runnerEndpoint,
      queues,
      clock: systemClock,
      env: process.env,
      baseDirectory: dirname(resolve(file)),
      scratchDirectory,
      keepDays: flags.keepDays,
    });
    for (const { name } of queues) engines.set(name, engine);
  }
  return { config: read.config, engines };
}

const invalid = (file: string, lines: readonly string[]): Failure =>
  new Failure(EXIT.configuration, `${file} has ${plural(lines.length, 'fault')}`, lines);

/** @throws Failure naming the queues, for an unknown one */
export function queueNamed({ queues }: LauncherConfig, name: string): QueueConfig {
  const queue = queues.find((it) => it.name === name);
  if (queue !== undefined) return queue;
  const names = queues.map((it) => it.name).join(', ');
  throw new Failure(EXIT.missing, `there is no queue ${JSON.stringify(name)}; the queues are ${names}`);
}
