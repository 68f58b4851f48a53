/** States of runs, studies and runners, always as colour and word. */
import { JOB_STATUSES, shownStatus } from '../../../src/contract/enums.ts';
import type { JobStatus } from '../../../src/contract/types.ts';
import { hrefOf } from '../router.ts';
import { count } from './time.tsx';

export function State({ status }: { status: string }) {
  return (
    <span className="state">
      <i className={`dot s-${status.replaceAll(' ', '-')}`} aria-hidden="true" />
      {shownStatus(status)}
    </span>
  );
}

/** Order of the parts of a progress bar: completed runs first, pending runs last. */
export const BAR_ORDER: readonly JobStatus[] = [
  'Completed',
  'Failed',
  'Timeout',
  'Cancelled',
  'Running',
  'Claimed',
  'Pending',
];

interface Counts {
  batchId: string;
  counts: Record<string, number>;
  /** The answer about the study is ok: only then are its completed runs green. */
  isOk?: boolean;
  /** A condition that selects the runs that are counted, where they are a part of the study. */
  where?: string;
}

/** A bar of all runs by state; each part links to the runs in that state. */
export function StatusBar({ batchId, counts, isOk = false, where, large = false }: Counts & { large?: boolean }) {
  const total = JOB_STATUSES.reduce((sum, it) => sum + (counts[it] ?? 0), 0);
  const parts = BAR_ORDER.filter((it) => (counts[it] ?? 0) > 0);
  return (
    <div className={`status-bar${large ? ' large' : ''}${isOk ? ' ok' : ''}`} role="group" aria-label="Runs by state">
      {parts.map((it) => (
        <a
          key={it}
          className={`s-${it}`}
          href={hrefOf(['batches', batchId, 'runs'], { status: it, where })}
          style={{ flexGrow: (counts[it] ?? 0) / total, flexBasis: 0 }}
          title={`${it}: ${count(counts[it] ?? 0)}`}
          aria-label={`${count(counts[it] ?? 0)} ${it}: show these runs`}
        />
      ))}
    </div>
  );
}

export function StatusLegend({ batchId, counts, current, isOk = false }: Counts & { current: string }) {
  return (
    <div className={isOk ? 'legend ok' : 'legend'}>
      {JOB_STATUSES.filter((it) => (counts[it] ?? 0) > 0).map((it) => (
        <a
          key={it}
          href={hrefOf(['batches', batchId, 'runs'], { status: it })}
          aria-current={current === it ? 'true' : undefined}
        >
          <i className={`dot s-${it}`} aria-hidden="true" />
          {it} {count(counts[it] ?? 0)}
        </a>
      ))}
    </div>
  );
}
