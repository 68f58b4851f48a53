/** `simbatch rounds`: lists the rounds of an adaptive study, and checks that they are as they were appended. */
import type { Command } from 'commander';
import { inParallel } from '../../../base/async/in-parallel.ts';
import { systemClock } from '../../../base/clock.ts';
import type { Client } from '../../../client/client.ts';
import { INT32_MAX, LIMITS } from '../../../contract/limits.ts';
import type { RoundDetail, RoundsCheck, Uuid } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { formatAgo, plural, printable } from '../../terminal/format.ts';
import { LIST_FORMATS, printList, type ListColumn } from '../../terminal/list.ts';
import { note, writeJson, writeText } from '../../terminal/output.ts';

interface RoundsFlags extends ClientFlags {
  from?: number;
  limit: number;
}

/** Rounds whose runs are counted at the same time. */
const AT_ONCE = 8;

const countsText = ({ counts }: RoundDetail): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

const COLUMNS: readonly ListColumn<RoundDetail>[] = [
  { name: 'round', key: 'round', align: 'right', value: (it) => it.round },
  { name: 'runs', key: 'run_ids', value: (it) => it.run_ids },
  { name: 'key', key: 'key', value: (it) => it.key, cell: (it) => printable(it.key ?? '-'), shrink: 10 },
  {
    name: 'label',
    key: 'label',
    value: (it) => it.label,
    cell: (it) => printable(it.label ?? '-'),
    shrink: 10,
    rank: 3,
  },
  { name: 'counts', key: 'counts', value: countsText },
  {
    name: 'complete',
    key: 'complete',
    value: (it) => it.complete,
    cell: (it) => (it.complete ? 'yes' : 'no'),
    rank: 1,
  },
  {
    name: 'appended',
    key: 'appended_at',
    value: (it) => it.appended_at,
    cell: (it) => formatAgo(it.appended_at, systemClock.now()),
    rank: 2,
  },
  { name: 'digest', key: 'digest', value: (it) => it.digest, wide: true },
  { name: 'note', key: 'note', value: (it) => it.note, cell: (it) => printable(it.note ?? '-'), wide: true },
];

export function roundsCommand(): Command {
  return clientCommand('rounds', 'list the rounds of an adaptive study', LIST_FORMATS)
    .addCommand(verifyCommand())
    .argument('<study>', BATCH_ARGUMENT)
    .option('--from <n>', 'the first round to list; without it the latest ones', integerBetween(0, INT32_MAX))
    .option('--limit <n>', 'at most this many rounds', integerBetween(1, LIMITS.rounds), 100)
    .action(async (reference: string, flags: RoundsFlags) => {
      const client = await connect(flags);
      const batchId = await resolveBatch(client, reference);
      const { batch } = await client.batch(batchId);
      const { rounds = 0 } = batch;
      const from = flags.from ?? Math.max(0, rounds - flags.limit);
      await printList(flags.format, details(client, batchId, from, flags.limit), {
        columns: COLUMNS,
        nameOf: (it) => String(it.round),
        none: `no round ${rounds === 0 ? 'was appended yet' : `from ${from} on`}: simbatch append ${batchId} rows.csv --key NAME`,
      });
      const shown = Math.min(flags.limit, Math.max(0, rounds - from));
      if (flags.format === 'table' && shown < rounds)
        note(`${shown} of ${plural(rounds, 'round')} shown: see --from and --limit`);
    });
}

/** The rounds with their runs by class. */
async function* details(client: Client, batchId: Uuid, from: number, limit: number): AsyncGenerator<RoundDetail> {
  for (let next = from; next < from + limit;) {
    const page = await client.rounds.list(batchId, {
      from: next,
      limit: Math.min(LIMITS.pageSize, from + limit - next),
    });
    if (page.length === 0) return;
    for (let at = 0; at < page.length; at += AT_ONCE) {
      yield* await inParallel(page.slice(at, at + AT_ONCE), AT_ONCE, ({ round }) => client.rounds.one(batchId, round));
    }
    next += page.length;
  }
}

function verifyCommand(): Command {
  return clientCommand('verify', 'check the rows of every round, and the chain of rounds, by their digests')
    .argument('<study>', BATCH_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const check = await client.rounds.check(await resolveBatch(client, reference));
      if (check.verdict !== 'identical') process.exitCode = EXIT.failed;
      if (flags.format === 'json') return writeJson(check);
      const of = `${plural(check.rounds, 'round')} with ${plural(check.runs, 'run')}`;
      if (check.verdict === 'identical')
        return writeText([`identical: ${of}, head ${check.head ?? 'none'}`, ...computedLines(check)]);
      return writeText([`differs: ${of}`, ...check.faults.map((it) => `  ${printable(it)}`), ...computedLines(check)]);
    });
}

/** Rounds of an algorithm of the coordinator, computed again from the results before them. */
function computedLines({ computed }: RoundsCheck): string[] {
  if (computed === null) return [];
  const { rounds, verdict, largest_difference: largest, first } = computed;
  const again = `computed again: ${plural(rounds, 'round')}`;
  if (verdict === 'identical') return [`${again}, identical`];
  if (verdict === 'within-1e-9') return [`${again}, within 1e-9 (largest difference ${largest.toExponential(1)})`];
  return [`${again}, differs at round ${first?.round}, run ${first?.run}`];
}
