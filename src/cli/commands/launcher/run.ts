/** `simbatch launcher run`: the loop, one process per state folder, until it is stopped. Allocations outlive it. */
import { chmodSync } from 'node:fs';
import { Command } from 'commander';
import { sleep, systemClock } from '../../../base/clock.ts';
import { remoteStoreWarning } from '../../../base/file-systems/mounts.ts';
import { makeDirectory } from '../../../base/directories.ts';
import { openStore } from '../../../coordinator/kernel/storage/open-store.ts';
import { refusingOpen } from '../../../launcher/check/open-coordinator.ts';
import { coordinatorPort, reportOf } from '../../../launcher/loop/coordinator.ts';
import { Launcher, messageOf } from '../../../launcher/loop/launcher.ts';
import type { LauncherLog } from '../../../launcher/loop/ports.ts';
import type { LauncherStatus } from '../../../launcher/loop/status.ts';
import { ProblemLog } from '../../../launcher/problem-log.ts';
import { inboxOf, storePath, writeStatus } from '../../../launcher/state-folder.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { connect, endpointOption, integerBetween } from '../../options.ts';
import { note, writeLine } from '../../terminal/output.ts';
import { printable } from '../../terminal/format.ts';
import {
  configOption,
  launcherSetup,
  stateFolderOf,
  stateOption,
  trustOption,
  untrusted,
  type LauncherFlags,
} from './setup.ts';

interface RunFlags extends LauncherFlags {
  once?: boolean;
  dryRun?: boolean;
}

export function runCommand(): Command {
  return new Command('run')
    .description('start runners while runs wait; ends on SIGTERM or Ctrl-C, and its allocations stay')
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(endpointOption())
    .addOption(trustOption())
    .option(
      '--keep-days <n>',
      'delete the logs, folders and records of allocations that ended more than n days ago (default: records after 7)',
      integerBetween(1, 36_500),
    )
    .option('--once', 'one round, then end')
    .option('--dry-run', 'one round that only decides and prints: nothing is submitted, stopped or written')
    .action(run);
}

/** Between two reports of a launcher that is in a round. */
const REPORT_MS = 5_000;

async function run(flags: RunFlags): Promise<void> {
  const { config, engines } = await launcherSetup(flags);
  const client = await connect({ endpoint: config.endpoint });
  const refused = await untrusted(flags, config);
  if (refused !== undefined) throw new Failure(EXIT.configuration, refused);
  const folder = stateFolderOf(flags);
  makeDirectory(folder);
  chmodSync(folder, 0o700);
  const isDryRun = flags.dryRun === true;
  const store = await openStore(storePath(folder));
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGTERM', onSignal);
  process.once('SIGINT', onSignal);
  let endReports = (): void => {};
  try {
    const log: LauncherLog = (level, message) =>
      note(`${new Date(systemClock.now()).toISOString()} ${level} ${printable(message)}`);
    const remote = remoteStoreWarning(folder);
    if (remote !== undefined) log('warn', remote);
    let reportFault: string | undefined;
    let latest: LauncherStatus | undefined;
    let isReporting = false;
    const report = async (): Promise<void> => {
      // The coordinator that gave no answer is not asked again in the same round.
      if (latest === undefined || latest.isCoordinatorSilent || isReporting) return;
      isReporting = true;
      const fault = await client.launching.report(reportOf(latest)).then(() => undefined, messageOf);
      isReporting = false;
      if (fault !== undefined && fault !== reportFault)
        log('warn', `the coordinator does not take the report: ${fault}`);
      reportFault = fault;
    };
    // A round may wait for an engine: the coordinator learns that the launcher lives.
    endReports = systemClock.every(REPORT_MS, () => void report());
    const launcher = await Launcher.open({
      config,
      engines,
      coordinator: refusingOpen(coordinatorPort(client), () => untrusted(flags, config)),
      store,
      clock: systemClock,
      inbox: isDryRun
        ? { take: async () => ({ commands: [], done: async () => {} }) }
        : inboxOf(folder, (path) => log('warn', `the command in ${path} cannot be read and is removed`)),
      log,
      onStatus: async (status) => {
        if (isDryRun) return;
        await writeStatus(folder, status);
        latest = status;
        await report();
      },
      isDryRun,
      keepDays: flags.keepDays,
    });
    const rounds = flags.once === true || isDryRun ? 1 : Infinity;
    await loop(launcher, { rounds, pollMs: config.pollMs, signal: stop.signal, log });
  } finally {
    endReports();
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
    await store.close();
  }
}

interface LoopOptions {
  rounds: number;
  pollMs: number;
  signal: AbortSignal;
  log: LauncherLog;
}

async function loop(launcher: Launcher, { rounds, pollMs, signal, log }: LoopOptions): Promise<void> {
  let said = '';
  const problems = new ProblemLog(log);
  for (let round = 1; ; round += 1) {
    const status = await launcher.round();
    if (rounds > 1) problems.note(status.problems, systemClock.monotonicMs());
    // Each change of a decision is one line of the log.
    const lines = decisionLines(status);
    if (rounds === 1) for (const line of [...problemLines(status), ...lines]) await writeLine(line);
    else if (lines.join('\n') !== said) for (const line of lines) log('info', line);
    said = lines.join('\n');
    if (round >= rounds || signal.aborted) break;
    await sleep({ after: (...args) => systemClock.after(...args) }, pollMs, signal);
    if (signal.aborted) break;
  }
  if (rounds === 1) return;
  log(
    'info',
    'the launcher ends; its allocations stay, and the next launcher of this state folder continues with them',
  );
}

const problemLines = ({ problems }: LauncherStatus): string[] => problems.map((it) => `problem: ${printable(it)}`);

const decisionLines = ({ queues, unserved }: LauncherStatus): string[] => [
  ...queues.flatMap(({ name, why }) => why.map((it) => `${name}: ${printable(it)}`)),
  ...unserved.map(({ code, message }) => `${code}: ${printable(message)}`),
];
