/** The last reports of launchers, in memory: they come every few seconds, and follow from the launchers' own records. */
import type { Clock } from '../../base/clock.ts';
import { endRunners, type EndedParts } from './ended-allocations.ts';
import type {
  Launcher,
  LauncherListResponse,
  LauncherReport,
  LauncherReportResponse,
  UnservedRuns,
} from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';

/** A launcher beyond this number replaces the longest silent one. */
const MAX_LAUNCHERS = 50;
/** A launcher is current until so many further reports are missing, and at least for `GRACE_MS`. */
const MISSED = 3;
const GRACE_MS = 30_000;

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

  /** The reports of the current launchers on runs of this batch that no queue can execute; undefined without a current launcher. */
  unservedOf(batchId: string, now: number): UnservedRuns[] | undefined {
    const current = this.list(now).filter((it) => it.current);
    if (current.length === 0) return undefined;
    const unserved = current.map((it) => it.unserved.filter(({ batches }) => batches.includes(batchId)));
    // Another launcher may have a queue that fits.
    return unserved.every((it) => it.length > 0) ? unserved.flat() : [];
  }
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
