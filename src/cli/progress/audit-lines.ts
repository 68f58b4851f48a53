/** The comparison of a spot check with the runs that it repeats, for people. */
import type { AuditAnswer } from '../../contract/types.ts';
import { plural, printable } from '../terminal/format.ts';
import { renderTable, tableOptions, type Column } from '../terminal/table.ts';

const COLUMNS: readonly Column[] = [
  { name: 'run', align: 'right' },
  { name: 'class' },
  { name: 'runner', shrink: 12 },
  { name: 'differs in', shrink: 16 },
];

/** Differing runs that are listed. */
const MAX_LISTED = 20;

/** The sentence, the runs that cannot be compared, the runs that differ, and the pairs of runners with their differing capabilities. */
export function auditLines(answer: AuditAnswer, output = 'table'): string[] {
  const lines = [printable(answer.sentence)];
  if (answer.not_compared > 0)
    lines.push(`${plural(answer.not_compared, 'run')} cannot be compared: cancelled, lost, or without the original`);
  if (answer.differing === 0) return lines;
  const listed = answer.differing_runs
    .slice(0, MAX_LISTED)
    .map((it) => [
      it.run_id,
      arrow(it.before.class, it.after.class),
      arrow(it.before.runner_id, it.after.runner_id),
      it.outputs.map(({ name }) => name).join(', '),
    ]);
  lines.push('', renderTable(COLUMNS, listed, tableOptions(output)));
  const rest = answer.differing - MAX_LISTED;
  if (rest > 0) lines.push(`and ${plural(rest, 'more run')}: \`simbatch audit -f json\` lists them`);
  for (const { before, after, compared, differing, capabilities } of answer.runners) {
    const differs = capabilities.map((it) => `${it.name} ${String(it.before)} -> ${String(it.after)}`);
    const stated = differs.length === 0 ? '' : `; they state ${differs.join(', ')}`;
    lines.push(printable(`${arrow(before, after)}: ${differing} of ${compared} differ${stated}`));
  }
  return lines;
}

const arrow = (before: string, after: string): string => (before === after ? before : `${before} -> ${after}`);
