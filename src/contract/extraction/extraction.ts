/** Extractions: what is computed of the files of finished runs, as a study of its own. Requests, answers, and the stored form. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, named, ref, submitted, text } from '../build.ts';
import { FunctionCode, functionText } from '../compute.ts';
import { BATCH_STATUSES, RELATIONS } from '../enums.ts';
import { RunSelect } from '../growth.ts';
import { JobResult } from '../resources/jobs.ts';
import { count, freeText, int32, name, runnerId, uuid } from '../scalars.ts';
import { SubmissionResponse } from '../study.ts';
import { historyMembers } from '../histories/config.ts';

const runIds = (description: string) => text(description);
/** Names of extractions, which are part of names of columns. */
export const EXTRACTION_NAME = '^[A-Za-z_][A-Za-z0-9_-]{0,31}$';

const extractionName = Type.String({
  pattern: EXTRACTION_NAME,
  description:
    'Its name, unique among the extractions of the study: the table of the study has its outputs as `NAME.output`. Without it `x1`, `x2`, ...',
});

export const RunsWithoutFiles = named(
  'RunsWithoutFiles',
  'Finished runs whose files are gone, so that nothing can be computed of them.',
  answered({
    runs: int32('How many.'),
    run_ids: runIds('Which, such as `3,17-20`.'),
    why: text('Why, of the first one.'),
  }),
);
export type RunsWithoutFiles = Static<typeof RunsWithoutFiles>;

export const ExtractionProgram = named(
  'ExtractionProgram',
  'The program of an extraction: a simulation of the runners, which finds the files of the finished run.',
  submitted({
    name: name(
      'Its name, as `config.simulation.name` of a study has it; `python-functions-...` of a function that the request carries.',
    ),
    version: Type.Optional(freeText('A version label; empty without it.')),
    code: Type.Optional(ref(FunctionCode)),
    timeout_seconds: Type.Optional(int32('Time limit of each run; 0, the default: none.', { minimum: 0 })),
  }),
);
export type ExtractionProgram = Static<typeof ExtractionProgram>;

export const ExtractionRequest = named(
  'ExtractionRequest',
  'What is computed of the files that finished runs have left: `derived`, `histories` or both, of their telemetry; or `with`, by a program.',
  submitted({
    name: Type.Optional(extractionName),
    derived: Type.Optional(historyMembers.derived),
    histories: Type.Optional(historyMembers.histories),
    with: Type.Optional(ref(ExtractionProgram)),
    code: Type.Optional(
      functionText('The serialised function of `with`, in base64, up to 1 MiB. `with.code` has its digest.'),
    ),
    select: Type.Optional({
      ...ref(RunSelect),
      description: 'The runs; those in the state Completed where neither `states` nor `failure_kind` is given.',
    }),
  }),
);
export type ExtractionRequest = Static<typeof ExtractionRequest>;

const { continuation: _, ...created } = SubmissionResponse.properties;

export const ExtractionResponse = named(
  'ExtractionResponse',
  'The created batch.',
  answered({
    ...created,
    relation: enumOf(RELATIONS, '`extraction`.'),
    name: text('The name of the extraction.'),
    without_files: Type.Optional({
      ...ref(RunsWithoutFiles),
      description: 'Selected runs that are not in the batch. Absent: none.',
    }),
  }),
);
export type ExtractionResponse = Static<typeof ExtractionResponse>;

export const ExtractionList = named(
  'ExtractionList',
  'The extractions of a batch, oldest first.',
  answered({
    extractions: listOf(
      answered({
        batch_id: uuid('The batch of the extraction.'),
        name: text('Its name.'),
        status: enumOf(BATCH_STATUSES, 'Its status.'),
        runs: int32('Its runs.'),
        completed: int32('Those that have completed.'),
        without_files: Type.Optional({
          ...ref(RunsWithoutFiles),
          description:
            'Runs whose files were gone: when it was submitted, or when a runner looked for them. Absent: none so far.',
        }),
        notes: listOf(text('A sentence.'), 'How its values differ from those of a study that declares them.'),
      }),
      'Empty without any.',
    ),
  }),
);
export type ExtractionList = Static<typeof ExtractionList>;

export const ParentFilesRequest = named(
  'ParentFilesRequest',
  'A runner asks for the files of the run that a run of an extraction is about.',
  submitted({
    runner_id: runnerId('The runner that executes the attempt.'),
    attempt: int32('Number of the attempt.', { minimum: 1 }),
    from: Type.Optional(
      int32('How many files to skip: the `next` of the answer before; 0 by default.', { minimum: 0 }),
    ),
  }),
);
export type ParentFilesRequest = Static<typeof ParentFilesRequest>;

export const ParentFiles = named(
  'ParentFiles',
  'A finished run, its result, and where its files are.',
  answered({
    gone: Type.Optional(text('Why there are no files; the other members are absent then.')),
    batch_id: Type.Optional(uuid('The batch whose folder has the files.')),
    run_id: Type.Optional(int32('The run.')),
    attempt: Type.Optional(int32('The attempt that left them.')),
    result: Type.Optional(ref(JobResult)),
    files: Type.Optional(
      listOf(
        answered({
          path: text('Its path in the attempt.'),
          bytes: Type.Optional(count('Its size, of a file in the object store.')),
          url: Type.Optional(
            text('The address from which it is read by GET, for an hour. Absent: it is on the runner of the attempt.'),
          ),
        }),
        'Files that the extraction reads, up to 500.',
      ),
    ),
    next: Type.Optional(int32('The `from` of the next files; absent: these are the last.')),
  }),
);
export type ParentFiles = Static<typeof ParentFiles>;

/** How a batch extracts, as its submission record has it. */
export const StoredExtraction = Type.Object({
  name: text('The name of the extraction.'),
  places: listOf(
    Type.Object({
      runner: Type.Optional(text('The runner that has the files; absent: any runner reaches them.')),
      run_ids: runIds('The runs.'),
    }),
    'Which runner has the files of which runs. Each run is in one place.',
  ),
  withoutFiles: Type.Optional(ref(RunsWithoutFiles)),
});
export interface StoredExtraction extends Static<typeof StoredExtraction> {}
