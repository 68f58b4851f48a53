/** The study of a file of runs: its table, and the configuration from the file itself or from a study file. */
import { declaredOutputs } from '../../analysis/table/answered-study.ts';
import { tableCells } from '../../analysis/table/cell-tables.ts';
import type { RunTable } from '../../analysis/table/run-table.ts';
import { STUDY_KEY, type DescribedStudy } from '../../analysis/table/described-study.ts';
import type { Warning } from '../../analysis/warning.ts';
import { listed } from '../../analysis/wording.ts';
import { parseExact } from '../../base/json/exact-json.ts';
import type { BatchSubmission } from '../../contract/types.ts';
import { type RunSelection, runsHeld, selectedRuns } from '../../domain/runs/run-selection.ts';
import { declaredDispersions } from '../../domain/scenarios/overrides.ts';
import { designMethod } from '../../domain/study/design-method.ts';
import { replicateRunsOf } from '../../domain/sampling/replicates.ts';
import { studySampler } from '../../domain/sampling/sampler.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { loadStudy } from '../study/check-study.ts';
import { plural } from '../terminal/format.ts';
import type { RowsFile } from '../../base/tables/rows.ts';
import { openRowsFile } from './rows-file.ts';
import { type Layout, readLayout, readTable } from './table-rows.ts';

export interface FileStudy {
  table: RunTable;
  submission: Partial<Pick<BatchSubmission, 'config' | 'requirements' | 'outputs' | 'policy'>>;
  /** The facts that the file leaves unknown; first in every answer. */
  warnings: Warning[];
}

/** `NIL` as the batch of runs whose file names none. */
const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * Reads a file of runs. `studyFile` takes the place of the configuration in the file.
 * @throws Failure when a file cannot be read, holds no runs, or the study does not describe the runs.
 */
export async function readFileStudy(path: string, studyFile?: string): Promise<FileStudy> {
  const file = await openRowsFile(path);
  const described = descriptionOf(path, file);
  const given = studyFile === undefined ? undefined : (await loadStudy(studyFile)).submission;
  const submission: FileStudy['submission'] = given ?? described ?? {};
  const { config } = submission;
  const replicateRuns = config === undefined ? undefined : replicateRunsOf(config.monte_carlo);
  const { replicates, ...rest } = await readLayout(path, file);
  // Of a study of several replicates the run ids say the replicate.
  const layout = replicates === undefined || replicateRuns !== undefined ? rest : { ...rest, replicates };
  const isPart = given === undefined && described?.total_jobs === undefined;
  const selection =
    config === undefined || isPart
      ? undefined
      : given === undefined
        ? runsHeld(config, described!.total_jobs!)
        : selectedRuns(config, given.runs_override);
  const { absent, all } = withAbsentRuns(path, layout, selection);
  const { enabled = false, shadow = false, conditions = [] } = config?.early_termination ?? {};
  const { table, knowsTelemetry, ambiguous } = await readTable(path, file, {
    layout: all,
    batchId: described?.batch_id ?? layout.batchId ?? NIL,
    method: config === undefined ? 'monte_carlo' : designMethod({ ...submission, config }),
    replicateRuns,
    cells: config === undefined ? undefined : tableCells(config),
    // Without the configuration every lost sample may be decisive.
    kept: declaredOutputs({ submission }),
    mixed: new Set(described?.mixed_outputs),
    hasRules: config === undefined || (enabled && !shadow && conditions.length > 0),
  });
  if (config !== undefined && !isPart) requireSameDesign(path, studyFile ?? path, config, table, all);
  const warnings = [
    ...(config === undefined ? [DESIGN_UNKNOWN] : []),
    ...(ambiguous.length === 0 ? [] : [mixedWarning(ambiguous)]),
    ...(absent > 0 ? [absentWarning(absent, all.runIds.length)] : []),
    ...(enabled && !shadow && conditions.length > 0 && !knowsTelemetry ? [TELEMETRY_UNKNOWN] : []),
  ];
  return { table, submission, warnings };
}

const DESIGN_UNKNOWN: Warning = {
  code: 'design-unknown',
  message:
    'the file does not hold the configuration of its study: intervals assume independent runs (monte_carlo), all runs count as being in the file, ' +
    'and requirements and units are unknown; give --study',
};

const TELEMETRY_UNKNOWN: Warning = {
  code: 'telemetry-unknown',
  message:
    'the file does not say which runs lost telemetry while a rule could end them: such runs pass or fail here, and are unknown to the coordinator',
};

const mixedWarning = (names: readonly string[]): Warning => ({
  code: 'types-unknown',
  message: `the file holds outputs of several types as text, of which text that looks like a number counts as one: ${listed(names)}`,
});

const absentWarning = (absent: number, of: number): Warning => ({
  code: 'runs-absent',
  message: `the file lacks ${absent} of the study's ${plural(of, 'run')}: they count as open; write all runs to the file for the answers of the coordinator`,
});

function descriptionOf(path: string, file: RowsFile): DescribedStudy | undefined {
  const text = file.described(STUDY_KEY);
  if (text === undefined) return undefined;
  try {
    return parseExact(text) as DescribedStudy;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      EXIT.invalid,
      `${path} is not read: its description of the study is not JSON (${why}); write the file again`,
    );
  }
}

/** The layout with the runs of the study that the file does not hold; a study of several replicates has those of each. */
function withAbsentRuns(
  path: string,
  layout: Layout,
  selection: RunSelection | undefined,
): { absent: number; all: Layout } {
  if (selection === undefined || layout.replicates !== undefined) return { absent: 0, all: layout };
  const foreign = layout.runIds.find((runId) => selection.indexOf(runId) === undefined);
  if (foreign !== undefined) {
    throw new Failure(
      EXIT.invalid,
      `${path} does not fit its study: run ${foreign} is not one of its ${plural(selection.count, 'run')}; give the study of these runs`,
    );
  }
  const absent = selection.count - layout.runIds.length;
  return { absent, all: absent === 0 ? layout : { ...layout, runIds: Uint32Array.from(selection.runIds()) } };
}

/** Runs whose parameters are computed again. */
const PROBES = 16;

/** Refuses a study that does not describe the runs: other parameters, or other values of them where the seed is known. */
function requireSameDesign(
  path: string,
  from: string,
  config: BatchSubmission['config'],
  table: RunTable,
  { runIds, replicates }: Layout,
): void {
  const refuse = (difference: string): never => {
    throw new Failure(
      EXIT.invalid,
      `${path} does not fit the study of ${from}: ${difference}; give the study of these runs`,
    );
  };
  const names = Object.keys(declaredDispersions(config));
  if (table.parameters.size === 0) return;
  const other = [...table.parameters.keys()].find((name) => !names.includes(name));
  if (other !== undefined) refuse(`its parameter ${JSON.stringify(other)} is not in the study`);
  const missing = names.find((name) => !table.parameters.has(name));
  if (missing !== undefined) refuse(`it has no parameter ${JSON.stringify(missing)}`);
  const { seed } = config.monte_carlo;
  if (seed === null || seed === undefined || replicates !== undefined) return;
  // Chosen parameters follow from the rounds, which are not in the file.
  if (config.adaptive !== undefined) return;
  const sampler = studySampler(config, seed);
  for (let probe = 0; probe < PROBES; probe++) {
    const row = Math.floor((probe * (runIds.length - 1)) / (PROBES - 1));
    const expected = sampler.parameters(runIds[row]!);
    for (const [name, values] of table.parameters) {
      if (Number.isNaN(values[row]!) || Object.is(values[row]!, expected[name])) continue;
      refuse(`run ${runIds[row]} has ${name} = ${values[row]}, the study samples ${expected[name]}`);
    }
  }
}
