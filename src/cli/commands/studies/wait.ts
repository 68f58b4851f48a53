/** `simbatch wait`: waits for the end of studies without showing progress; the exit code gives the outcome. */
import { InvalidArgumentError, type Command } from 'commander';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { watchBatch } from './watch.ts';

interface WaitFlags extends ClientFlags {
  strict?: boolean;
  timeout?: number;
}

export function waitCommand(): Command {
  return clientCommand('wait', 'wait until studies have ended; the exit code gives their outcome', [
    'table',
    'json',
    'name',
  ])
    .argument('<study...>', BATCH_ARGUMENT)
    .option('--timeout <time>', 'wait at most this long, such as 90s, 30m or 8h; then exit with 75', duration)
    .option('--strict', 'exit with 3 when a study is Completed but runs failed or its limits were not really checked')
    .action(async (references: string[], flags: WaitFlags) => {
      const client = await connect(flags);
      const ids = await Promise.all(references.map((it) => resolveBatch(client, it)));
      const following = { isSilent: true, ...(flags.timeout === undefined ? {} : { limitMs: flags.timeout }) };
      const codes: ExitCode[] = [];
      // Studies are awaited one after the other: a study that has ended meanwhile costs a single request.
      for (const id of ids) codes.push(await watchBatch(client, id, flags, following));
      process.exitCode = gravest(codes);
    });
}

/** The gravest outcome first. */
const GRAVITY: readonly ExitCode[] = [
  EXIT.requirementViolated,
  EXIT.studyFailed,
  EXIT.requirementNotShown,
  EXIT.runsFailed,
];

const gravest = (codes: readonly ExitCode[]): ExitCode => GRAVITY.find((it) => codes.includes(it)) ?? EXIT.ok;

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `90s`, `30m`, `8h` or `2d`; returns milliseconds. */
function duration(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('It must be a time such as 90s, 30m, 8h or 2d.');
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
