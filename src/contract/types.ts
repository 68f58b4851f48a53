/**
 * The types of all shapes on the wire and on disk, derived from their schemas. An import from here loads no schema, so that
 * layers and pages without packages may use it.
 */
export type * from './answers/audit.ts';
export type * from './answers/band.ts';
export type * from './answers/causes.ts';
export type * from './answers/comparison.ts';
export type * from './answers/conclusion.ts';
export type * from './answers/header.ts';
export type * from './answers/indices.ts';
export type * from './answers/outputs.ts';
export type * from './answers/goals/judgement.ts';
export type * from './answers/goals/precision.ts';
export type * from './answers/goals/requirements.ts';
export type * from './answers/table.ts';
export type * from './answers/transitions.ts';
export type * from './resources/batches.ts';
export type * from './code/identity.ts';
export type * from './compute.ts';
export type * from './dispersions.ts';
export type * from './enums.ts';
export type * from './evidence/evidence.ts';
export type * from './resources/files.ts';
export type * from './resources/findings.ts';
export type * from './growth.ts';
export type * from './resources/jobs.ts';
export type * from './resources/live-telemetry.ts';
export type * from './live/messages.ts';
export type * from './live/topics.ts';
export type * from './resources/notifications.ts';
export type * from './resources/problem.ts';
export type * from './queries.ts';
export type * from './members/members.ts';
export type * from './records/notifications.ts';
export type * from './records/judgement.ts';
export type * from './records/records.ts';
export type * from './records/tokens.ts';
export type * from './resources/reports.ts';
export type * from './adaptive/evaluation.ts';
export type * from './adaptive/rounds.ts';
export type * from './resources/demand.ts';
export type * from './resources/launchers.ts';
export type * from './resources/runners.ts';
export type * from './resources/uploads.ts';
export type * from './views.ts';
export type * from './scalars.ts';
export type * from './study.ts';
