/** The words about the table of a probe, the same on the command line and in the dashboard. Pure. */
import { formatNumber } from '../../base/text/number-text.ts';
import { plural } from '../plural.ts';
import { idleInputs, type ProbedEnd, type ProbeTable } from './table.ts';

/** The outputs of the simulation that a table has columns for: those of the nominal run, then those of other runs. */
export function changedOutputs({ nominal, inputs }: ProbeTable): string[] {
  const changed = inputs.flatMap(({ at_low, at_high }) => [...at_low.changes, ...at_high.changes]);
  const names = [...Object.keys(nominal.outputs), ...changed.map(({ output }) => output)];
  return [...new Set(names)].filter((name) => !name.startsWith('simbatch_'));
}

/** The change of an output relative to the nominal run: `-3.1 %`, `same`, or the end of a run that has not completed. */
export function changeText({ class: end, changes }: ProbedEnd, output: string): string {
  if (end !== 'ok') return end;
  const change = changes.find((it) => it.output === output);
  if (change === undefined) return 'same';
  if (change.relative === null) return change.value === undefined ? 'missing' : 'differs';
  const percent = formatNumber(change.relative * 100, 3);
  return `${change.relative > 0 ? '+' : ''}${percent} %`;
}

/**
 * The sentences after the table: inputs that are idle, a nominal run that has not completed, effects that are not known.
 * @param why why the nominal run has failed, or how a person sees it
 */
export function probeSentences(table: ProbeTable, why: string): string[] {
  const { nominal, inputs } = table;
  const lines = idleInputs(table).map(({ name, read }) =>
    read === 'never'
      ? `parameter-never-read: no run has looked up ${JSON.stringify(name)}`
      : `parameter-without-effect: ${JSON.stringify(name)} at its 1 % and 99 % quantile gives every output of the nominal run, to the bit`,
  );
  if (nominal.class !== 'ok') lines.push(`the nominal run has not completed (${nominal.class}): ${why}`);
  const unknown = inputs.filter(({ effect }) => effect === 'unknown');
  if (unknown.length > 0)
    lines.push(`the effect of ${plural(unknown.length, 'input')} is not known: no output, or a run was lost`);
  return lines;
}
