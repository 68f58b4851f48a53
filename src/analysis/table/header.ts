/** The beginning of every answer: how many runs it uses, which it leaves out, and what limits it. */
import type { MissingRule } from '../../contract/types.ts';
import { noSampleOf, type DesignMethod } from '../../domain/study/design-method.ts';
import { plural } from '../../domain/plural.ts';
import type { Warning } from '../warning.ts';
import { listed } from '../wording.ts';
import { type RunClass, RUN_CLASSES } from './run-class.ts';
import { type RunTable, classOf, countClasses, countReused, prefixRuns, runsOf } from './run-table.ts';

/** Why a run is not used: its class, no finite value of the output, a place after the complete prefix, or the choice of the runs. */
export type Exclusion =
  RunClass | 'no_value' | 'after_prefix' | 'after_settled' | 'after_stop' | 'not_selected' | 'not_drawn' | 'not_read';

export interface AnswerHeader {
  batch_id: string;
  /** All runs of the study. */
  of: number;
  n_used: number;
  /** The other runs; together with `n_used` they are `of`. */
  excluded: Partial<Record<Exclusion, number>>;
  /** Of all runs, those that have the result of another run and were not executed; absent: none. */
  reused?: number;
  /** The longest beginning of the run order without an open run. */
  prefix: { length: number; of: number };
  warnings: Warning[];
}

const LEFT_OUT: Readonly<Record<Exclusion, string>> = {
  ok: 'completed',
  terminated: 'terminated early',
  crashed: 'crashed',
  timeout: 'timed out',
  lost: 'lost',
  cancelled: 'cancelled',
  open: 'open',
  no_value: 'completed without a value',
  after_prefix: 'after the first open run',
  after_settled: 'after the run that settled the study',
  after_stop: 'after the run at which the study stopped',
  not_selected: 'not selected',
  not_drawn: 'not drawn',
  not_read: 'not readable',
};

/** Which runs an answer uses. */
export interface Use {
  /** `ok` alone when absent. */
  classes?: readonly RunClass[];
  /** How many runs of these classes are used; all when absent, and the others have no value. */
  used?: number;
  /** True: no run after the complete prefix is used. */
  prefixOnly?: boolean;
}

/** The header of an answer that uses runs of some classes. */
export function answerHeader(table: RunTable, { classes = ['ok'], used, prefixOnly = false }: Use = {}): AnswerHeader {
  const prefix = prefixRuns(table);
  const all = runsOf(table);
  const end = table.settledRows ?? all;
  const runs = prefixOnly ? Math.min(prefix, end) : end;
  const counts = countClasses(table, runs);
  const excluded: AnswerHeader['excluded'] = {};
  let candidates = 0;
  for (const name of RUN_CLASSES) {
    if (classes.includes(name)) candidates += counts[name];
    else if (counts[name] > 0) excluded[name] = counts[name];
  }
  const nUsed = used ?? candidates;
  if (nUsed < candidates) excluded.no_value = candidates - nUsed;
  if (runs < end) excluded.after_prefix = end - runs;
  if (end < all) excluded[table.stoppedBy === 'precise' ? 'after_stop' : 'after_settled'] = all - end;
  return headerOf(table, nUsed, excluded, prefix);
}

/** The header of an answer that uses the rows marked with 1. */
export const markedRowsHeader = (table: RunTable, used: Uint8Array): AnswerHeader =>
  rowsHeader(table, (row) => {
    const name = classOf(table, row);
    return used[row] === 1 ? undefined : name === 'ok' ? 'no_value' : name;
  });

/** The header of an answer that uses the rows for which there is no reason against it. */
export function rowsHeader(table: RunTable, reasonOf: (row: number) => Exclusion | undefined): AnswerHeader {
  const excluded: AnswerHeader['excluded'] = {};
  let count = 0;
  for (let row = 0; row < table.rows; row++) {
    const reason = reasonOf(row);
    if (reason === undefined) count++;
    else excluded[reason] = (excluded[reason] ?? 0) + 1;
  }
  const { absent } = table;
  if (absent !== undefined) excluded[absent.class] = (excluded[absent.class] ?? 0) + absent.runs;
  return headerOf(table, count, excluded, prefixRuns(table));
}

function headerOf(table: RunTable, used: number, excluded: AnswerHeader['excluded'], prefix: number): AnswerHeader {
  const of = runsOf(table);
  const reused = countReused(table);
  const counts = { of, n_used: used, excluded, ...(reused === 0 ? {} : { reused }) };
  const warnings = [
    ...epistemicWarnings(table),
    ...unfinishedWarnings(table),
    ...reusedWarnings(reused, of),
    ...leftOutWarnings(counts),
  ];
  return { batch_id: table.batchId, ...counts, prefix: { length: prefix, of }, warnings };
}

/** Of a study with epistemic inputs: how far its answers hold for the intervals. */
export function epistemicWarnings({ cells }: RunTable): Warning[] {
  if (cells?.epistemic === undefined || cells.epistemic.length === 0) return [];
  const message = `bounds are over the cells that were run, an inner approximation of the intervals of ${listed(cells.epistemic)}: between its levels an output may be outside of them; where it is monotone in each, the ends are exact`;
  return [{ code: 'epistemic-inner', message }];
}

/** The first warnings of an answer about a study that is not over, or that was cancelled. */
export function unfinishedWarnings(table: RunTable): Warning[] {
  const { settledRows } = table;
  if (settledRows !== undefined && table.stoppedBy === 'precise') return stoppedWarnings(settledRows);
  if (settledRows !== undefined) {
    const message = `the study stopped at the run that settled its requirements, the last of ${settledRows}: a study that stops at a pleasant moment has a biased mean`;
    return [{ code: 'settled', message }];
  }
  const { open, cancelled } = countClasses(table);
  return unfinishedWarningsOf({ of: runsOf(table), open, cancelled });
}

/** The first warnings of an answer about a study that stopped at its precision. */
export function stoppedWarnings(runs: number): Warning[] {
  const message = `the study stopped after ${runs} runs, at which every precision was reached: intervals of a fixed number of runs may hold less often than their confidence there, those of the precisions do not`;
  return [{ code: 'stopped', message }];
}

/** The first warnings of an answer, from the numbers of runs alone. */
export function unfinishedWarningsOf({ of, open, cancelled }: Record<'of' | 'open' | 'cancelled', number>): Warning[] {
  const warnings: Warning[] = [];
  if (open > 0) {
    const message = `${open} of ${of} runs are open: runs that end early are not a fair sample of all runs`;
    warnings.push({ code: 'unfinished', message });
  }
  if (cancelled > 0) {
    const message = `${cancelled} of ${of} runs were cancelled: the completed runs may not be a fair sample of all runs`;
    warnings.push({ code: 'cancelled', message });
  }
  return warnings;
}

/** `100 of 160 runs were not executed: they have the results of earlier runs`, for studies with such runs. */
export function reusedWarnings(reused: number, of: number): Warning[] {
  if (reused === 0) return [];
  const clause =
    reused === 1
      ? 'was not executed: it has the result of an earlier run'
      : 'were not executed: they have the results of earlier runs';
  return [{ code: 'reused', message: `${reused} of ${plural(of, 'run')} ${clause}` }];
}

type RunCounts = Pick<AnswerHeader, 'of' | 'n_used' | 'excluded' | 'reused'>;

/** `statistics of 66 of 200 runs (20 reused): 134 terminated early and left out`. */
export function usedRunsSentence({ of, n_used: nUsed, excluded, reused }: RunCounts): string {
  const parts = Object.entries(excluded).map(([name, count]) => `${count} ${LEFT_OUT[name as Exclusion]}`);
  const rest = parts.length === 0 ? '' : `: ${parts.join(', ')} and left out`;
  const origin = reused === undefined ? '' : ` (${reused} reused)`;
  return `statistics of ${nUsed} of ${of} runs${origin}${rest}`;
}

function leftOutWarnings(counts: RunCounts): Warning[] {
  if (counts.n_used === counts.of) return [];
  return [{ code: 'runs-left-out', message: usedRunsSentence(counts) }];
}

/** For answers that take the runs as a sample of the dispersions. */
export function sampleWarnings(method: DesignMethod): Warning[] {
  const limit = noSampleOf(method);
  return limit === undefined ? [] : [{ code: limit.code, message: limit.message }];
}

/** For answers whose error model asks for independent runs. */
export function dependenceWarnings(method: DesignMethod): Warning[] {
  if (method === 'monte_carlo') return [];
  if (noSampleOf(method) !== undefined) return sampleWarnings(method);
  if (method === 'table') {
    const message =
      'the rows of a table are taken as independent draws from the distribution of interest: for a grid or rows chosen by hand, intervals and verdicts do not hold';
    return [{ code: 'assumes-independent-rows', message }];
  }
  const message = `the runs of a ${method} design are not independent: intervals and verdicts that assume it are usually wider than necessary`;
  return [{ code: 'not-independent', message }];
}

/** For answers with quantiles whose asker has said why runs are missing. */
export function missingWarnings(missing: MissingRule = 'any'): Warning[] {
  if (missing === 'any') return [];
  const message =
    'missing at random, as asked for: crashed, timed-out and lost runs are left out of the quantiles as if their cause had nothing to do with the outputs';
  return [{ code: 'missing-at-random', message }];
}
