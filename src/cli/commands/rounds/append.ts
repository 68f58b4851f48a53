/** `simbatch append` and `simbatch close`: a round of runs for an adaptive study, and the end of its growth. */
import type { Command } from 'commander';
import { given } from '../../../base/given.ts';
import { ApiError, type Client } from '../../../client/client.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import type { AppendedRound, RoundProgress, RoundResults, Uuid } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { interruptible, persist, RunsProgress } from '../../points/persist.ts';
import { readRows, type FileRows } from '../../points/read-rows.ts';
import { findingLines } from '../../study/findings.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { plural, printable } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { RUN_FORMATS, showRuns, type TableFlags } from '../runs/table.ts';

interface AppendFlags extends TableFlags {
  key?: string;
  round?: number;
  draws?: string;
  label?: string;
  note?: string;
  wait?: boolean;
  strict?: boolean;
}

/** Seconds of one request for results, and so between two lines of progress. */
const WAIT_SECS = 5;

export function appendCommand(): Command {
  return clientCommand('append', 'append a round of runs to an adaptive study', RUN_FORMATS)
    .argument('<study>', BATCH_ARGUMENT)
    .argument('<rows>', 'CSV with names in its first row, a JSON list or lines of objects; - for standard input')
    .option('--key <name>', 'your name for the round; the same rows again under it change nothing')
    .option('--round <n>', 'the number that the round must have: that of the next one', integerBetween(0, INT32_MAX))
    .option('--draws <column>', 'the column with the run whose random draw a row has; empty: its own')
    .option('--label <text>', 'a text for people, kept with the round')
    .option('--note <text>', 'a longer text, kept with the round')
    .option('--wait', 'wait until all runs of the round have ended, and print them')
    .option('--strict', 'with --wait: exit with 3 when runs of the round failed')
    .action(async (reference: string, file: string, flags: AppendFlags) => {
      if (flags.key === undefined && flags.round === undefined)
        throw new Failure(
          EXIT.usage,
          'give --key NAME or --round N, so that the same command again appends nothing twice',
        );
      if (flags.strict === true && flags.wait !== true)
        throw new Failure(EXIT.usage, '--strict changes the exit code of --wait: give both');
      if (flags.wait !== true && flags.format !== 'table' && flags.format !== 'json')
        throw new Failure(EXIT.usage, `--format ${flags.format} is for the runs that --wait prints: give both`);
      const rows = await readRows(file, given({ draws: flags.draws }));
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      const round = await append(client, batchId, rows, flags);
      if (flags.wait !== true) return report(round, flags);
      note(sentence(round));
      const { counts } = await waitFor(client, batchId, round.round);
      await showRuns(client, batchId, { ...flags, where: `round = ${round.round}` });
      if (flags.strict === true && (counts['ok'] ?? 0) < round.count) process.exitCode = EXIT.runsFailed;
    });
}

const sentence = ({ round, run_ids: runs, count, repeated, digest }: AppendedRound): string =>
  `${repeated ? 'nothing was appended: the study has these rows as ' : ''}round ${round}: ${plural(count, 'run')} (${runs}), digest ${digest}`;

const report = (round: AppendedRound, { format }: AppendFlags): Promise<void> =>
  format === 'json' ? writeJson(round) : writeLine(sentence(round));

/** Appends, however often the answer is lost. @throws Failure with the places in the file of refused numbers */
async function append(client: Client, batchId: Uuid, rows: FileRows, flags: AppendFlags): Promise<AppendedRound> {
  const { key, round, label, note: text } = flags;
  const request = { rows: rows.rows, ...given({ key, round, label, note: text, draws: rows.draws }) };
  try {
    return await persist(() => client.rounds.append(batchId, request), { repeating: note });
  } catch (error) {
    throw withPlaces(error, rows);
  }
}

/** Returns a refusal with the places in the file of the rows that it names. */
export function withPlaces(error: unknown, { placeOf }: FileRows): unknown {
  if (!(error instanceof ApiError) || error.faults.length === 0) return error;
  const lines = error.faults.map(({ pointer, detail }) => {
    const [, row, name] = /^\/(?:rows|draws)\/(\d+)(?:\/(.*))?$/.exec(pointer) ?? [];
    if (row === undefined) return `  ${printable(pointer)} ${printable(detail)}`;
    const what = name === undefined ? '' : `${JSON.stringify(name.replaceAll('~1', '/').replaceAll('~0', '~'))} `;
    return `  ${placeOf(Number(row))}: ${printable(what + detail)}`;
  });
  const code = error.code === 'invalid-request' ? EXIT.invalid : EXIT.conflict;
  return new Failure(code, error.code === 'invalid-request' ? 'the rows were refused' : error.message, lines);
}

/** Writes why the runs of a study do not run, where something hinders them. */
export async function explain(client: Client, batchId: Uuid, say: (line: string) => void): Promise<void> {
  const findings = await persist(() => client.findings(batchId), { repeating: say });
  for (const line of findingLines(findings.filter(({ severity }) => severity !== 'fine'))) say(line);
}

/** Waits for the end of a round; Ctrl-C leaves it running. */
export function waitFor(client: Client, batchId: Uuid, round: number): Promise<RoundResults> {
  const progress = new RunsProgress(`round ${round}`);
  const again = `the same command waits for them again and appends nothing twice; simbatch rounds ${batchId} shows them`;
  return interruptible(
    () => `stopped waiting; the runs of round ${round} continue: ${again}`,
    async (signal) => {
      for (let asked = 0; ; asked++) {
        const ask = (): Promise<RoundResults | RoundProgress> =>
          client.rounds.results(batchId, round, WAIT_SECS, signal);
        const answer = await persist(ask, { repeating: progress.say, signal });
        progress.show(answer.counts);
        if ('results' in answer) return answer;
        if (asked === 0) await explain(client, batchId, progress.say);
      }
    },
  );
}

export function closeCommand(): Command {
  return clientCommand('close', 'close an adaptive study: it takes no further rounds', ['table', 'json', 'name'])
    .argument('<study>', BATCH_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const batch = await client.rounds.close(await resolveBatch(client, reference));
      if (flags.format === 'json') return writeJson(batch);
      if (flags.format === 'name') return writeLine(batch.id);
      const open = batch.status === 'Pending' || batch.status === 'Running';
      const then = open ? '; it ends when its runs have ended' : '';
      return writeLine(
        `study ${batch.id} is closed: ${plural(batch.rounds ?? 0, 'round')}, ${plural(batch.total_jobs, 'run')}, ${batch.status}${then}`,
      );
    });
}
