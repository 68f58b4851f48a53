/** The data of the topics of the live feed, by the names under which clients subscribe to them. */
import { Type, type Static } from 'typebox';
import { BatchStatusResponse } from '../resources/batches.ts';
import { enumOf, flag, listOf, nullable, ref, text } from '../build.ts';
import { JOB_STATUSES, ROUND_EVENTS } from '../enums.ts';
import { Job, JobHistory, JobResult } from '../resources/jobs.ts';
import { shownProperties, storedCount, storedTime } from '../members/member-schemas.ts';
import { JOB_MEMBERS } from '../members/members.ts';
import { SitePool } from '../resources/demand.ts';
import { Runner } from '../resources/runners.ts';

/** The latest state of a run. Times in ms since the epoch; members without a value are absent. */
export const RunRow = Type.Object({
  run: storedCount,
  status: enumOf(JOB_STATUSES, 'The status of the run.'),
  ...shownProperties(JOB_MEMBERS, 'live', 'required'),
  ...shownProperties(JOB_MEMBERS, 'live', 'optional'),
  /** The outputs that are numbers, by flat name, with `execution_secs` among them; booleans as 0 and 1. */
  outputs: Type.Optional(Type.Record(Type.String(), Type.Number())),
});
export interface RunRow extends Static<typeof RunRow> {}

/** `batches`: the open batches, then those that changed. */
export const BatchesData = Type.Object({
  batches: listOf(ref(BatchStatusResponse), 'The progress of each.'),
  deleted: Type.Optional(listOf(Type.String(), 'Ids of deleted batches.')),
});
export interface BatchesData extends Static<typeof BatchesData> {}

/** A round of an adaptive study that was appended, or of which the last run has ended. */
export const RoundEvent = Type.Object({
  event: enumOf(ROUND_EVENTS, '`round-complete` says of a new round also that it was appended.'),
  round: storedCount,
  first_run_id: storedCount,
  count: storedCount,
});
export interface RoundEvent extends Static<typeof RoundEvent> {}

/** `batch/<id>`: its progress, and in a delta the runs and the rounds that changed. */
export const BatchData = Type.Object({
  progress: ref(BatchStatusResponse),
  runs: Type.Optional(Type.Array(RunRow)),
  rounds: Type.Optional(listOf(RoundEvent, 'Rounds that were appended or completed, each once; absent for none.')),
  reload: Type.Optional(flag('True when too many runs changed for rows: the client must read them again.')),
});
export interface BatchData extends Static<typeof BatchData> {}

/** Data of the topic `job/<id>`. */
export const JobData = Type.Object({ job: ref(Job), history: ref(JobHistory), result: nullable(ref(JobResult)) });
export interface JobData extends Static<typeof JobData> {}

/** `pool`: all runners, then those that changed. */
export const PoolData = Type.Object({
  runners: listOf(ref(Runner), 'Their latest state.'),
  forgotten: Type.Optional(listOf(Type.String(), 'Ids of forgotten runners.')),
  site_resources: Type.Optional(listOf(ref(SitePool), 'The pools of the coordinator; absent: it holds none.')),
  now: storedTime,
});
export interface PoolData extends Static<typeof PoolData> {}

const counts = Type.Record(Type.String(), Type.Integer());

/** `machine/<kind>`: actors by state, transitions since the last message as `from|event|to`, and the latest events. */
export const MachineData = Type.Object({
  counts,
  flow: counts,
  events: Type.Array(
    Type.Object({
      id: text('The actor.'),
      event: text('The type of the event; empty for a new actor.'),
      from: Type.Optional(text('The state before; absent for a new actor.')),
      to: text('The state after.'),
      now: storedTime,
    }),
  ),
});
export interface MachineData extends Static<typeof MachineData> {}

const actorEvent = Type.Object({ type: Type.String(), now: Type.Optional(Type.Number()) });

/** The latest refused events of an actor and notes about it, as far as the coordinator remembers them. */
export const Journal = Type.Object({
  /** The start of the coordinator: earlier ones are not kept. */
  since: storedTime,
  refused: listOf(
    Type.Object({
      event: actorEvent,
      state: text('The state that did not take it.'),
      context: Type.Object({}),
      now: storedTime,
      times: storedCount,
    }),
    'The latest 12; equal ones in a row are one.',
  ),
  notes: listOf(
    Type.Object({ type: Type.String(), now: storedTime, detail: Type.Optional(Type.String()) }),
    'The latest 60 measures of the supervisor and changes of a runner.',
  ),
});
export interface Journal extends Static<typeof Journal> {}

/** `machine/<kind>/<id>`: the state of an actor, then each event that it takes. `journal`: in a delta when it has changed. */
export const ActorData = Type.Object({
  value: Type.String(),
  context: Type.Object({}),
  now: storedTime,
  journal: Type.Optional(Journal),
});
export interface ActorData extends Static<typeof ActorData> {}
export const ActorSteps = Type.Object({
  steps: Type.Array(
    Type.Object({
      event: Type.Optional(actorEvent),
      from: Type.Optional(Type.String()),
      to: Type.String(),
      context: Type.Object({}),
      now: storedTime,
    }),
  ),
  journal: Type.Optional(Journal),
});
export interface ActorSteps extends Static<typeof ActorSteps> {}

/** The names of topics; `DataOf` has the data of each. */
export type TopicName = 'batches' | 'pool' | `${'batch' | 'job' | 'machine'}/${string}`;
export type DataOf<Name extends TopicName> = Name extends 'batches'
  ? BatchesData
  : Name extends 'pool'
    ? PoolData
    : Name extends `batch/${string}`
      ? BatchData
      : Name extends `job/${string}`
        ? JobData
        : Name extends `machine/${string}/${string}`
          ? ActorData | ActorSteps
          : MachineData;
