/** `simbatch status`: shows progress and findings of a study; without a study, of all open ones and the pool. */
import type { Command } from 'commander';
import type { Client } from '../../../client/client.ts';
import { RELATION_WORDS } from '../../../contract/enums.ts';
import type { Batch, BatchHistory, BatchStatusResponse } from '../../../contract/types.ts';
import {
  formatAgo,
  formatDuration,
  formatNumber,
  formatTimestamp,
  plural,
  printable,
  shortId,
} from '../../terminal/format.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { outputWidth, writeJson, writeLine, writeText } from '../../terminal/output.ts';
import { doneOf, formatCounts, percentDone, statusText, waitingText } from '../../progress/progress-text.ts';
import { stragglersText, timeLeftText } from '../../progress/time-left.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { renderPairs, type Pair } from '../../terminal/table.ts';
import { failureLines, verdictLines, precisionLines } from '../../study/answer-text.ts';
import { answerLines, answerOf, stepLines } from '../../progress/answer-line.ts';
import { failuresOf, tookSecs } from '../../progress/outcome.ts';
import { paint, statusTone } from '../../terminal/colour.ts';
import { budgetText } from '../../../domain/budgets/budget-text.ts';
import { poolText } from '../../../domain/counted/counts.ts';
import { poolLine } from '../pool/runners.ts';
import { systemClock } from '../../../base/clock.ts';
import { declaredPrecision, declaredVerdicts } from '../../study/verdicts.ts';
import { findingLines, findingTone, isDoubtful } from '../../study/findings.ts';
import type { WatchFlags } from './watch.ts';

/** Most events of its history that are shown. */
const MAX_EVENTS = 10;
/** Most open studies that are explained one by one; further ones are only counted. */
const MAX_EXPLAINED = 20;

export function statusCommand(): Command {
  return clientCommand('status', 'show the progress of a study, or of all, and why it is not running')
    .argument('[study]', BATCH_ARGUMENT)
    .option('--strict', 'with a study: exit with 3 when its limits were not really checked')
    .action(async (reference: string | undefined, flags: WatchFlags) => {
      if (flags.strict === true && reference === undefined)
        throw new Failure(EXIT.usage, '--strict is for one study: name it');
      const client = await connect(flags);
      return reference === undefined ? showAll(client, flags) : showBatch(client, reference, flags);
    });
}

/** Prints the detail of one study: `simbatch status STUDY` and `simbatch study STUDY`. */
export async function showBatch(client: Client, reference: string, flags: WatchFlags): Promise<void> {
  const batchId = await resolveBatch(client, reference);
  const answer = await answerOf(client, batchId);
  const status = await client.batch(batchId);
  const findings = await client.findings(status.batch.id);
  const { events } = await client.batchHistory(status.batch.id);
  if (flags.strict === true && findings.some(isDoubtful)) process.exitCode = EXIT.runsFailed;
  const requirements = await declaredVerdicts(client, status);
  const precision = await declaredPrecision(client, status);
  if (flags.format === 'json')
    return writeJson({ ...status, answer, findings, requirements, precision, history: events });
  const isOpen = status.batch.status === 'Pending' || status.batch.status === 'Running';
  const failures = isOpen ? [] : await failuresOf(client, status);
  await writeText(answerLines(answer));
  await writeLine(renderPairs(batchPairs(status), outputWidth()));
  await writeText([
    ...historyLines(events),
    ...failureLines({ failures }),
    ...verdictLines(requirements, { headline: answer?.sentence }),
    ...precisionLines(precision),
    ...findings.flatMap((it) => findingLines([it]).map((line) => paint(line, findingTone(it)))),
    ...stepLines(answer),
  ]);
}

/** `2026-03-01 12:00:00 UTC (3m ago)`. */
const when = (timestamp: string | undefined): string | undefined =>
  timestamp === undefined
    ? undefined
    : `${formatTimestamp(timestamp)} UTC (${formatAgo(timestamp, systemClock.now())})`;

function batchPairs(status: BatchStatusResponse): Pair[] {
  const { batch, jobs_by_status: counts, throughput_jobs_per_minute: rate } = status;
  const isOpen = batch.status === 'Pending' || batch.status === 'Running';
  const done = doneOf(counts);
  const secs = tookSecs(status);
  return [
    ['study', batch.id],
    ['name', batch.name],
    ['status', statusText(batch), statusTone(batch.status)],
    ...relationPairs(batch),
    ['paused', batch.paused === true ? (batch.pause_reason ?? 'no new runs are assigned') : undefined, 'warning'],
    ['submitted', when(batch.created_at)],
    ['started', when(batch.started_at)],
    ['ended', when(batch.ended_at)],
    ['took', secs === undefined ? undefined : formatDuration(secs)],
    [batch.stopped_at_run_id === undefined ? 'cancelled' : 'stopped', batch.cancel_reason],
    ['rounds', batch.rounds === undefined ? undefined : roundsText(batch)],
    ['waiting', waitingText(batch, systemClock.now()), 'warning'],
    [
      'progress',
      isOpen && !grows(batch) ? `${percentDone(done, batch.total_jobs)}% ${done}/${batch.total_jobs}` : undefined,
    ],
    ['runs', formatCounts(counts)],
    ['early ends', earlyEnds(batch)],
    ['reused', reusedRuns(batch)],
    ['throughput', isOpen ? `${formatNumber(rate, 3)} runs/min` : undefined],
    [
      grows(batch) ? 'this round' : 'time left',
      isOpen && batch.waiting_for_rows !== true ? timeLeftText(status) : undefined,
    ],
    ['stragglers', stragglersText(status)],
  ];
}

/** True while rounds can be appended. */
const grows = ({ budget, closed }: Batch): boolean => budget !== undefined && closed !== true;

const roundsText = ({ rounds = 0, total_jobs: total, budget = total, closed }: Batch): string =>
  `${rounds}, with ${total} of up to ${plural(budget, 'run')}${closed === true ? ', closed' : ''}`;

/** The labels of a study, the study that it came of, and those that came of it. */
function relationPairs({ labels = {}, parent, children = [] }: Batch): Pair[] {
  const pairs: Pair[] = Object.entries(labels).map(([key, value]) => ['label', `${key}=${value}`]);
  if (parent !== undefined) pairs.push([`${RELATION_WORDS[parent.relation]} of`, parent.batch_id]);
  for (const { batch_id: id, relation } of children) pairs.push([`has ${RELATION_WORDS[relation]}`, id]);
  return pairs;
}

/** The latest events beside the submission, the start and the end, which have lines of their own. */
function historyLines(events: BatchHistory['events']): string[] {
  return events
    .filter(({ type }) => type !== 'submitted' && type !== 'started' && type !== 'ended')
    .slice(-MAX_EVENTS)
    .map(
      ({ at, type, by, reason }) =>
        `${formatTimestamp(at)}  ${type}${by === undefined ? '' : ` by ${printable(by)}`}${reason === undefined ? '' : `: ${printable(reason)}`}`,
    );
}

/** The failed runs that a limit of the study ended. */
const earlyEnds = ({ terminated_jobs: count }: Batch): string | undefined =>
  count === undefined ? undefined : `${plural(count, 'failed run')} met an early-termination condition`;

/** The ended runs that were not executed. */
const reusedRuns = ({ reused_jobs: count }: Batch): string | undefined =>
  count === undefined
    ? undefined
    : `${plural(count, 'run')} not executed: the results of finished runs with the same key`;

async function showAll(client: Client, flags: ClientFlags): Promise<void> {
  const pool = await client.runners();
  const { budgets } = await client.budgets();
  const open: Batch[] = [];
  for await (const batch of client.batches({ status: ['Pending', 'Running'] })) open.push(batch);
  const explained: { status: BatchStatusResponse; lines: string[] }[] = [];
  for (const batch of open.slice(0, MAX_EXPLAINED)) {
    const status = await client.batch(batch.id);
    explained.push({ status, lines: findingLines(await client.findings(batch.id)) });
  }
  if (flags.format === 'json') {
    const { runners: _, ...counts } = pool;
    return writeJson({
      endpoint: client.endpoint,
      ...counts,
      ...(budgets.length > 0 && { budgets }),
      open_batches: open,
    });
  }
  await writeLine(`coordinator  ${client.endpoint}`);
  await writeLine(`runners      ${pool.runners.length === 0 ? 'none has registered' : poolLine(pool)}`);
  for (const it of pool.site_resources ?? []) await writeLine(`resource     ${poolText(it)}`);
  for (const it of budgets) await writeLine(`budget       ${printable(budgetText(it))}`);
  await writeLine(`studies      ${open.length === 0 ? 'none open' : `${open.length} open`}`);
  for (const { status, lines } of explained) {
    const { batch, jobs_by_status: counts } = status;
    await writeLine();
    const reused = batch.reused_jobs === undefined ? '' : `, ${batch.reused_jobs} reused`;
    const ended = `${doneOf(counts)} of ${plural(batch.total_jobs, 'run')} ended${reused}`;
    const waiting = batch.waiting_for_rows === true ? ', waits for rows' : '';
    await writeText([
      `${shortId(batch.id)}  ${printable(batch.name)}: ${ended}${waiting}`,
      ...lines.map((line) => `  ${line}`),
    ]);
  }
  if (open.length > explained.length)
    await writeLine(
      `\nand ${plural(open.length - explained.length, 'more open study', 'more open studies')}: simbatch studies --status Pending,Running`,
    );
}
