/** The last reports of launchers, in memory: they come every few seconds, and follow from the launchers' own records. */
import type { Clock } from '../../base/clock.ts';
import { endRunners, type EndedParts } from './ended-allocations.ts';
import type {
  EndedAllocation,
  Launcher,
  LauncherListResponse,
  LauncherReport,
  LauncherQueue,
  LauncherReportResponse,
  QueueDemand,
} from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { LaunchersAbout } from '../../domain/findings/finding.ts';
import { plural } from '../../domain/plural.ts';

/** A launcher beyond this number replaces the longest silent one. */
const MAX_LAUNCHERS = 50;
/** A launcher is current for so many of its rounds, and at least for `GRACE_MS`: it also reports every five seconds, however long a round takes. */
const MISSED = 2;
const GRACE_MS = 12_000;
/** Ends by which the cluster, and not the launcher, has taken an allocation: a person whose runs wait again learns of the last one. */
const TAKEN: ReadonlySet<EndedAllocation['end']> = new Set(['preempted', 'evicted', 'node-failure', 'out-of-memory']);

/** A launcher that has not reported for longer is not missed. */
const REMEMBERED_MS = 7 * 86_400_000;

interface Received {
  /** The launch tokens that may replace it while it is current; undefined: every one. */
  owner: string | undefined;
  report: LauncherReport;
  atMs: number;
}

export class LauncherReports {
  readonly #received = new Map<string, Received>();

  /** @throws SimbatchError `forbidden` for the name of a current launcher with another owner */
  take(report: LauncherReport, now: number, owner: string | undefined): LauncherReportResponse {
    const former = this.#received.get(report.launcher);
    if (former !== undefined && former.owner !== owner && isCurrent(former, now)) {
      throw new SimbatchError(
        'forbidden',
        `another launch token reports as launcher ${JSON.stringify(report.launcher)}; give this one another \`launcher\` in launcher.yaml, or create both tokens with the same --prefix`,
      );
    }
    // Inserted anew: the map is in the order of the last reports.
    this.#received.delete(report.launcher);
    if (this.#received.size >= MAX_LAUNCHERS) this.#received.delete(this.#received.keys().next().value as string);
    this.#received.set(report.launcher, { report, atMs: now, owner });
    return { reported_at: new Date(now).toISOString() };
  }

  list(now: number): Launcher[] {
    return [...this.#received.values()]
      .map((it) => ({ ...it.report, reported_at: new Date(it.atMs).toISOString(), current: isCurrent(it, now) }))
      .toSorted((a, b) => (a.launcher < b.launcher ? -1 : 1));
  }

  /** The reports of the launchers on the runs of a batch; undefined when none has reported within a week. */
  about(batchId: string, now: number): LaunchersAbout | undefined {
    const known = [...this.#received.values()].filter((it) => now < it.atMs + REMEMBERED_MS);
    if (known.length === 0) return undefined;
    const current = known.filter((it) => isCurrent(it, now)).map((it) => it.report);
    const unserved = current.map((it) => it.unserved.filter(({ batches }) => batches.includes(batchId)));
    const queues = current.flatMap((report) => {
      const prefix = current.length > 1 ? `${report.launcher}/` : '';
      return fittingQueues(report, batchId).map((it) => queueAbout(report, it, prefix, batchId));
    });
    return {
      names: current.map((it) => it.launcher).toSorted(),
      // Another launcher may have a queue that fits.
      unserved: unserved.every((it) => it.length > 0) ? unserved.flat() : [],
      queues,
      silent: known
        .filter((it) => !isCurrent(it, now))
        .map(({ report, atMs }) => ({ name: report.launcher, silentMs: now - atMs })),
    };
  }
}

/** The queues that the runs of the batch fit; all, where a launcher does not say so, or has not yet seen them. */
function fittingQueues({ queues }: LauncherReport, batchId: string): LauncherQueue[] {
  const fitting = queues.filter((it) => demandOf(it, batchId) !== undefined);
  return fitting.length === 0 ? queues : fitting;
}

const demandOf = ({ demand }: LauncherQueue, batchId: string): QueueDemand | undefined =>
  demand?.find((it) => it.batches.includes(batchId));

/** States of an allocation without a registered runner, and their words; and whether the engine has started it. */
const STARTING: readonly { states: readonly string[]; does: (count: number) => string }[] = [
  { states: ['Planned', 'Submitting', 'Queued'], does: (count) => `${count === 1 ? 'waits' : 'wait'} in the engine` },
  { states: ['Starting'], does: (count) => (count === 1 ? 'starts' : 'start') },
];

function queueAbout(
  { allocations, ended = [] }: LauncherReport,
  queue: LauncherQueue,
  prefix: string,
  batchId: string,
): LaunchersAbout['queues'][number] {
  const { name, counts, blocked, failing } = queue;
  const starting = STARTING.flatMap(({ states, does }) => {
    const count = states.reduce((sum, it) => sum + (counts[it] ?? 0), 0);
    if (count === 0) return [];
    const reasons = allocations.filter((it) => it.queue === name && states.includes(it.state)).map((it) => it.reason);
    const reason = reasons.find((it) => it !== undefined);
    return [`${plural(count, 'allocation')} ${does(count)}${reason === undefined ? '' : ` (${reason})`}`];
  });
  const isBlocked = blocked !== undefined && starting.length === 0;
  const why = blocked ?? (starting.length === 0 ? demandOf(queue, batchId)?.why : undefined);
  // The latest is the first.
  const last = ended.find((it) => it.allocation.split('/')[1] === name);
  const taken = last !== undefined && TAKEN.has(last.end) ? [`the last one has ended: ${last.reason}`] : [];
  // A reason why it is blocked names the failures.
  const clauses = [
    ...starting,
    ...(why === undefined ? [] : [why]),
    ...(blocked === undefined ? [failing ?? taken].flat() : []),
  ];
  return {
    text: `${prefix}${name}: ${clauses.join(', ') || 'nothing is submitted yet'}`,
    isBlocked,
    isStarting: starting.length > 0,
  };
}

const isCurrent = ({ report, atMs }: Received, now: number): boolean =>
  now < atMs + Math.max(GRACE_MS, MISSED * report.poll_seconds * 1_000);

/** The part of the coordinator that keeps reports. */
interface ReportsCore {
  readonly clock: Pick<Clock, 'now'>;
  readonly launcherReports: LauncherReports;
}

/**
 * Keeps the report until the next one of the launcher; it is not stored. The runs of silent runners whose allocations have ended are
 * executed again.
 * @param owner names the launch tokens that report as this launcher; undefined where none are needed.
 * @throws SimbatchError `forbidden` while a launcher of another owner reports under the same name
 */
export async function reportLauncher(
  parts: ReportsCore & EndedParts,
  report: LauncherReport,
  owner?: string,
): Promise<LauncherReportResponse> {
  const response = parts.launcherReports.take(report, parts.clock.now(), owner);
  await endRunners(parts, report.ended ?? []);
  return response;
}

export const launchers = ({ launcherReports, clock }: ReportsCore): LauncherListResponse => ({
  launchers: launcherReports.list(clock.now()),
});
