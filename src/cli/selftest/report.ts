/** The report of a selftest: the table of kills, the figures, and the verdict. */
import type { VerifyReport } from '../../coordinator/repair/verify.ts';
import { formatDuration, plural } from '../terminal/format.ts';
import { renderPairs, renderTable } from '../terminal/table.ts';
import type { DiskReport } from './disk.ts';
import type { DisturbedOutcome, Executions } from './execute.ts';
import { KILL_POINTS, type KillPoint } from './kill-points.ts';

export interface SelftestReport {
  seed: number;
  /** The folder of the test; it is removed unless the test failed or was to keep it. */
  folder: string;
  isKept: boolean;
  /** Runs of the study. */
  runs: number;
  undisturbedSecs: number;
  disturbedSecs: number;
  disturbed: DisturbedOutcome;
  executions: Executions;
  verified: VerifyReport;
  disk: DiskReport;
}

const COLUMNS = [
  { name: 'Point' },
  { name: 'Killed' },
  { name: 'Kills', align: 'right' },
  { name: 'Outcome', shrink: 16 },
  { name: 'Meaning', shrink: 20 },
] as const;
const MAX_DIFFERENCES = 20;

/** True when all results are equal, all points were reached and the data directory has no fault. */
export const isPassed = ({ disturbed, verified }: SelftestReport): boolean =>
  disturbed.differences.length === 0 && disturbed.notReached.length === 0 && verified.faults.length === 0;

/** One row for each point of the plan. Pure. */
function rowsOf({ disturbed }: SelftestReport): { point: KillPoint; kills: number; outcome: string }[] {
  return KILL_POINTS.flatMap((point) => {
    const own = disturbed.kills.filter((it) => it.point === point);
    const missed = disturbed.notReached.filter((it) => it === point).length;
    if (own.length + missed === 0) return [];
    const longest = Math.max(0, ...own.map((it) => it.recoveryMs));
    const recovered = point.victim === 'simulation' ? 'run repeated' : `back within ${formatDuration(longest / 1000)}`;
    const outcome = [own.length > 0 ? recovered : '', missed > 0 ? `${missed} not reached` : ''].filter(
      (it) => it !== '',
    );
    return [{ point, kills: own.length, outcome: outcome.join(', ') }];
  });
}

/** The report as text for a terminal. Pure. */
export function reportText(report: SelftestReport, width = Number.POSITIVE_INFINITY): string {
  const { disturbed, executions, verified, disk } = report;
  const table = renderTable(
    COLUMNS,
    rowsOf(report).map(({ point, kills, outcome }) => [point.name, point.victim, kills, outcome, point.text]),
    { width },
  );
  const figures = renderPairs(
    [
      ['seed', `${report.seed} (--seed ${report.seed} repeats the same kills)`],
      ['undisturbed', `${plural(report.runs, 'run')} in ${formatDuration(report.undisturbedSecs)}`],
      [
        'disturbed',
        `${plural(disturbed.studies, 'execution')} of the study, ${plural(disturbed.runs, 'run')}, ` +
          `${plural(disturbed.attempts, 'attempt')} in ${formatDuration(report.disturbedSecs)}`,
      ],
      [
        'executions',
        `${executions.begun} begun; ${plural(executions.runsBegunTwice, 'run')} begun more than once, ` +
          `${plural(executions.runsDoneTwice, 'run')} executed to the end more than once`,
      ],
      ['data directory', `${plural(verified.records, 'record')} verified, ${plural(faultsOf(verified), 'fault')}`],
      [
        'disk',
        `${disk.fileSystem}, synced write of 4 KiB: median ${micros(disk.medianUs)}, p99 ${micros(disk.p99Us)} ` +
          `(${plural(disk.writes, 'write')})`,
      ],
      ['', disk.finding],
    ],
    width,
  );
  const problems = [...disturbed.differences.slice(0, MAX_DIFFERENCES), ...verified.faults.slice(0, MAX_DIFFERENCES)];
  const omitted = disturbed.differences.length + verified.faults.length - problems.length;
  if (omitted > 0) problems.push(`and ${omitted} more`);
  return [table, figures, ...(problems.length > 0 ? [problems.join('\n')] : []), verdictOf(report)].join('\n\n');
}

/** One sentence. Pure. */
export function verdictOf(report: SelftestReport): string {
  const { disturbed, verified } = report;
  const kills = plural(disturbed.kills.length, 'kill');
  if (isPassed(report))
    return `passed: after ${kills} each of ${plural(disturbed.runs, 'run')} has exactly one result, equal bit by bit to that of the undisturbed study`;
  const reasons = [
    disturbed.differences.length > 0 ? plural(disturbed.differences.length, 'difference') : '',
    verified.faults.length > 0 ? `${plural(faultsOf(verified), 'fault')} in the data directory` : '',
    disturbed.notReached.length > 0 ? `${plural(disturbed.notReached.length, 'point')} not reached` : '',
  ].filter((it) => it !== '');
  return `failed: after ${kills}: ${reasons.join(', ')}; the folder ${report.folder} is kept`;
}

/** The report for programs. Pure. */
export function reportJson(report: SelftestReport): object {
  const { disturbed, executions, verified, disk } = report;
  return {
    passed: isPassed(report),
    verdict: verdictOf(report),
    seed: report.seed,
    folder: report.isKept ? report.folder : null,
    undisturbed: { runs: report.runs, seconds: report.undisturbedSecs },
    disturbed: {
      studies: disturbed.studies,
      runs: disturbed.runs,
      attempts: disturbed.attempts,
      seconds: report.disturbedSecs,
      kills: disturbed.kills.length,
    },
    executions: {
      begun: executions.begun,
      runs_begun_more_than_once: executions.runsBegunTwice,
      runs_completed_more_than_once: executions.runsDoneTwice,
    },
    points: rowsOf(report).map(({ point, kills, outcome }) => ({
      point: point.name,
      killed: point.victim,
      kills,
      outcome,
    })),
    differences: disturbed.differences,
    verify: { records: verified.records, faults: verified.faults, faults_omitted: verified.faultsOmitted },
    disk: {
      file_system: disk.fileSystem,
      mount_point: disk.mountPoint,
      writes: disk.writes,
      median_us: disk.medianUs,
      p99_us: disk.p99Us,
      verdict: disk.verdict,
      finding: disk.finding,
    },
  };
}

const faultsOf = (verified: VerifyReport): number => verified.faults.length + verified.faultsOmitted;
const micros = (us: number): string => (us < 1000 ? `${us.toFixed(0)} us` : `${(us / 1000).toFixed(1)} ms`);
