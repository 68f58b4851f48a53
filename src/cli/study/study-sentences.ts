/** A checked study in plain sentences, and the defaults it takes. Pure. */
import { rareCost, rareRequirement, rareSettings, studiesOf } from '../../domain/study/rare-event/settings.ts';
import { formatNumber } from '../../base/text/number-text.ts';
import { type PrecisionPlan, precisionPlans } from '../../analysis/precision/planning.ts';
import type { BatchConfig, BatchSubmission } from '../../contract/types.ts';
import { runsNeeded, runsOfCell, type RunsNeeded } from '../../analysis/requirements/planning.ts';
import { conditionVariables } from '../../domain/study/condition.ts';
import { historyName, pointCount } from '../../domain/histories/points.ts';
import { replicateRunsOf } from '../../domain/sampling/replicates.ts';
import { type Axis, cellsOf, combinationsOf } from '../../domain/scenarios/cells.ts';
import { declaredDispersions } from '../../domain/scenarios/overrides.ts';
import { designMethod, methodOfCell } from '../../domain/study/design-method.ts';
import { plural, printable } from '../terminal/format.ts';
import type { CheckedStudy } from './check-study.ts';

const CANARY_SENTENCES = {
  nominal: 'A run with every input at its median must complete first.',
  corners: 'Runs with every input at its median, all inputs low and all inputs high must complete first.',
} as const;

/** `file` for people; `runs`: how many the batch will have. */
export function checkedLines(file: string, { submission, defaults }: CheckedStudy, runs: number): string[] {
  const { config, policy, requirements = [], name } = submission;
  const { simulation, monte_carlo: design, compute } = config;
  const dispersions = Object.keys(declaredDispersions(config)).length;
  // Levels replace inputs by numbers too.
  const noun = cellsOf(config) === undefined ? 'dispersion' : 'input';
  const parameters = dispersions === 0 ? 'no dispersed parameter' : plural(dispersions, noun);
  const seed = design.seed ?? undefined;
  const limits = conditionVariables(config.early_termination);
  const isAdaptive = config.adaptive !== undefined;
  const sentences = [
    `${file}: valid - ${isAdaptive ? 'up to ' : ''}${plural(runs, 'run')} of "${printable(name)}", ${parameters}`,
    `It runs the simulation "${printable(simulation.name)}", sampled by ${cellsOf(config) === undefined ? designMethod(submission) : methodOfCell(config)}${replicatesText(design)}${seed === undefined ? ' with a seed that is drawn' : ` with the seed ${seed}`}.`,
    ...scenarioLines(config),
    ...(config.adaptive?.algorithm === 'external' ? adaptiveLines(config) : []),
    ...(config.adaptive?.algorithm === 'rare_event' ? rareLines(submission) : []),
    `Each run may use ${compute.container.cpu_request} CPU and ${compute.container.memory_request} of memory${compute.job_timeout_seconds === 0 ? '' : `, for at most ${compute.job_timeout_seconds} s`}.`,
    ...(limits.length === 0 ? [] : [`Limits on ${limits.map((it) => printable(it)).join(', ')} end a run early.`]),
    ...historyLines(config),
    ...(policy?.canary_runs === undefined
      ? []
      : [`Its first ${plural(policy.canary_runs, 'run')} must complete first.`]),
    ...(policy?.canary === undefined ? [] : [CANARY_SENTENCES[policy.canary]]),
    ...(policy?.max_failures === undefined ? [] : [`It stops by itself at ${policy.max_failures} failed runs.`]),
  ];
  sentences.push(...plannedLines(precisionPlans(submission), runs));
  if (requirements.length > 0 && !isAdaptive)
    sentences.push(
      ...neededLines(runsNeeded(submission, runs), runsOfCell(submission, runs), cellsOf(config) !== undefined),
    );
  if (defaults.length === 0) return sentences;
  const taken = defaults.map(({ member, value, meaning }) => `  ${member}: ${JSON.stringify(value)}  (${meaning})`);
  return [...sentences, 'These members are left out and take their defaults:', ...taken];
}

/** The histories that each run keeps, and the outputs that are derived. */
function historyLines({ histories, derived }: BatchConfig): string[] {
  const kept = (histories ?? []).map((it) => `${printable(historyName(it))} at ${plural(pointCount(it.at), 'time')}`);
  const names = (derived ?? []).map(({ name }) => printable(name));
  return [
    ...(kept.length === 0
      ? []
      : [`Each run keeps ${kept.length === 1 ? 'the history' : 'the histories'} ${kept.join(', ')}.`]),
    ...(names.length === 0 ? [] : [`Its runner derives ${names.join(', ')}.`]),
  ];
}

/** The axes and cells of scenarios and epistemic inputs. */
function scenarioLines(config: BatchConfig): string[] {
  const cells = cellsOf(config);
  if (cells === undefined) return [];
  const axis = ({ name, levels }: Axis): string => `${printable(name)} (${plural(levels.length, 'level')})`;
  const skipped = combinationsOf(cells.axes) - cells.count;
  const rest = skipped === 0 ? '' : `, ${skipped} skipped`;
  return [
    `It has ${plural(cells.count, 'cell')}, of ${cells.axes.map(axis).join(' x ')}${rest}; run i of every cell has the same random numbers.`,
  ];
}

/** ` in 200 replicates of 8 runs`; nothing for one design. */
function replicatesText(design: BatchConfig['monte_carlo']): string {
  const runs = replicateRunsOf(design);
  return runs === undefined ? '' : ` in ${design.replicates} replicates of ${plural(runs, 'run')}`;
}

/** The names that rows give and those that are drawn, and that the study waits for rows. */
function adaptiveLines({ dispersions }: BatchConfig): string[] {
  const names = Object.keys(dispersions);
  const chosen = names.filter((name) => dispersions[name]!.distribution.type === 'chosen');
  const drawn = names.filter((name) => !chosen.includes(name));
  const listed = (them: readonly string[]): string => them.map((it) => printable(it)).join(', ');
  const rest = drawn.length === 0 ? '' : `; the study gives ${listed(drawn)}`;
  return [
    chosen.length === 0 ? 'No parameter is chosen: rows are empty.' : `Each row chooses ${listed(chosen)}${rest}.`,
    'It begins without runs and waits for rows: `simbatch append STUDY rows.csv --key NAME`.',
  ];
}

/** The runs that the study takes for the probability that its requirement allows, against plain Monte Carlo. */
function rareLines(submission: BatchSubmission): string[] {
  const settings = rareSettings(submission);
  const { name, probability } = rareRequirement(submission.config.adaptive!, submission.requirements ?? [])!;
  const violation = 1 - probability;
  const { about, plain, relativeError } = rareCost(settings, violation);
  const studies = studiesOf(submission.config);
  const each = studies === 1 ? '' : ` in each of ${studies} studies`;
  const lines = [
    `Experimental: it estimates how probable a violation of "${printable(name)}" is, in rounds that the coordinator appends.`,
    `For the probability of ${formatNumber(violation, 2)} that the requirement allows: about ${about} runs${each} for an estimate within about ${Math.round(100 * relativeError)} %; plain Monte Carlo would need ${plain}.`,
    studies === 1
      ? 'Its bounds are of the violations in the regions that it finds; one study cannot show that it found all: leave out `studies: 1`, and two are submitted.'
      : `Its bounds are of the violations in the regions that it finds. One study cannot show that it found all: ${studies} with different seeds are submitted, each with up to ${settings.budget} runs, and answered together.`,
  ];
  if (violation > NOT_RARE || plain <= about * studies)
    lines.push('Plain Monte Carlo is cheaper here: use sampling_method: monte_carlo.');
  return lines;
}

/** Violations above this probability are not rare. */
const NOT_RARE = 0.01;

/** The runs that each requirement takes, as tables: one of those about runs or each cell, one of those about pooled shares. */
function neededLines(needed: readonly RunsNeeded[], runs: number, isOfCells: boolean): string[] {
  const pooled = needed.filter((it) => it.pooled === true);
  const others = needed.filter((it) => it.pooled !== true);
  const inCells = isOfCells ? ' in each cell' : '';
  const each = isOfCells
    ? `${inCells}, met when every cell is met: a cell with so many runs`
    : ', met with so many runs';
  return [
    ...neededTable(
      others,
      `It is judged by ${plural(others.length, 'requirement')}${each} when so many of them fail:`,
      `cannot be met by ${plural(runs, 'run')}${inCells}`,
    ),
    ...neededTable(
      pooled,
      `It is judged by ${plural(pooled.length, 'requirement')} of all cells together, met with so many samples when so many of them fail in every cell:`,
      `cannot be met by ${plural(runs, 'sample')}`,
    ),
  ];
}

function neededTable(needed: readonly RunsNeeded[], title: string, isTooFew: string): string[] {
  if (needed.length === 0) return [];
  const widest = Math.max(8, ...needed.map(({ name }) => printable(name).length));
  const cells = (values: readonly (number | null | string)[]): string =>
    values.map((it) => String(it ?? '-').padStart(9)).join('');
  return [
    title,
    `  ${'failures'.padEnd(widest)}${cells(['0', '1', '2', '3'])}`,
    ...needed.map(
      ({ name, runs_needed, can_be_met }) =>
        `  ${printable(name).padEnd(widest)}${cells(runs_needed)}${can_be_met ? '' : `  ${isTooFew}`}`,
    ),
  ];
}

/** The least and the most runs that each precision takes. */
function plannedLines(plans: readonly PrecisionPlan[], runs: number): string[] {
  if (plans.length === 0) return [];
  return [
    `It stops by itself when ${plans.length === 1 ? 'its precision is' : `its ${plans.length} precisions are`} reached, at the latest after ${plural(runs, 'run')}:`,
    ...plans.map(({ name, runs_at_least: least, runs_at_most: most, replicates_at_least: replicates, method }) => {
      const whole = replicates === undefined ? '' : ` (${plural(replicates, 'replicate')})`;
      const end = most === null ? '' : `, at most ${most} if every run gives a value`;
      const kind = method === 'asymptotic' ? '; its interval is approximate, give bounds for an exact one' : '';
      return `  ${printable(name)}: at least ${plural(least, 'run')}${whole}${end}${kind}${least > runs ? `; ${plural(runs, 'run')} cannot reach it` : ''}`;
    }),
  ];
}
