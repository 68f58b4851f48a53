/** The last reports of launchers, in memory: they come every few seconds, and follow from the launchers' own records. */
import type { Clock } from '../../base/clock.ts';
import type {
  Launcher,
  LauncherListResponse,
  LauncherReport,
  LauncherReportResponse,
  UnservedRuns,
} from '../../contract/types.ts';

/** A launcher beyond this number replaces the longest silent one. */
const MAX_LAUNCHERS = 50;
/** A launcher is current until so many further reports are missing, and at least for `GRACE_MS`. */
const MISSED = 3;
const GRACE_MS = 30_000;

interface Received {
  report: LauncherReport;
  atMs: number;
}

export class LauncherReports {
  readonly #received = new Map<string, Received>();

  take(report: LauncherReport, now: number): LauncherReportResponse {
    // Inserted anew: the map is in the order of the last reports.
    this.#received.delete(report.launcher);
    if (this.#received.size >= MAX_LAUNCHERS) this.#received.delete(this.#received.keys().next().value as string);
    this.#received.set(report.launcher, { report, atMs: now });
    return { reported_at: new Date(now).toISOString() };
  }

  list(now: number): Launcher[] {
    return [...this.#received.values()]
      .map(({ report, atMs }) => ({
        ...report,
        reported_at: new Date(atMs).toISOString(),
        current: now < atMs + Math.max(GRACE_MS, MISSED * report.poll_seconds * 1_000),
      }))
      .toSorted((a, b) => (a.launcher < b.launcher ? -1 : 1));
  }

  /** The reports of the current launchers on runs of this batch that no queue can execute; undefined without a current launcher. */
  unservedOf(batchId: string, now: number): UnservedRuns[] | undefined {
    const current = this.list(now).filter((it) => it.current);
    if (current.length === 0) return undefined;
    const unserved = current.map((it) => it.unserved.filter(({ batches }) => batches.includes(batchId)));
    // Another launcher may have a queue that fits.
    return unserved.every((it) => it.length > 0) ? unserved.flat() : [];
  }
}

/** The part of the coordinator that keeps reports. */
interface ReportsCore {
  readonly clock: Pick<Clock, 'now'>;
  readonly launcherReports: LauncherReports;
}

/** Keeps the report until the next one of the launcher; it is not stored. */
export const reportLauncher = (
  { launcherReports, clock }: ReportsCore,
  report: LauncherReport,
): LauncherReportResponse => launcherReports.take(report, clock.now());

export const launchers = ({ launcherReports, clock }: ReportsCore): LauncherListResponse => ({
  launchers: launcherReports.list(clock.now()),
});
