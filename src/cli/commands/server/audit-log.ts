/** `simbatch audit-log`: verifies the audit log of a data directory. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { isDirectory } from '../../../base/directories.ts';
import type { Link } from '../../../http/security/audit/lines.ts';
import { verifyAudit } from '../../../http/security/audit/verify.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { dataDirOption } from '../../options.ts';
import { OutputCommand } from '../../output-command.ts';
import { plural } from '../../terminal/format.ts';
import { note, snakeCased, writeJson, writeLine } from '../../terminal/output.ts';

interface Flags {
  dataDir: string;
  head?: Link;
  format: string;
}

export function auditLogCommand(): Command {
  return new Command('audit-log')
    .description('the audit log in the data directory of a coordinator: who asked for which action')
    .addCommand(
      new OutputCommand('verify')
        .description('find lines that were changed, cut or put in another order; a coordinator may be running')
        .option('--head <n:hash>', 'a head that an earlier verification has printed: the log must still have it', place)
        .addOption(dataDirOption())
        .action(verify),
    );
}

function place(text: string): Link {
  const [, n, hash] = /^(\d{1,16}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === undefined) throw new InvalidArgumentError('a head is a number, a colon and 64 hexadecimal digits.');
  return { n: Number(n), hash };
}

async function verify({ dataDir, head, format }: Flags): Promise<void> {
  const directory = resolve(dataDir);
  if (!isDirectory(directory))
    throw new Failure(EXIT.missing, `the data directory ${directory} does not exist; name another one with --data-dir`);
  const report = await verifyAudit(directory, head);
  const { faults, faultsOmitted, files, lines, first, last } = report;
  const found = faults.length + faultsOmitted;
  if (found > 0) process.exitCode = EXIT.failed;
  if (format === 'json') return writeJson({ data_dir: directory, ...snakeCased(report) });
  for (const fault of faults) await writeLine(fault);
  if (faultsOmitted > 0) note(`and ${plural(faultsOmitted, 'more fault')}`);
  if (first > 1) note(`lines 1 to ${first - 1} are not here; older files were moved away`);
  const summary = found === 0 ? 'no faults' : plural(found, 'fault');
  await writeLine(`${directory}: ${plural(lines, 'line')} in ${plural(files, 'file')}, ${summary}`);
  if (lines > 0) await writeLine(`head ${last.n}:${last.hash}`);
}
