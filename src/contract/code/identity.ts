/** The identity of the code that a runner starts, as it is registered, claimed with, reported and answered. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, flag, listOf, named, nullable, ref, submitted, text } from '../build.ts';
import { LIMITS } from '../limits.ts';
import { count, int32 } from '../scalars.ts';

/** The digested bytes: files of the runner's machine, the function of a study, or an image. */
export const CODE_KINDS = ['entrypoint', 'function', 'image'] as const;

const HEX = '^[0-9a-f]{64}$';
const digest = (description: string) => Type.String({ pattern: HEX, description });
const longText = (description: string) => text(description, { maxLength: LIMITS.pathLength });

export const CodeCommit = named(
  'CodeCommit',
  'The commit of the git repository in which the code is.',
  submitted({
    commit: Type.String({ pattern: '^[0-9a-f]{40}([0-9a-f]{24})?$', description: 'The commit.' }),
    dirty: nullable(
      flag('True: a code file differs from the commit, or is not in it. Null: not known, since git did not answer.'),
    ),
    describe: nullable(
      text('`git describe --tags --always` of the commit; null: not known.', { maxLength: LIMITS.textLength }),
    ),
  }),
);
export type CodeCommit = Static<typeof CodeCommit>;

export const CodeIdentity = named(
  'CodeIdentity',
  'The code that a runner executes: equal digests are equal bytes.',
  submitted({
    kind: enumOf(CODE_KINDS, '`entrypoint`: files of the machine. `function`: of the study. `image`: of the study.'),
    digest: digest('SHA-256 of the code; see docs/code.md.'),
    git: Type.Optional(ref(CodeCommit)),
    files: Type.Optional(int32('Number of digested files; absent for a function and an image.')),
    root: Type.Optional(longText('The folder to which their paths are relative.')),
    image: Type.Optional(
      text('Digest of the image in which files of the machine are executed; it is part of `digest`.', {
        maxLength: LIMITS.nameLength,
      }),
    ),
    note: Type.Optional(longText('What the digest does not cover, and the remedy; absent: it covers all code files.')),
  }),
);
export type CodeIdentity = Static<typeof CodeIdentity>;

export const RunnerEngine = named(
  'RunnerEngine',
  'An engine of a runner, with the code that it would start now.',
  submitted({
    name: text('The simulation that it executes, or `*`.', { minLength: 1, maxLength: LIMITS.nameLength }),
    image: Type.Optional(
      longText('The code is that of runs in this image, as the study names it; absent: of runs without one.'),
    ),
    code: Type.Optional(ref(CodeIdentity)),
    unknown: Type.Optional(longText('Why there is no `code`.')),
  }),
);
export type RunnerEngine = Static<typeof RunnerEngine>;

/** The code of the engines, in a registration and in a claim. */
export const engines = Type.Optional(
  listOf(
    ref(RunnerEngine),
    'Its engines with their code, looked at for this request; absent: the runner does not know.',
    LIMITS.tags,
  ),
);

export const CodeVersion = named(
  'CodeVersion',
  'A version of the code that has executed runs of a study.',
  answered({
    digest: nullable(
      digest('SHA-256 of the code; runs name it by its first 12 digits. Null: of the runs whose code is not known.'),
    ),
    kind: enumOf([...CODE_KINDS, 'unknown'], 'What was digested; `unknown`: nothing was.'),
    git: Type.Optional(ref(CodeCommit)),
    files: Type.Optional(int32('Number of digested files.')),
    root: Type.Optional(text('The folder of these files on the first runner that had them.')),
    image: Type.Optional(text('Digest of the image in which the files were executed.')),
    note: Type.Optional(text('What the digest does not cover.')),
    runs: count('Runs that have ended with it, cancelled ones not counted.'),
    first_run_id: nullable(int32('The lowest of these runs; null while there is none.')),
    runners: listOf(Type.String(), 'The runners that have started it, the first 20.'),
  }),
);
export type CodeVersion = Static<typeof CodeVersion>;

export const CodeVersionList = named(
  'CodeVersionList',
  'The versions of the code of a batch, in the order of their first starts; runs whose code is not known at the end.',
  Type.Array(ref(CodeVersion)),
);
export type CodeVersionList = Static<typeof CodeVersionList>;
