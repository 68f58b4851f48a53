/** The submission of an extraction: what is computed of the files that runs of another study have left. Pure. */
import type {
  BatchSubmission,
  ExtractionProgram,
  ExtractionRequest,
  Fault,
  StoredResult,
  SubmissionWarning,
} from '../../contract/types.ts';
import { LIMITS } from '../../contract/limits.ts';
import { addressesOf } from '../files/file-path.ts';
import { planOf } from '../histories/stream/plan.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import type { RunSelection } from '../runs/run-selection.ts';
import { rerunOf } from '../study/growth.ts';
import { submissionFaults } from '../study/submission.ts';

type Asked = Pick<ExtractionRequest, 'derived' | 'histories'>;
type Wanted = Asked & Pick<ExtractionRequest, 'with' | 'code'>;

/** True for an extraction whose runs are computed by a program and not by the runner itself. */
export const isByProgram = ({
  derived,
  histories,
}: Pick<BatchSubmission['config'], 'derived' | 'histories'>): boolean =>
  (derived?.length ?? 0) + (histories?.length ?? 0) === 0;

/** The name that an extraction has by default: the first of `x1`, `x2`, ... that none of the others has. */
export function extractionName(others: readonly string[]): string {
  for (let number = 1; ; number += 1) if (!others.includes(`x${number}`)) return `x${number}`;
}

/** The name of the study that an extraction is. */
export const studyNameOf = (parent: string, name: string): string => {
  const end = `: ${name}`;
  return `${parent.slice(0, LIMITS.nameLength - end.length)}${end}`;
};

/**
 * Returns a submission that computes derived outputs and histories of the telemetry of these runs of a study that holds `held` runs, or executes a program
 * for each of them; or its faults, which are those of the request.
 */
export function extractionOf(
  submission: BatchSubmission,
  held: number,
  selection: RunSelection,
  { derived = [], histories = [], with: program, code }: Wanted,
  name: string,
): BatchSubmission | Fault[] {
  if (program !== undefined && derived.length + histories.length > 0) return [BESIDE_PROGRAM];
  const rerun = rerunOf(submission, held, selection, { name });
  if ('pointer' in rerun) return [rerun];
  const { priority } = rerun.policy ?? {};
  const { requirements: _, outputs: __, policy: ___, code: parentCode, ...rest } = rerun;
  const carried = program === undefined ? parentCode : code;
  const { compute, early_termination: rules } = rerun.config;
  const { isolation: ____, ...shared } = compute;
  const { derived: _____, histories: ______, ...config } = rerun.config;
  const study: BatchSubmission = {
    ...rest,
    ...(priority === undefined ? {} : { policy: { priority } }),
    ...(carried === undefined ? {} : { code: carried }),
    config: {
      ...config,
      ...(program === undefined ? { derived, histories } : { simulation: simulationOf(rerun, program) }),
      early_termination: { ...rules, enabled: false, conditions: [] },
      // The image and the limits are those of the simulation: the runner itself computes, or starts a program beside it.
      compute: {
        ...shared,
        container: { image: '', cpu_request: '0', memory_request: '0' },
        job_timeout_seconds: program?.timeout_seconds ?? 0,
      },
    },
  };
  const own = /^(?:[/]config[/](?:derived|histories|simulation)|[/]code$)/;
  const faults = [
    ...submissionFaults(study).filter(({ pointer }) => own.test(pointer)),
    ...storedFaults(submission, { derived, histories }),
  ].map(({ pointer, detail }) => ({ pointer: pointer.replace(/^[/]config(?:[/]simulation)?/, inRequest), detail }));
  return faults.length === 0 ? study : faults;
}

const BESIDE_PROGRAM: Fault = {
  pointer: '/with',
  detail: 'is given beside `derived` or `histories`; ask for what a program computes in an extraction of its own',
};

const inRequest = (prefix: string): string => (prefix === '/config/simulation' ? '/with' : '');

/** The program in the place of the simulation. */
function simulationOf(
  { config }: BatchSubmission,
  { name, version = '', code }: ExtractionProgram,
): BatchSubmission['config']['simulation'] {
  const { duration_minutes } = config.simulation;
  return { name, version, duration_minutes, ...(code === undefined ? {} : { code }) };
}

/** Telemetry variables of which the study has stored no sample. */
function storedFaults({ config }: BatchSubmission, asked: Asked): Fault[] {
  const stored = config.telemetry.variables;
  if (stored.length === 0) return [];
  const faultsIn = (pointer: string, item: Asked): Fault[] =>
    variablesOf(item)
      .filter((it) => !stored.includes(it))
      .map((it) => {
        const meant = closestMatch(it, stored);
        const hint = meant === undefined ? '' : `, did you mean ${JSON.stringify(meant)}?`;
        const detail = `uses the telemetry variable ${JSON.stringify(it)}, which the study has not stored${hint}; it has ${stored.slice(0, 20).join(', ')}`;
        return { pointer, detail };
      });
  return [
    ...(asked.derived ?? []).flatMap((it, at) => faultsIn(`/derived/${at}`, { derived: [it] })),
    ...(asked.histories ?? []).flatMap((it, at) => faultsIn(`/histories/${at}`, { histories: [it] })),
  ];
}

/** The telemetry variables of what can be read; the rest has a fault of its own. */
function variablesOf(item: Asked): readonly string[] {
  try {
    return planOf(item).variables;
  } catch {
    return [];
  }
}

/** False where nothing of the telemetry is used. A program may read it. */
export const usesTelemetry = ({ derived = [], histories = [] }: Asked): boolean =>
  isByProgram({ derived, histories }) ||
  variablesOf({ derived, histories }).length > 0 ||
  histories.length > 0 ||
  derived.some(({ expression }) => expression === undefined);

/** Returns the files of a result that an extraction reads, as their addresses: a question about outputs alone needs none, a program gets all of them. */
export function filesRead({
  derived,
  histories,
}: Pick<BatchSubmission['config'], 'derived' | 'histories'>): (result: StoredResult) => readonly string[] {
  if (isByProgram({ derived, histories })) return addressesOf;
  return usesTelemetry({ derived: derived ?? [], histories: histories ?? [] })
    ? ({ telemetry_data: it }) => (it == null ? [] : [it])
    : () => [];
}

/** How the values differ from those of a study that declares them, as sentences; none where they do not. */
export function extractionNotes({ config: { telemetry } }: Pick<BatchSubmission, 'config'>, asked: Asked): string[] {
  const { sampling_rate_hz: rate, variables } = telemetry;
  const notes: string[] = [];
  if (rate > 0 && usesTelemetry(asked))
    notes.push(
      `the study has stored at most ${rate} samples per second (config.telemetry.sampling_rate_hz): the values are approximate, of these samples and not of all that the runs have sent`,
    );
  if (variables.length > 0 && usesEdges(asked))
    notes.push(
      `\`start\` and \`end\` are those of the stored variables (config.telemetry.variables): samples of others are not in the files`,
    );
  return notes;
}

/** True where the first or the last sample of any variable is an event. */
function usesEdges({ derived = [], histories = [] }: Asked): boolean {
  const texts = [...derived.map(({ at }) => at), ...histories.map(({ origin }) => origin)];
  return texts.some((it) => it?.trim() === 'start' || it?.trim() === 'end');
}

/** The notes as a warning of the answer. */
export const extractionWarnings = (notes: readonly string[]): SubmissionWarning[] =>
  notes.map((detail) => ({ code: 'reduced-telemetry', pointer: '', detail }));
