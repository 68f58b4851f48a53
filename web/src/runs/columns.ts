/** The columns of the table of runs: which there are, which are shown without a choice, and how their values read. */
import type { BatchSubmission, StudyAttribution, StudyDistributions } from '../../../src/contract/types.ts';
import { axesOfStudy } from '../../../src/domain/scenarios/cells.ts';
import { declaredDispersions } from '../../../src/domain/scenarios/overrides.ts';
import { labelOf } from '../plots/variables.ts';

export interface Column {
  /** Key of the column in addresses: `run`, `state`, ..., `p.NAME`, `o.NAME`. */
  key: string;
  /** The column of the endpoint. */
  name: string;
  title: string;
  group: 'Run' | 'Parameters' | 'Outputs';
  width: number;
  kind: 'run' | 'state' | 'text' | 'time' | 'seconds' | 'number' | 'error';
}

/** Columns that are always shown, before the others. */
export const PINNED = ['run', 'state'];

const RUN_COLUMNS: readonly Omit<Column, 'group'>[] = [
  { key: 'run', name: 'run_id', title: 'Run', width: 78, kind: 'run' },
  { key: 'state', name: 'status', title: 'State', width: 104, kind: 'state' },
  { key: 'error', name: 'error_message', title: 'Error', width: 330, kind: 'error' },
  { key: 'class', name: 'class', title: 'Class', width: 100, kind: 'text' },
  { key: 'reason', name: 'reason', title: 'Reason', width: 130, kind: 'text' },
  { key: 'terminated_by', name: 'terminated_by', title: 'Ended by', width: 150, kind: 'text' },
  { key: 'runner', name: 'runner_id', title: 'Runner', width: 110, kind: 'text' },
  { key: 'attempt', name: 'attempt', title: 'Attempts', width: 92, kind: 'number' },
  { key: 'started', name: 'started_at', title: 'Started', width: 118, kind: 'time' },
  { key: 'ended', name: 'ended_at', title: 'Ended', width: 118, kind: 'time' },
  { key: 'took', name: 'execution_secs', title: 'Took', width: 84, kind: 'seconds' },
  { key: 'lost', name: 'telemetry_lost', title: 'Samples lost', width: 110, kind: 'number' },
];

/** The further columns of an adaptive study. */
const ROUND_COLUMNS: readonly Omit<Column, 'group'>[] = [
  { key: 'round', name: 'round', title: 'Round', width: 78, kind: 'number' },
  { key: 'draw', name: 'draw', title: 'Draw', width: 78, kind: 'number' },
];

/** The keys of the axes of scenarios begin so. */
const AXIS = 'a.';

/** All columns of a study: of every run, then its parameters, then its outputs. */
export function columnsOf(
  { config, outputs: declared = {} }: BatchSubmission,
  distributions: StudyDistributions | undefined,
  outputNames: readonly string[],
): Column[] {
  const unitsOf = (kind: 'parameter' | 'output', name: string): string | undefined =>
    distributions?.variables.find((it) => it.kind === kind && it.name === name)?.units ??
    (kind === 'parameter' ? config.dispersions[name]?.units : declared[name]?.units) ??
    undefined;
  const variable = (kind: 'parameter' | 'output', name: string): Column => {
    const units = unitsOf(kind, name);
    const title = labelOf(name, units === '' ? undefined : units);
    return {
      key: `${kind === 'parameter' ? 'p' : 'o'}.${name}`,
      name: `${kind}s.${name}`,
      title,
      group: kind === 'parameter' ? 'Parameters' : 'Outputs',
      width: Math.min(240, Math.max(116, title.length * 7.4 + 30)),
      kind: 'number',
    };
  };
  return [
    ...[...RUN_COLUMNS, ...(config.monte_carlo.sampling_method === 'adaptive' ? ROUND_COLUMNS : [])].map(
      (it): Column => ({ ...it, group: 'Run' }),
    ),
    ...axesOfStudy(config).map(({ name }): Column => ({
      key: `${AXIS}${name}`,
      name,
      title: name,
      group: 'Run',
      width: 110,
      kind: 'text',
    })),
    ...Object.keys(declaredDispersions(config))
      .sort()
      .map((name) => variable('parameter', name)),
    ...outputNames.filter((name) => name !== 'execution_secs').map((name) => variable('output', name)),
  ];
}

/** Variables of each kind among the columns that are shown without a choice. */
const SHOWN = 4;

interface Known {
  distributions: StudyDistributions | undefined;
  attribution: StudyAttribution | undefined;
  /** Outputs of the requirements, that of the worst one first. */
  required: readonly string[];
  hasFailures: boolean;
}

/**
 * The keys that are shown without a choice: the main outputs, the output of the worst requirement first of all, so that a
 * narrow screen shows it; the error where there are errors; and the inputs that vary, those most associated with failure
 * first. A constant is never among them.
 */
export function defaultKeys(
  columns: readonly Column[],
  { distributions, attribution, required, hasFailures }: Known,
): string[] {
  const varying = new Set(distributions?.variables.map((it) => `${it.kind === 'parameter' ? 'p' : 'o'}.${it.name}`));
  const isKnown = distributions !== undefined;
  const ranked = attribution?.parameters.map((it) => `p.${it.name}`) ?? [];
  const inputs = columns.filter((it) => it.group === 'Parameters' && (!isKnown || varying.has(it.key)));
  const first = [...new Set([...ranked.filter((key) => varying.has(key)), ...inputs.map((it) => it.key)])];
  const outputs = columns.filter((it) => it.group === 'Outputs').map((it) => it.key);
  const judged = required.map((name) => `o.${name}`).filter((key) => outputs.includes(key));
  const main = [...new Set([...judged, ...outputs.filter((key) => varying.has(key))])];
  return [
    ...PINNED,
    ...ROUND_COLUMNS.map(({ key }) => key),
    ...columns.filter(({ key }) => key.startsWith(AXIS)).map(({ key }) => key),
    ...(main.length > 0 ? main : outputs).slice(0, SHOWN),
    ...(hasFailures ? ['error'] : []),
    ...first.slice(0, SHOWN),
    'runner',
    'took',
  ];
}

/** The chosen keys in the order of the address; those that the study does not have are ignored. */
export function chosenColumns(columns: readonly Column[], text: string | null, otherwise: readonly string[]): Column[] {
  const keys = text === null || text === '' ? otherwise : [...PINNED, ...text.split(',')];
  return [...new Set(keys)].flatMap((key) => columns.find((it) => it.key === key) ?? []);
}
