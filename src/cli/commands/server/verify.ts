/** `simbatch verify` and `simbatch repair`: check a data directory, and save what is whole of a damaged one. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { repairStore, type RepairReport } from '../../../coordinator/repair/repair.ts';
import { verifyStore } from '../../../coordinator/repair/verify.ts';
import { isDirectory } from '../../../base/directories.ts';
import { systemClock } from '../../../base/clock.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { dataDirOption } from '../../options.ts';
import { OutputCommand } from '../../output-command.ts';
import { plural } from '../../terminal/format.ts';
import { note, snakeCased, writeJson, writeLine } from '../../terminal/output.ts';
import { WorkProgress } from '../../progress/work-progress.ts';

interface Flags {
  dataDir: string;
  format: string;
}

export function verifyCommand(): Command {
  return new OutputCommand('verify')
    .description('check a whole data directory: files, checksums, group chain, counters and indexes; changes nothing')
    .addOption(dataDirOption())
    .action(verify);
}

async function verify({ dataDir, format }: Flags): Promise<void> {
  const directory = existing(dataDir);
  const bar = new WorkProgress();
  const report = await verifyStore(directory, (phase, done, total) => bar.show(phase, done, total)).finally(() =>
    bar.end(),
  );
  const found = report.faults.length + report.faultsOmitted;
  if (found > 0) process.exitCode = EXIT.failed;
  if (format === 'json') return writeJson({ data_dir: directory, ...snakeCased(report) });
  for (const fault of report.faults) await writeLine(fault);
  if (report.faultsOmitted > 0) note(`and ${plural(report.faultsOmitted, 'more fault')}`);
  const summary = found === 0 ? 'no faults' : plural(found, 'fault');
  await writeLine(`${directory}: ${plural(report.records, 'record')} read, ${summary}`);
}

export function repairCommand(): Command {
  return new OutputCommand('repair')
    .description(
      'save the whole records of a damaged data directory in a new one, and list what is lost; exit code 1 when something is',
    )
    .argument('<new-directory>', 'the data directory to create; must be missing or empty')
    .addOption(dataDirOption())
    .action(repair);
}

async function repair(target: string, { dataDir, format }: Flags): Promise<void> {
  const directory = existing(dataDir);
  const bar = new WorkProgress();
  const report = await repairStore(directory, resolve(target), systemClock.now(), (phase, done, total) =>
    bar.show(phase, done, total),
  ).finally(() => bar.end());
  if (report.losses > 0) process.exitCode = EXIT.failed;
  if (format === 'json') return writeJson({ data_dir: resolve(target), damaged: directory, ...snakeCased(report) });
  for (const finding of report.findings) await writeLine(finding);
  await writeLine(
    `${resolve(target)}: ${plural(report.records, 'record')}, ${plural(report.findings.length, 'finding')}, ${lossesOf(report)}; ` +
      `${directory} is unchanged`,
  );
}

const lossesOf = ({ losses }: RepairReport): string =>
  losses === 0 ? 'nothing is lost' : `${String(losses)} of them ${losses === 1 ? 'is a loss' : 'are losses'}`;

function existing(dataDir: string): string {
  const directory = resolve(dataDir);
  if (isDirectory(directory)) return directory;
  throw new Failure(EXIT.missing, `the data directory ${directory} does not exist; name another one with --data-dir`);
}
