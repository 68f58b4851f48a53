/** Answers a question about studies whose tables are read. */
import type { MoveTally } from '../../../../machines/job-parts/moves.ts';
import { studyAttribution } from '../../../analysis/attribution/study-attribution.ts';
import { designOf } from '../../../analysis/compare/pairing.ts';
import { type ComparedStudy, compareStudies } from '../../../analysis/compare/study-comparison.ts';
import { type StudyEvidence, studyEvidence } from '../../../analysis/conclusion/evidence.ts';
import { convergence } from '../../../analysis/outputs/convergence.ts';
import { distributions } from '../../../analysis/outputs/distributions.ts';
import { worstRuns } from '../../../analysis/outputs/worst.ts';
import { judgeStudy } from '../../../analysis/requirements/verdicts.ts';
import { DEFAULT_CONFIDENCE, requirementsOf } from '../../../analysis/requirements/requirement.ts';
import { studySensitivity } from '../../../analysis/sensitivity/study-sensitivity.ts';
import { summarizeStudy } from '../../../analysis/summary.ts';
import { CLASS_CODES } from '../../../analysis/table/run-class.ts';
import { type RunTable, outputColumn, outputNames } from '../../../analysis/table/run-table.ts';
import { closestMatch } from '../../../base/closest-match.ts';
import type * as contract from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import type { RecordQuestion } from '../question.ts';
import { declaredOutputs } from './study.ts';
import { studyTransitions } from './transitions.ts';

/** A study of which the runs are known, and as much of the submission as is. */
export interface AnsweredStudy {
  table: RunTable;
  submission: Partial<Pick<contract.BatchSubmission, 'config' | 'requirements' | 'outputs'>>;
  /** Absent where the records of the runs are not at hand. */
  moves?: MoveTally;
  /** The sampling definition in force when it was submitted; absent where it is not known. */
  samplingScheme?: string;
}

type Answerers = {
  [K in RecordQuestion['kind']]: (
    question: Extract<RecordQuestion, { kind: K }>,
    study: AnsweredStudy,
    other: AnsweredStudy,
  ) => AnswerOf[K];
};

interface AnswerOf {
  summary: contract.StudySummary;
  evidence: StudyEvidence;
  distributions: contract.StudyDistributions;
  verdicts: contract.StudyVerdicts;
  sensitivity: contract.StudySensitivity;
  attribution: contract.StudyAttribution;
  convergence: contract.Convergence;
  worst: contract.WorstRuns;
  compare: contract.StudyComparison;
  transitions: contract.StudyTransitions;
}

const ANSWERERS: Answerers = {
  summary: ({ confidence, quantiles, missing }, { table, submission }) => {
    const declared = Object.entries(submission.outputs ?? {});
    const units = unitsOfOutputs(submission);
    const censored = new Map(declared.flatMap(([name, it]) => (it.censored ? [[name, it.censored]] : [])));
    const requirements = requirementsOf(submission);
    return summarizeStudy(inDeclaredOrder(table, submission), {
      ...given({ confidence, quantiles, missing }),
      requirements,
      units,
      censored,
    });
  },
  evidence: (_, { table, submission }) => studyEvidence(table, requirementsOf(submission), unitsOfOutputs(submission)),
  distributions: ({ bins }, { table, submission }) => {
    const unitsOf = (kind: string, declared: Record<string, { units?: string | null | undefined }>) =>
      Object.entries(declared).flatMap(([name, { units }]) => (units ? [[`${kind}.${name}`, units] as const] : []));
    const units = new Map([
      ...unitsOf('parameters', submission.config?.dispersions ?? {}),
      ...unitsOf('outputs', { execution_secs: { units: 's' }, ...submission.outputs }),
    ]);
    return distributions(inDeclaredOrder(table, submission), { ...given({ bins }), units });
  },
  verdicts: ({ requirement }, study) => {
    if (requirement === undefined) return judgeStudy(study.table, requirementsOf(study.submission));
    requireOutput(study, requirement.output);
    return judgeStudy(study.table, [requirement]);
  },
  sensitivity: ({ output, confidence }, study) => {
    requireOutput(study, output);
    return studySensitivity(withOutput(study.table, output), output, confidence);
  },
  attribution: ({ failing, confidence }, { table, submission }) =>
    studyAttribution(table, { ...given({ failing, confidence }), requirements: requirementsOf(submission) }),
  convergence: ({ output = '', quantity, confidence = DEFAULT_CONFIDENCE, halfWidth, missing }, study) => {
    if (quantity !== 'failure') requireOutput(study, output);
    const variable = study.submission.outputs?.[output]?.censored;
    return convergence(study.table, { output, quantity, confidence, ...given({ halfWidth, variable, missing }) });
  },
  worst: ({ output, k, direction }, study) => {
    requireOutput(study, output);
    return worstRuns(study.table, output, k, direction);
  },
  compare: ({ failing, confidence }, before, after) =>
    compareStudies(comparedStudy(before), comparedStudy(after), {
      ...given({ failing, confidence }),
      requirements: requirementsOf(before.submission),
    }),
  transitions: (_, { table, moves }) => {
    if (moves === undefined)
      throw new RangeError('transitions not counted: a table of runs has no history; ask the coordinator of one batch');
    return studyTransitions(table, moves);
  },
};

/**
 * The answer, by the schema of its endpoint. `studies`: as `batchesOf` names them.
 * @throws SimbatchError `malformed-query` for a name that the study does not have and for a number out of its range.
 */
export function answerTo(
  question: RecordQuestion,
  [study, other = study]: readonly [AnsweredStudy, AnsweredStudy?],
): object {
  try {
    const answerer = ANSWERERS[question.kind] as (
      question: RecordQuestion,
      study: AnsweredStudy,
      other: AnsweredStudy,
    ) => object;
    return answerer(question, study, other);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new SimbatchError('malformed-query', error.message, { cause: error });
    }
    throw error;
  }
}

const unitsOfOutputs = ({ outputs = {} }: AnsweredStudy['submission']): Map<string, string> =>
  new Map(Object.entries(outputs).flatMap(([name, { units }]) => (units ? [[name, units]] : [])));

/** The members that have a value: an option that is absent is not undefined. */
function given<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/**
 * Refuses an output that no run has reported, with the nearest name. While no run has completed, every name may still be
 * reported, and the answer says that there are no values.
 */
function requireOutput(study: AnsweredStudy, name: string): void {
  const { table } = study;
  const names = new Set([...outputNames(table), ...declaredOutputs(study)]);
  if (names.has(name)) return;
  if (table.texts.has(name)) {
    throw new RangeError(`output ${name} is text: it has no order; its values are in the summary`);
  }
  if (!table.classes.includes(CLASS_CODES.ok)) return;
  const nearest = closestMatch(name, [...names]);
  const remedy =
    nearest === undefined ? `give one of ${[...names].slice(0, 10).join(', ')}` : `did you mean "${nearest}"?`;
  throw new RangeError(`output not found: the study has no output "${name}"; ${remedy}`);
}

const comparedStudy = ({ table, submission, samplingScheme }: AnsweredStudy): ComparedStudy => ({
  table: inDeclaredOrder(table, submission),
  configuration: submission.config,
  drawn: designOf(submission.config, samplingScheme),
});

/** The outputs that the study declares first, as in its table of runs; the others in the order in which runs reported them. */
function inDeclaredOrder(table: RunTable, { outputs: declared = {} }: AnsweredStudy['submission']): RunTable {
  const names = Object.keys(declared);
  const ordered = <T>(columns: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...names.flatMap((name) => (columns.has(name) ? [[name, columns.get(name)!] as const] : [])), ...columns]);
  return { ...table, outputs: ordered(table.outputs), texts: ordered(table.texts) };
}

/** The table with a column for an output that no run has reported yet. */
function withOutput(table: RunTable, name: string): RunTable {
  if (outputColumn(table, name) !== undefined) return table;
  return { ...table, outputs: new Map([...table.outputs, [name, new Float64Array(table.rows).fill(Number.NaN)]]) };
}
