/**
 * The engine interface: the launcher's questions to Slurm and other providers of machines. An engine starts and ends
 * allocations; when and how many is decided elsewhere.
 */
import type { Static, TSchema } from 'typebox';
import type { Clock } from '../base/clock.ts';
import type { AllocationEndKind, DemandGroup } from '../contract/types.ts';
import type { AllocationSize, QueueConfig } from './settings.ts';

/** How the runner of an allocation is started. */
export interface RunnerCommand {
  /**
   * The command that starts a runner, as the machine of the allocation names it: `['simbatch', 'runner']`, or a kit's
   * `['/opt/simbatch-runner-0.1.0/simbatch-runner']`. Undefined where the queue's `runner.program` is absent: the engine uses its
   * own way to a runner (the kit, an image).
   */
  program: readonly string[] | undefined;
  /** The options of the runner: `--runner-id ... --allocation ...`. They contain no secret. */
  args: readonly string[];
  /** Variables of the runner's environment. They contain no secret. */
  environment: Readonly<Record<string, string>>;
}

/** Everything that an engine needs to start one allocation. */
export interface AllocationRequest {
  /**
   * Unique for ever, 12 characters of `[0-9a-z]`, the first a letter. The engine records it where `list` finds it again
   * (Slurm: `--comment`, Kubernetes: the Job's name, ssh: the name of the pid folder).
   */
  id: string;
  queue: string;
  size: AllocationSize;
  /** The wall time of the allocation. The runner gets the same as `--max-lifetime` among its arguments. */
  lifetimeSecs: number;
  runner: RunnerCommand;
  /**
   * The token of the runner, as its variable SVC_TOKEN or by its option `--token-fd`; undefined for a coordinator without tokens. A secret: never part of
   * a command line, a comment, a label or a script that other users can read.
   */
  token: string | undefined;
  /**
   * The group of runs for which the allocation was planned, with the place that its study asks for (`kubernetes`,
   * `baremetal`, `image`). Undefined for an allocation of the queue's minimum. `mismatch` has accepted it.
   */
  need: DemandGroup | undefined;
}

/** The engine's own state of an allocation. */
export type EngineState =
  /** The allocation is submitted and not started. */
  | 'queued'
  /** The processes of the allocation run, or are being started. */
  | 'running'
  /** The allocation was asked to end, and has not ended yet. */
  | 'stopping'
  | 'ended';

/**
 * Why an allocation ended: `completed` and `failed` by its runner, or its start, with or without exit code 0; `timeout` at its lifetime;
 * `preempted`, `evicted` and `node-failure` by the cluster; `out-of-memory` by exceeding its own limit; `cancelled` by `stop` or a person with the
 * engine's own tools; `unknown` when the engine does not say. Only `failed` and `out-of-memory` can be the fault of the queue's configuration.
 */
export type EndKind = Exclude<AllocationEndKind, 'gone'>;

/** An allocation as the engine sees it. */
export interface EngineAllocation {
  /** The id of its request. */
  id: string;
  queue: string;
  /** The engine's own identification, for `stop` and for people: a Slurm job id, a Job's name, `host:pid`. */
  handle: string;
  /** The part of the engine that has it, e.g. an ssh host; undefined where the engine has no parts. See `Silence`. */
  place?: string;
  state: EngineState;
  /** The engine's reason for its state, as it says it: `Resources`, `ErrImagePull: ...`. One line, at most 500 characters. */
  reason?: string;
  /** Milliseconds since the epoch; absent where the engine does not say. */
  startedAtMs?: number;
  /** Time at which the engine will end the allocation, in milliseconds since the epoch. */
  endsAtMs?: number;
  /** Only, and always, with `ended`. */
  end?: { kind: EndKind; exitCode?: number };
}

/** A part of the engine that gave no answer: its allocations are frozen, neither ended nor replaced. */
export interface Silence {
  queue: string;
  /** The silent part. Undefined: the whole queue, which then gets no new allocations either. */
  place?: string;
  /** The reason, for people. */
  why: string;
}

/** The answer to `list`. */
export interface EngineView {
  /**
   * Every allocation under the launcher's label that lives; ended ones for as long as the engine remembers them. An
   * allocation that is absent, and not silent, has ended or was never submitted.
   */
  allocations: readonly EngineAllocation[];
  silent: readonly Silence[];
}

/** The answer to `submit`. */
export interface Submitted {
  handle: string;
  place?: string;
}

/** One fault or confirmation of `check`. */
export interface CheckResult {
  queue: string;
  isFault: boolean;
  /** One sentence in the shape of error messages: `<what failed>: <why>; <remedy>`, or a confirmation. */
  message: string;
}

/** An allocation that has ended long ago. */
export type EndedAllocation = Pick<EngineAllocation, 'id' | 'queue'> & { place: string | undefined };

/** The answer to `clean`. */
export interface Cleaned {
  /** Allocations of which something was deleted, and its bytes. */
  count: number;
  bytes: number;
  /** Ids of those whose log or folder is still there, or may be, and the reason. */
  kept: readonly string[];
  why?: string;
}

/**
 * All queues of one engine. Every method gives up after a deadline of its own and leaves no process.
 *
 * The rules that make crashes harmless:
 * - The id is on disk before `submit` is called, and `submit` is called at most once for an id.
 * - When the outcome of `submit` is unknown (a crash, `EngineUnreachable`), the launcher waits until `list` has not named the id
 *   for `settleMs`; then it was never submitted. The engine guarantees that no submission takes effect later than that.
 * - An engine that can refuse a second allocation of the same id does so, and returns the first one.
 */
export interface Engine {
  /** Time after which a submission of unknown outcome that `list` does not name has no effect any more. */
  readonly settleMs: number;
  /**
   * One query per independent part (a controller, a cluster's namespace, a host) for all allocations together, never one per
   * allocation. A part that does not answer is in `silent`, so that the others are not frozen with it.
   */
  list(): Promise<EngineView>;
  /**
   * Starts an allocation.
   * @throws EngineRefused when it will not be accepted as it is; nothing was submitted
   * @throws EngineUnreachable when there is no answer; whether it was submitted is unknown
   */
  submit(request: AllocationRequest): Promise<Submitted>;
  /**
   * Asks allocations to end: SIGTERM to the runner, which hands its runs back; with `now`, as fast as the engine can. An allocation
   * that has ended is not an error. The allocations are as `list` returned them.
   * @throws EngineUnreachable when there is no answer; the launcher calls again
   */
  stop(allocations: readonly EngineAllocation[], now: boolean): Promise<void>;
  /** Deletes the logs and folders that these allocations have left; absent where the engine keeps none. Does not throw: `why` has the fault. */
  clean?(ended: readonly EndedAllocation[]): Promise<Cleaned>;
  /**
   * Asks the engine whether it would accept an allocation of each queue as it is configured, and starts nothing. Also for
   * each need that a study file adds. Does not throw for a fault: it is in the results.
   */
  check(requests: readonly AllocationRequest[]): Promise<CheckResult[]>;
  /** The text that `submit` hands to the engine (batch script, manifest, shell script), without the token. Pure. */
  script(request: AllocationRequest): string;
}

/** The parts of the launcher that an engine may use. */
export interface EngineContext<Section> {
  /** The launcher's name: the label that marks its allocations in the engine. `[a-z0-9]([a-z0-9-]*[a-z0-9])?`, at most 40. */
  launcher: string;
  /** The address under which runners reach the coordinator: the `--endpoint` of every request. */
  runnerEndpoint: string;
  /** The queues of this engine. */
  queues: readonly QueueConfig<Section>[];
  clock: Clock;
  /** The environment of the launcher's process: HOME, PATH, KUBECONFIG, SSH_AUTH_SOCK. */
  env: Readonly<Record<string, string | undefined>>;
  /** Folder of launcher.yaml, where its relative paths start. */
  baseDirectory: string;
  /** A private folder of the launcher (0700) in which the engine may keep files that a restart does not need. */
  scratchDirectory: string;
  /** Days for which the launcher keeps what ended allocations leave; undefined: the engine decides. */
  keepDays?: number | undefined;
}

/** One engine: a row of `engines/table.ts`. It owns the schema of its section of a queue. */
export interface EngineModule<Schema extends TSchema = TSchema> {
  /** The value of `engine`, and the name of the section. */
  name: string;
  /** The section of a queue; every member with a description. Faults are reported with their place in launcher.yaml. */
  section: Schema;
  /** Faults that the schema cannot express, each with its pointer inside the section; empty for a usable one. */
  faults(queue: QueueConfig<Static<Schema>>): { pointer: string; detail: string }[];
  /**
   * Why runs of this group can never execute in allocations of this queue, as the end of a sentence ("its namespace is a, the
   * queue's is b"); undefined when they can. A study may only narrow a queue; its hosts, namespaces and key paths are compared
   * with the queue's and never used by themselves. Pure. Cores, memory, lifetime and simulation are compared elsewhere.
   */
  mismatch(queue: QueueConfig<Static<Schema>>, need: DemandGroup): string | undefined;
  /** Makes the engine, without a call to its system. */
  open(context: EngineContext<Static<Schema>>): Engine;
}

/** The engine will not accept this allocation as it is configured: a wrong partition, a quota, a manifest that is not valid. */
export class EngineRefused extends Error {
  /** `why`: the engine's own words, at most 500 characters, one line; with a remedy where one is known. */
  constructor(why: string, options?: { cause?: unknown }) {
    super(oneLine(why), options);
    this.name = 'EngineRefused';
  }
}

/** The engine gave no answer, or a transient error such as a busy controller. Never ends or replaces an allocation. */
export class EngineUnreachable extends Error {
  constructor(why: string, options?: { cause?: unknown }) {
    super(oneLine(why), options);
    this.name = 'EngineUnreachable';
  }
}

/** Certainly nothing was started, since parts of the engine give no answer and the others have no room. No failure of the queue: it waits. */
export class NothingStarted extends EngineUnreachable {
  constructor(why: string, options?: { cause?: unknown }) {
    super(why, options);
    this.name = 'NothingStarted';
  }
}

const LONGEST_REASON = 500;

/** Text of an engine as one line of at most 500 characters, without control characters. */
export function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim();
  return line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON - 3)}...` : line;
}

/** The message of an error as such a line. */
export const errorLine = (error: unknown): string => oneLine(error instanceof Error ? error.message : String(error));
