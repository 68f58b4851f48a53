/** `simbatch top`: the pool and the open studies on the whole screen, drawn again every second. */

import { sleep, systemClock } from '../../base/clock.ts';
import { UnreachableError, type Client } from '../../client/client.ts';
import { newestBatches } from '../../client/newest-batches.ts';
import type { Batch, RunnerListResponse } from '../../contract/types.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { connect, endpointOption } from '../options.ts';
import { Command } from 'commander';
import { EtaEstimator } from '../progress/eta.ts';
import { leftText, percentDone } from '../progress/progress-text.ts';
import { paint } from '../terminal/colour.ts';
import { formatRate, plural, printable, shortId } from '../terminal/format.ts';
import type { ListColumn } from '../terminal/list.ts';
import { Screen } from '../terminal/full-screen.ts';
import { renderTable, type Column } from '../terminal/table.ts';
import { poolText } from '../../domain/counted/counts.ts';
import { runnerColumns } from './pool/runners.ts';
import { studyColumns } from './studies/studies.ts';

const REFRESH_MS = 1_000;
/** Studies that have ended are shown below the open ones. */
const SHOWN_ENDED = 5;

export function topCommand(): Command {
  return new Command('top')
    .description('studies and runners on the whole screen, drawn again every second; q ends it')
    .addOption(endpointOption())
    .action(async (flags: { endpoint?: string }) => {
      if (!process.stdout.isTTY || !process.stdin.isTTY)
        throw new Failure(EXIT.usage, 'top needs a terminal; elsewhere use simbatch status');
      const client = await connect(flags);
      const screen = new Screen(process.stdin, process.stdout);
      try {
        await draw(client, screen);
      } finally {
        screen.close();
      }
    });
}

async function draw(client: Client, screen: Screen): Promise<void> {
  const paces = new Map<string, EtaEstimator>();
  let last: string[] = [];
  while (!screen.ended.aborted) {
    try {
      last = await view(client, paces, screen.columns);
      screen.show(last);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      const since = paint('the coordinator does not answer; the last known state:', 'warning');
      screen.show([since, ...last]);
    }
    await sleep(systemClock, REFRESH_MS, screen.ended);
  }
}

/** The latest studies, and those that are open. */
interface Studies {
  open: Batch[];
  ended: Batch[];
}

async function studiesOf(client: Client): Promise<Studies> {
  const open: Batch[] = [];
  for await (const batch of client.batches({ status: ['Pending', 'Running'] })) open.push(batch);
  const ended = await newestBatches(client, SHOWN_ENDED, { status: ['Completed', 'Failed', 'Cancelled'] });
  return { open, ended };
}

const OPEN: readonly Column[] = [
  { name: 'study' },
  { name: 'name', shrink: 10 },
  { name: 'done', align: 'right' },
  { name: 'runs', align: 'right' },
  { name: 'failed', align: 'right', tone: (text) => (text === '0' ? undefined : 'bad') },
  { name: 'rate', align: 'right', rank: 1 },
  { name: 'left', rank: 2 },
];

async function view(client: Client, paces: Map<string, EtaEstimator>, width: number): Promise<string[]> {
  const [pool, { open, ended }] = await Promise.all([client.runners(), studiesOf(client)]);
  const now = systemClock.now();
  const rows = open.map((it) => {
    const pace = paces.get(it.id) ?? new EtaEstimator();
    paces.set(it.id, pace);
    const done = it.completed_jobs + it.failed_jobs;
    pace.see(now, done);
    return [
      shortId(it.id),
      printable(it.name),
      `${percentDone(done, it.total_jobs)}%`,
      `${done}/${it.total_jobs}`,
      it.failed_jobs,
      formatRate(pace.perSecond),
      it.paused === true ? 'paused' : (leftText(pace.secondsLeft(it.total_jobs), now) ?? '-'),
    ];
  });
  const columns = studyColumns(now);
  return [
    headOf(client, pool, open.length),
    ...(pool.site_resources ?? []).map((it) => printable(poolText(it))),
    '',
    ...(rows.length === 0
      ? ['no study is open; submit one with `simbatch submit STUDY`']
      : renderTable(OPEN, rows, { width }).split('\n')),
    ...tableOf('ended', columns, ended, width),
    ...tableOf('runners', runnerColumns(pool.runners, now), pool.runners, width),
  ];
}

function headOf(client: Client, pool: RunnerListResponse, open: number): string {
  const running = pool.runners.reduce((sum, it) => sum + it.current_jobs.length, 0);
  const slots = pool.runners.reduce(
    (sum, it) => sum + (it.status === 'Offline' ? 0 : it.capabilities.max_concurrent_jobs),
    0,
  );
  const time = new Date(systemClock.now()).toTimeString().slice(0, 8);
  const studies = plural(open, 'open study', 'open studies');
  return `${paint('simbatch', 'strong')} ${time}  ${running}/${slots} slots in use  ${studies}  q: quit  ${client.endpoint}`;
}

function tableOf<T>(title: string, columns: readonly ListColumn<T>[], items: readonly T[], width: number): string[] {
  if (items.length === 0) return [];
  const rows = items.map((item) => columns.map((it) => it.cell?.(item) ?? String(it.value(item) ?? '-')));
  return ['', paint(title, 'strong'), ...renderTable(columns, rows, { width }).split('\n')];
}
