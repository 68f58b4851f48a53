/** The members of a result that are computed at the end of an attempt: its histories and derived outputs. */
import { lateNote } from '../../../domain/runs/late-values.ts';
import { EXECUTION_SECS, outputsOf } from '../../../domain/runs/outputs.ts';
import type { Clock } from '../../../base/clock.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { ReportedResult } from '../../../contract/types.ts';
import type { Evaluated } from '../../../domain/histories/stream/evaluation.ts';
import type { PlannedHistory } from '../../../domain/histories/stream/plan.ts';
import { encodeHistory } from '../../../domain/histories/values.ts';
import type { Artifacts } from '../../files/artifacts.ts';
import { HistoryCollector } from '../../telemetry/histories/collector.ts';
import type { Waits } from '../../waits.ts';
import type { ExecutionPlan } from '../execution-site.ts';

/** A second reading of samples ends by itself after this long; what needs it is missing then, with the reason. */
const READING_MS = 60_000;
const DEADLINE_MS = 75_000;

export interface Computed {
  members: Pick<ReportedResult, 'histories' | 'derived_missing'>;
  /** The outputs of the simulation, with those derived. */
  metadata: Record<string, unknown>;
  /** Notes for the reader of the result. */
  notes: string[];
  /** Why the outputs of the simulation cannot be used as they are; such a run fails. */
  fault: string | undefined;
}

/** Takes the telemetry of an attempt; undefined where its study declares no histories and derived outputs. */
export const collectorOf = ({ histories, directory }: ExecutionPlan): HistoryCollector | undefined =>
  histories === undefined ? undefined : new HistoryCollector(histories, directory);

export interface ComputedOf {
  plan: Pick<ExecutionPlan, 'histories' | 'runConfig' | 'directory'>;
  histories: HistoryCollector | undefined;
  elapsedMs: number;
  /** Outputs of another run, of which expressions may use; absent: those of this run. */
  outputs?: ReadonlyMap<string, unknown>;
}

/** Call it when the telemetry is complete. @throws DeadlineError when the disk does not answer. */
export async function computedOf(
  clock: Clock,
  waits: Waits,
  { plan, histories, elapsedMs, outputs: others }: ComputedOf,
  found: Pick<Artifacts, 'metadata' | 'histories'>,
): Promise<Computed> {
  const notes: string[] = [];
  const given = givenHistories(plan.histories?.histories ?? [], found, notes);
  const { metadata } = found;
  if (histories === undefined) return { members: {}, metadata, notes, fault: undefined };
  await completed(clock, waits, histories, plan.directory);
  const outputs = outputsOf(metadata);
  if (!outputs.has(EXECUTION_SECS)) outputs.set(EXECUTION_SECS, elapsedMs / 1000);
  const { parameters } = plan.runConfig;
  const evaluated = histories.evaluate({ parameters, outputs: others ?? outputs });
  notes.push(...notesOf(evaluated, given.values));
  const taken = [...evaluated.derived.keys(), ...evaluated.missing.keys()].filter(
    (name) => Object.hasOwn(metadata, name) || outputs.has(name),
  );
  const isFree = ([name]: [string, unknown]): boolean => !taken.includes(name);
  const missing = [...evaluated.missing]
    .filter(isFree)
    .map(([name, why]) => [name, why.slice(0, LIMITS.missingReasonLength)]);
  return {
    members: {
      ...membersOf(new Map([...evaluated.histories, ...given.values])),
      ...(missing.length === 0 ? {} : { derived_missing: Object.fromEntries(missing) as Record<string, string> }),
    },
    metadata: { ...metadata, ...Object.fromEntries([...evaluated.derived].filter(isFree)) },
    notes,
    fault: given.fault ?? (taken[0] === undefined ? undefined : twofold(taken[0])),
  };
}

const twofold = (name: string): string =>
  `the simulation wrote the output ${JSON.stringify(name)}, which the study derives; rename one of them`;

async function completed(clock: Clock, waits: Waits, histories: HistoryCollector, directory: string): Promise<void> {
  const stop = { aborted: false };
  const cancel = clock.after(READING_MS, () => {
    stop.aborted = true;
  });
  try {
    await waits.within(DEADLINE_MS, `reading the samples of ${directory} again`, histories.complete(stop));
  } finally {
    cancel();
  }
}

function membersOf(histories: ReadonlyMap<string, Float64Array>): Pick<ReportedResult, 'histories'> {
  if (histories.size === 0) return {};
  return { histories: Object.fromEntries([...histories].map(([name, values]) => [name, encodeHistory(values)])) };
}

function notesOf(
  { empty, late }: Evaluated & { late: ReadonlyMap<string, number> },
  given: ReadonlyMap<string, unknown>,
): string[] {
  const notes = [...empty]
    .filter(([name]) => !given.has(name))
    .map(([name, why]) => `the history ${JSON.stringify(name)} has no value: ${why}`);
  return late.size === 0 ? notes : [...notes, lateNote(late)];
}

/** The histories that the simulation gives itself, NaN where a value is missing, and the fault of the first that cannot be used. */
function givenHistories(
  declared: readonly PlannedHistory[],
  { metadata, histories = {} }: Pick<Artifacts, 'metadata' | 'histories'>,
  notes: string[],
): { values: Map<string, Float64Array>; fault: string | undefined } {
  const values = new Map<string, Float64Array>();
  let fault: string | undefined;
  if (declared.length > 0 && Object.hasOwn(metadata, 'histories'))
    fault = '"histories" in metadata.json is not an object of lists, name -> values; write one, or rename the output';
  for (const [name, list] of Object.entries(histories)) {
    const history = declared.find((it) => it.name === name);
    const shown = JSON.stringify(name);
    if (history === undefined) {
      notes.push(`the history ${shown} in metadata.json is not used: the study declares none of this name`);
      continue;
    }
    const { length } = history.points;
    const odd = list.findIndex((it) => it !== null && typeof it !== 'number');
    if (list.length !== length)
      fault ??= `the history ${shown} in metadata.json has ${list.length} values, and the study declares ${length} times; give one number or null for each`;
    else if (odd >= 0)
      fault ??= `value ${odd + 1} of the history ${shown} in metadata.json is not a number; give a number or null`;
    else
      values.set(
        name,
        Float64Array.from(list, (it) => (typeof it === 'number' ? it : NaN)),
      );
  }
  return { values, fault };
}
