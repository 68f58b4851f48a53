/** Makes the outcome that is reported of an ended simulation: success, or a failure with its reason. */
import { lstat, statfs } from 'node:fs/promises';
import type { KillCause } from '../../../machines/attempt.ts';
import type { Clock } from '../../base/clock.ts';
import type { FailReason, ReportedResult } from '../../contract/types.ts';
import type { SpooledAttempt } from '../spool.ts';
import { isDiskFull, systemCode } from '../system-error.ts';
import type { TelemetrySummary } from '../telemetry/server.ts';
import type { Waits } from '../waits.ts';
import { collectArtifacts } from '../files/artifacts.ts';
import type { Artifacts } from '../files/artifacts.ts';
import { lookUpMembers } from '../files/look-ups.ts';
import type { CodeChange } from '../code/engine-codes.ts';
import { launchFault } from '../launch/engine.ts';
import type { ProcessInfo } from '../processes/proc-fs.ts';
import { describeProcess } from '../processes/process-scope.ts';
import type { HistoryCollector } from '../telemetry/histories/collector.ts';
import { archivedOf, leftMs } from './result/archived.ts';
import { computedOf } from './result/computed.ts';
import { measuredMembers, telemetryNotes } from './result/measured.ts';
import type { ExecutionPlan, ExecutionSite } from './execution-site.ts';
import type { Ending } from '../launch/launcher.ts';
import type { SimulationProcess } from './simulation-process.ts';

export type AttemptEnd =
  | { type: 'complete'; result: ReportedResult }
  | { type: 'fail'; reason: FailReason; error_message: string; result?: ReportedResult }
  /** Its runner is stopped, or its machine taken away: it is executed again, and nothing is counted. */
  | { type: 'released'; message: string; reason?: 'code-changed' }
  /** The forkserver ended, so the exit of the simulation is unknown: the run is executed again, and the machine is not at fault. */
  | { type: 'lost'; error_message: string; result: ReportedResult }
  /** The attempt was ended because the coordinator or the operator no longer wants it; no outcome is reported. */
  | { type: 'abandoned' };

const CODE_NOTES: Readonly<Record<CodeChange, readonly string[]>> = {
  none: [],
  'while loading': ['its code changed while it loaded it: which version it executed is not known'],
  later: ['its code changed while it ran: parts that it loaded late may be of the other version'],
  unknown: [
    'whether its code changed while it loaded it is not known, since the files of the simulation could not be looked at in time: its code is unknown',
  ],
};

/** The record of an ended attempt, with whether it has left a folder: a carried function makes one when it asks for it. */
export function leftBy(
  planned: { type: 'plan'; plan: Pick<ExecutionPlan, 'code'> } | { type: 'invalid' },
  { record, end }: { record: SpooledAttempt; end: AttemptEnd },
): SpooledAttempt {
  if (planned.type === 'invalid' || planned.plan.code === undefined || end.type !== 'complete') return record;
  const { output_files, telemetry_data } = end.result;
  return output_files.length > 0 || telemetry_data != null ? record : { ...record, hasNoFolder: true };
}

export interface EndedRun {
  /** Why its runner leaves, when the run ended with it. */
  interruption: string | undefined;
  plan: ExecutionPlan;
  workingDirectory: string;
  simulation: Pick<SimulationProcess, 'container' | 'lastLines' | 'logFault' | 'removeEmptyLogs'>;
  /** The files of the run, where they are known. */
  artifacts?: Artifacts | undefined;
  /** The parameters that it looked up, where its process has reported them. */
  reads?: unknown;
  ending: Ending;
  command: string;
  elapsedMs: number;
  /** Summary of the telemetry; undefined where its files could not be completed, which a note says. */
  telemetry: TelemetrySummary | undefined;
  /** Has taken its telemetry; undefined: the study has no histories and derived outputs. */
  histories: HistoryCollector | undefined;
  killedFor: KillCause | undefined;
  exceededMemory: boolean;
  codeChange: CodeChange;
  site: Pick<ExecutionSite, 'archiver' | 'leaving'>;
  /** Processes are left, or its logs are not complete: its files may still change. */
  isOpen: boolean;
  /** Notes for the reader of the result. */
  notes: string[];
}

/** Free bytes below which the disk counts as full when a simulation fails. */
const FULL_BYTES = 1 << 20;
const MESSAGE_BYTES = 4096;
/** The end of an attempt whose code differs from that which its start has reported. */
export const CODE_CHANGED: AttemptEnd = {
  type: 'released',
  reason: 'code-changed',
  message: 'its code changed before its process was created',
};
/** Listing the artifacts ends by itself after this long, with a note. */
const LISTING_MS = 60_000;
const ARTIFACTS_DEADLINE_MS = 75_000;
const DISK_DEADLINE_MS = 10_000;

const SIGNAL_WORDS: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: 'it aborted itself, e.g. by a failed assertion',
  SIGBUS: 'bad memory access',
  SIGFPE: 'arithmetic error',
  SIGILL: 'illegal instruction',
  SIGKILL: 'not by the runner: perhaps the machine ran out of memory',
  SIGSEGV: 'segmentation fault',
  SIGXCPU: 'CPU time limit',
  SIGXFSZ: 'file size limit',
};

/** @throws DeadlineError when the output directory does not answer. */
export async function concludeAttempt(clock: Clock, waits: Waits, run: EndedRun): Promise<AttemptEnd> {
  const { plan, simulation, ending, killedFor, elapsedMs, telemetry, notes } = run;
  if (killedFor?.type === 'abandoned') return { type: 'abandoned' };
  if (killedFor?.type === 'interrupted') return { type: 'released', message: killedFor.detail };
  if (ending.type === 'code-changed') return CODE_CHANGED;
  const { directory, timeoutSecs } = plan;
  if (ending.type === 'failed-to-start') {
    const why = ending.detail ?? (await launchFault(ending.code, run.command, run.workingDirectory));
    return ending.code === 'E2BIG' ? { type: 'fail', reason: 'invalid', error_message: why } : infrastructure(why);
  }
  if (ending.type === 'displaced') return { type: 'released', message: ending.detail };
  if (run.interruption !== undefined && !run.exceededMemory)
    return { type: 'released', message: `it was stopped (${run.interruption}); ${describeInterrupted(ending)}` };
  const found = run.artifacts ?? (await artifactsOf(clock, waits, directory));
  const computed = await computedOf(clock, waits, run, found);
  const removed = simulation.removeEmptyLogs();
  const { codeChange } = run;
  const archived = await archivedOf(waits, {
    archiver: run.site.archiver,
    leaving: run.site.leaving,
    directory,
    files: found.files.filter((it) => !removed.includes(it)),
    telemetry: telemetry?.location,
    limitMs: leftMs(plan, clock),
    isOpen: run.isOpen || telemetry === undefined || ending.type === 'survived',
  });
  const allNotes = [
    ...found.notes,
    ...notes,
    ...computed.notes,
    ...CODE_NOTES[codeChange],
    ...(telemetry === undefined ? [] : telemetryNotes(telemetry)),
    ...archived.notes,
  ];
  const result: ReportedResult = {
    execution_time_secs: Math.round(elapsedMs / 1000),
    output_files: archived.files,
    metadata: {
      ...computed.metadata,
      ...(simulation.container === undefined ? {} : { simbatch_container: simulation.container }),
      ...(allNotes.length === 0 ? {} : { simbatch_notes: allNotes }),
    },
    ...(codeChange === 'while loading' || codeChange === 'unknown' ? { code_changed: true } : {}),
    ...(telemetry?.location == null ? {} : { telemetry_data: telemetry.location }),
    ...computed.members,
    ...lookUpMembers(run.reads ?? found.reads, plan.runConfig.parameters),
    ...(telemetry === undefined ? {} : measuredMembers(elapsedMs, telemetry, killedFor?.type === 'early_termination')),
  };
  const failed = (reason: FailReason, message: string): AttemptEnd => {
    const lines = simulation.lastLines(MESSAGE_BYTES);
    return { type: 'fail', reason, error_message: lines === '' ? message : `${message}\n${lines}`, result };
  };
  if (killedFor?.type === 'timeout')
    return failed('timeout', `killed after its time limit of ${String(timeoutSecs)} s`);
  if (killedFor?.type === 'early_termination') return failed('early_termination', killedFor.detail);
  if (ending.type === 'lost') {
    return { type: 'lost', error_message: ending.detail, result };
  }
  if (ending.type === 'survived') return failed('infrastructure', 'the simulation could not be ended');
  if (ending.type === 'exit' && ending.code === 0)
    return computed.fault === undefined ? { type: 'complete', result } : failed('invalid', computed.fault);
  if (run.exceededMemory) {
    return failed('signal', `the simulation ${describeEnding(ending)}: it exceeded container.memory_limit`);
  }
  const full = isDiskFull(simulation.logFault) || (await isFull(waits, directory));
  if (full)
    return failed('infrastructure', `the disk of ${directory} is full; the simulation ${describeEnding(ending)}`);
  return failed(ending.type, `the simulation ${describeEnding(ending)}${signalWords(ending)}`);
}

/** Whether the run has left no output directory. @throws DeadlineError when the disk does not answer. */
export async function isMissing(waits: Waits, directory: string): Promise<boolean> {
  const found = lstat(directory).then(
    () => false,
    (error: unknown) => systemCode(error) === 'ENOENT',
  );
  return await waits.within(DISK_DEADLINE_MS, `looking at ${directory}`, found);
}

/** The files and outputs in the output directory. @throws DeadlineError when it does not answer. */
export async function artifactsOf(clock: Clock, waits: Waits, directory: string): Promise<Artifacts> {
  const stop = { aborted: false };
  const cancel = clock.after(LISTING_MS, () => {
    stop.aborted = true;
  });
  try {
    const listing = collectArtifacts(directory, stop);
    return await waits.within(ARTIFACTS_DEADLINE_MS, `listing ${directory}`, listing);
  } finally {
    cancel();
  }
}

export function infrastructure(message: string): AttemptEnd {
  return { type: 'fail', reason: 'infrastructure', error_message: message };
}

type Ended = Extract<Ending, { type: 'exit' | 'signal' }>;

function describeEnding(ending: Ended): string {
  return ending.type === 'exit' ? `exited with code ${String(ending.code)}` : `was killed by signal ${ending.signal}`;
}

function describeInterrupted(
  ending: Exclude<Ending, { type: 'failed-to-start' | 'code-changed' | 'displaced' }>,
): string {
  if (ending.type === 'lost') return ending.detail;
  return ending.type === 'survived' ? 'the simulation could not be ended' : `the simulation ${describeEnding(ending)}`;
}

function signalWords(ending: Ended): string {
  const words = ending.type === 'signal' ? SIGNAL_WORDS[ending.signal] : undefined;
  return words === undefined ? '' : ` (${words})`;
}

async function isFull(waits: Waits, directory: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await waits.within(DISK_DEADLINE_MS, `looking at ${directory}`, statfs(directory));
    return bavail * bsize < FULL_BYTES;
  } catch {
    return false;
  }
}

/** For the result of a run whose processes survive. */
export const survivorsNote = (survivors: readonly ProcessInfo[]): string =>
  `${String(survivors.length)} of its processes could not be ended: ${survivors.map(describeProcess).join(', ')}`;
