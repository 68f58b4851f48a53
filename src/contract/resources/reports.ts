/** Reports of a runner about its jobs, single and in bulk. */
import { Type, type Static } from 'typebox';
import { FAIL_REASONS } from '../enums.ts';
import {
  answered,
  enumOf,
  flag,
  listOf,
  literal,
  mapOf,
  named,
  optionalNullable,
  ref,
  submitted,
  tagged,
} from '../build.ts';
import { jobStatus, measuredMembers, parametersRead } from './jobs.ts';
import { CodeIdentity } from '../code/identity.ts';
import { Problem } from './problem.ts';
import { LIMITS } from '../limits.ts';
import { REPORTED_ADDRESS_PATTERN } from '../patterns.ts';
import { freeForm, instance, int32, runnerId, uuid } from '../scalars.ts';

const attempt = int32('Number of the attempt, from the claim.', { minimum: 1 });
const reason = enumOf(
  FAIL_REASONS,
  'The reason of the failure. `exit`, `signal` and `infrastructure` are retried; the others would recur. `files-gone`: of an extraction, the files of its run are not there.',
);
const code = Type.Optional(ref(CodeIdentity));
const errorMessage = Type.String({
  minLength: 1,
  maxLength: LIMITS.errorMessageLength,
  description: 'The message for the user, e.g. the tail of stderr.',
});

export const ReportedResult = named(
  'ReportedResult',
  'The result of a run.',
  submitted({
    execution_time_secs: int32('Duration of the run, in whole seconds.'),
    output_files: listOf(
      Type.String({ maxLength: LIMITS.textLength, pattern: REPORTED_ADDRESS_PATTERN }),
      'Locations of the artifacts on the machine of the runner.',
      LIMITS.outputFiles,
    ),
    metadata: freeForm('Any JSON object that the simulation wrote.'),
    telemetry_data: optionalNullable(
      Type.String({
        maxLength: LIMITS.textLength,
        pattern: REPORTED_ADDRESS_PATTERN,
        description: 'Location of the telemetry file on the machine of the runner.',
      }),
    ),
    code_changed: Type.Optional(
      flag(
        'True: files of the code changed while the run loaded it, or could not be looked at after its end, so that its version is not known. A study that pins its code executes the run again.',
      ),
    ),
    parameters_read: Type.Optional(parametersRead),
    parameters_asked: Type.Optional(
      listOf(
        Type.String({ maxLength: LIMITS.askedNameLength }),
        'Names that the simulation asked for and that are not parameters of the run.',
        LIMITS.askedNames,
      ),
    ),
    histories: Type.Optional(
      mapOf(Type.String({ maxLength: Math.ceil((LIMITS.historyPoints * 8) / 3) * 4 }), {
        description:
          'History -> its values as little-endian doubles in base64, one for each of its times, NaN where missing. All of the study, or absent.',
        maxProperties: LIMITS.histories,
      }),
    ),
    ...measuredMembers,
  }),
);
export type ReportedResult = Static<typeof ReportedResult>;

export const StartRequest = named(
  'StartRequest',
  'The simulation started.',
  submitted({ runner_id: runnerId('The runner that reports.'), attempt, code }),
);
export type StartRequest = Static<typeof StartRequest>;

export const CompleteRequest = named(
  'CompleteRequest',
  'The simulation finished successfully.',
  submitted({ runner_id: runnerId('The runner that reports.'), attempt, result: ref(ReportedResult) }),
);
export type CompleteRequest = Static<typeof CompleteRequest>;

export const FailRequest = named(
  'FailRequest',
  'The simulation failed.',
  submitted({
    runner_id: runnerId('The runner that reports.'),
    attempt,
    reason,
    error_message: errorMessage,
    result: Type.Optional(ref(ReportedResult)),
  }),
);
export type FailRequest = Static<typeof FailRequest>;

const StartReport = named(
  'StartReport',
  'The simulation of this job started.',
  submitted({ type: literal('start'), job_id: uuid('The job.'), attempt, code }),
);

const CompleteReport = named(
  'CompleteReport',
  'The simulation of this job finished successfully.',
  submitted({ type: literal('complete'), job_id: uuid('The job.'), attempt, result: ref(ReportedResult) }),
);

const FailReport = named(
  'FailReport',
  'The simulation of this job failed.',
  submitted({
    type: literal('fail'),
    job_id: uuid('The job.'),
    attempt,
    reason,
    error_message: errorMessage,
    result: Type.Optional(ref(ReportedResult)),
  }),
);

const HandBackReport = named(
  'HandBackReport',
  'The runner has not started this job and will not: it is Pending again, and nothing is counted.',
  submitted({ type: literal('hand_back'), job_id: uuid('The job.'), attempt }),
);

const ReleaseReport = named(
  'ReleaseReport',
  'The runner was stopped while it executed this job, or its code changed before its process was created, and no process of it is left: it is Pending again, and nothing is counted.',
  submitted({
    type: literal('release'),
    job_id: uuid('The job.'),
    attempt,
    reason: Type.Optional(enumOf(['code-changed'], 'Absent: the runner was stopped.')),
    message: Type.String({
      minLength: 1,
      maxLength: LIMITS.errorMessageLength,
      description: 'Why, for the history of the job.',
    }),
  }),
);

export const Report = named(
  'Report',
  'One report; `type` says which.',
  tagged('type', StartReport, CompleteReport, FailReport, HandBackReport, ReleaseReport),
);
export type Report = Static<typeof Report>;
/** A report of the end of a simulation. */
export type OutcomeReport = Extract<Report, { type: 'complete' | 'fail' }>;
/** A report that a run was interrupted. */
export type ReleaseReport = Extract<Report, { type: 'release' }>;

export const ReportsRequest = named(
  'ReportsRequest',
  'Several reports; each has its own outcome.',
  submitted({ instance, reports: listOf(ref(Report), 'In the order in which they apply.', LIMITS.reports) }),
);
export type ReportsRequest = Static<typeof ReportsRequest>;

const AcceptedReport = named(
  'AcceptedReport',
  'The report was accepted.',
  answered({ job_id: uuid('The job.'), status: jobStatus }),
);

const RefusedReport = named(
  'RefusedReport',
  'The report was refused and changed nothing.',
  answered({ job_id: uuid('The job.'), problem: ref(Problem) }),
);

export const ReportOutcome = named(
  'ReportOutcome',
  'The outcome of one report.',
  Type.Unsafe<Static<typeof AcceptedReport> | Static<typeof RefusedReport>>({
    type: 'object',
    anyOf: [{ $ref: AcceptedReport.$id }, { $ref: RefusedReport.$id }],
  }),
);
export type ReportOutcome = Static<typeof ReportOutcome>;

export const ReportsResponse = named(
  'ReportsResponse',
  'One outcome per report, in the same order.',
  answered({ outcomes: listOf(ref(ReportOutcome), 'The outcomes.') }),
);
export type ReportsResponse = Static<typeof ReportsResponse>;
