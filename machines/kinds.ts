/**
 * The table of actor kinds: machine, unstored members, deadline, revival, deactivation and terminal states of each.
 * Code that treats actors alike (directory, recovery, replay, inspector, dashboard) reads this table. Pure.
 */
import type { AnyStateMachine } from 'xstate';
import type { BatchStatus, JobStatus, NotificationStatus, RunnerStatus } from '../src/contract/types.ts';
import { batchMachine, type BatchContext } from './batch.ts';
import { canaryDeadline } from './batch-parts/history.ts';
import { jobDeadline, reviveJob, type JobContext, type JobInput } from './job-context.ts';
import { jobMachine } from './job.ts';
import { notificationDeadline, reviveNotification, type NotificationContext } from './notification/context.ts';
import { notificationMachine } from './notification/notification.ts';
import type { Deadline } from './deadline.ts';
import { reviveRunner, runnerDeadline, type RunnerContext } from './runner-context.ts';
import { runnerMachine } from './runner.ts';
import { supervisorMachine, type SupervisorContext } from './supervisor/supervisor.ts';

/** An actor's state as a plain value: the state's name, and the context. */
export interface ActorState<Value extends string = string, Context extends object = object> {
  value: Value;
  context: Context;
}
export type JobState = ActorState<JobStatus, JobContext>;
export type BatchState = ActorState<BatchStatus, BatchContext>;
export type RunnerState = ActorState<RunnerStatus, RunnerContext>;
export type NotificationState = ActorState<NotificationStatus, NotificationContext>;

export interface StateOf {
  job: JobState;
  batch: BatchState;
  runner: RunnerState;
  notification: NotificationState;
  supervisor: ActorState<string, SupervisorContext>;
}
export type MachineName = keyof StateOf;

export interface ActorKind<Machine extends AnyStateMachine, State extends ActorState> {
  machine: Machine;
  /** The members of the context that are not stored with the actor: a job derives them from its id and its batch. */
  unstored: readonly (keyof State['context'] & string)[];
  /** The state's deadline, if it has one. */
  deadline(state: State): Deadline | undefined;
  /** Returns the state after a restart of the coordinator at `now`, with its deadlines reset. */
  revive(state: State, now: number): State;
  /** True when the activation may end once the state is on disk: nothing in memory needs the actor. */
  mayDeactivate(state: State): boolean;
  /** The final states of the machine. */
  terminal: ReadonlySet<string>;
}

/** The states that are left no more: final ones, and those in which a machine takes events that change its context alone. */
const finalStates = (machine: AnyStateMachine): ReadonlySet<string> =>
  new Set(
    Object.values(machine.root.states).flatMap((it) =>
      it.type === 'final' || (it.meta as { isEnd?: boolean } | undefined)?.isEnd === true ? [it.key] : [],
    ),
  );

/** A job is stored without what its id and its batch determine. */
const JOB_INPUT = [
  'jobId',
  'batchId',
  'runId',
  'maxRetries',
  'timeLimitMs',
  'cpuMilli',
  'memoryBytes',
  'resources',
] as const satisfies readonly (keyof JobInput)[];

const TERMINAL = {
  job: finalStates(jobMachine),
  batch: finalStates(batchMachine),
  notification: finalStates(notificationMachine),
};

export const KINDS: {
  job: ActorKind<typeof jobMachine, StateOf['job']>;
  batch: ActorKind<typeof batchMachine, StateOf['batch']>;
  runner: ActorKind<typeof runnerMachine, StateOf['runner']>;
  notification: ActorKind<typeof notificationMachine, StateOf['notification']>;
  supervisor: ActorKind<typeof supervisorMachine, StateOf['supervisor']>;
} = {
  job: {
    machine: jobMachine,
    unstored: JOB_INPUT,
    deadline: ({ value, context }) => jobDeadline(value, context),
    revive: ({ value, context }, now) => ({ value, context: reviveJob(value, context, now) }),
    mayDeactivate: ({ value }) => value === 'Pending' || TERMINAL.job.has(value),
    terminal: TERMINAL.job,
  },
  batch: {
    machine: batchMachine,
    unstored: [],
    deadline: ({ context }) => canaryDeadline(context),
    revive: (state) => state,
    mayDeactivate: ({ value }) => TERMINAL.batch.has(value),
    terminal: TERMINAL.batch,
  },
  runner: {
    machine: runnerMachine,
    unstored: [],
    deadline: ({ value, context }) => runnerDeadline(value, context),
    revive: ({ value, context }, now) => ({ value, context: reviveRunner(context, now) }),
    mayDeactivate: () => false,
    terminal: finalStates(runnerMachine),
  },
  notification: {
    machine: notificationMachine,
    unstored: [],
    deadline: ({ value, context }) => notificationDeadline(value, context),
    revive: ({ value, context }, now) => ({ value, context: reviveNotification(value, context, now) }),
    mayDeactivate: ({ value }) => TERMINAL.notification.has(value),
    terminal: TERMINAL.notification,
  },
  supervisor: {
    machine: supervisorMachine,
    unstored: [],
    deadline: () => undefined,
    revive: (state) => state,
    mayDeactivate: () => false,
    terminal: finalStates(supervisorMachine),
  },
};

export const MACHINE_NAMES = Object.keys(KINDS) as readonly MachineName[];

/** True for a final state of a job or a batch. */
export const isTerminal = (value: string): boolean => TERMINAL.job.has(value);
