/** The part of the evidence about a study that follows from its runs and its submission. */
import { plural } from '../../domain/plural.ts';
import { distributionText } from '../../domain/sampling/distribution-text.ts';
import { cellsOf } from '../../domain/scenarios/cells.ts';
import { declaredDispersions, replacementsOf } from '../../domain/scenarios/overrides.ts';
import { listed } from '../wording.ts';
import { designMethod, methodOfCell } from '../../domain/study/design-method.ts';
import type { BatchConfig, BatchSubmission, Convergence, Requirement, StudySummary } from '../../contract/types.ts';
import type { AnsweredStudy } from '../table/answered-study.ts';
import { type ClassCounts, countClasses } from '../table/run-table.ts';

/** Outputs with answers of their own: those of the first requirements, else the first that are declared. */
export const MOST_OUTPUTS = 4;

/** An input as its study declares it. */
export interface DeclaredInput {
  name: string;
  units: string;
  distribution: string;
  varies: boolean;
  source: string | null;
}

export interface RunsEvidence {
  summary: StudySummary;
  counts: ClassCounts;
  /** Name and version of the simulation; absent where the submission is not known, as of a file of runs. */
  simulation?: string;
  design?: string;
  /** The container image that the study names; null: none. */
  image: string | null;
  inputs: DeclaredInput[];
  requirements: Pick<Requirement, 'name' | 'terminated'>[];
  precisions: number;
  convergence: { output: string; quantity: string; course: Convergence }[];
  dependence: { output: string; sentence: string }[];
  /** Required outputs that have no course, since there are too many. */
  outputsLeft: number;
  /** Attempts that failed and were repeated; null: not known. */
  retries: { attempts: number; omitted: number } | null;
}

/** The answers of other questions about the same study. */
export interface RunsAnswers {
  summary: StudySummary;
  convergence: RunsEvidence['convergence'];
  dependence: RunsEvidence['dependence'];
}

/** The required outputs that have values, the first of them. */
export function shownOutputs({ submission }: AnsweredStudy, { outputs }: StudySummary): string[] {
  const hasValues = (name: string): boolean => outputs.some((it) => it.name === name && it.count > 0);
  return [...requiredOutputs(submission)].filter(hasValues).slice(0, MOST_OUTPUTS);
}

export function runsEvidence({ table, submission, moves }: AnsweredStudy, answers: RunsAnswers): RunsEvidence {
  const { config, labels, requirements = [], policy } = submission;
  const image = config?.compute.container.image ?? '';
  return {
    ...answers,
    counts: countClasses(table),
    ...(config === undefined ? {} : { simulation: simulationText(config), design: designText({ config, labels }) }),
    image: image === '' ? null : image,
    inputs: config === undefined ? [] : inputsOf(config),
    requirements: requirements.map(({ name, terminated }) =>
      terminated === undefined ? { name } : { name, terminated },
    ),
    precisions: policy?.precision?.length ?? 0,
    outputsLeft: Math.max(0, requiredOutputs(submission).size - MOST_OUTPUTS),
    retries: moves === undefined ? null : { attempts: moves.repeated.attempts, omitted: moves.omittedAttempts },
  };
}

/** The outputs of the requirements and precisions; those that are declared where there are none. */
function requiredOutputs({ requirements = [], policy, outputs = {} }: Partial<BatchSubmission>): Set<string> {
  const required = [
    ...requirements.flatMap((it) => it.output ?? []),
    ...(policy?.precision ?? []).map((it) => it.output),
  ];
  return new Set(required.length > 0 ? required : Object.keys(outputs));
}

const simulationText = ({ simulation: { name, version } }: BatchConfig): string => `${name}, version ${version}`;

function designText({ config, labels }: { config: BatchConfig; labels: BatchSubmission['labels'] }): string {
  const { runs, seed, replicate, replicates, run_ids: selected } = config.monte_carlo;
  const cells = cellsOf(config);
  return [
    cells === undefined
      ? `${designMethod({ config, labels })}, ${plural(runs, 'run')}`
      : `${methodOfCell(config)}, ${plural(runs, 'run')} in each of ${plural(cells.count, 'cell')} of ${listed(cells.axes.map(({ name }) => name))}, with the same random numbers`,
    `seed ${seed === null || seed === undefined ? 'not known' : String(seed)}`,
    ...(replicates === null || replicates === undefined ? [] : [`${String(replicates)} replicates`]),
    ...(replicate === null || replicate === undefined ? [] : [`replicate ${String(replicate)}`]),
    ...(selected === null || selected === undefined ? [] : [`only the runs ${selected}`]),
    ...(config.correlations === null || config.correlations === undefined || config.correlations.length === 0
      ? []
      : [`${String(config.correlations.length)} rank correlations`]),
  ].join('; ');
}

const inputsOf = (config: BatchConfig): DeclaredInput[] =>
  Object.entries(declaredDispersions(config)).map(([name, { distribution, units, source }]) => {
    const replaced = replacementsOf(config, name);
    const isDeclared = Object.hasOwn(config.dispersions, name);
    return {
      name,
      units,
      distribution: [
        isDeclared ? distributionText(distribution) : 'only in some cells',
        ...replaced.map((it) => `${it.where}: ${distributionText(it.distribution)}`),
      ].join('; '),
      varies: (isDeclared && distribution.type !== 'fixed') || replaced.some((it) => it.distribution.type !== 'fixed'),
      source: source === undefined || source.trim() === '' ? null : source,
    };
  });
