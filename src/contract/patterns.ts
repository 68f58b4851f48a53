/** The patterns of ids, as sources of regular expressions. Imports no package, so that web pages may import it. */

export const UUID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

const UUID_V8 = '[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-';
/** A batch: a UUID version 8 whose 32 low bits are 0. */
export const BATCH_ID_PATTERN = `^${UUID_V8}[0-9a-f]{4}0{8}$`;
/** A job: a UUID version 8 whose 32 low bits are not 0. */
export const JOB_ID_PATTERN = `^${UUID_V8}[0-9a-f]{4}(?!0{8})[0-9a-f]{8}$`;

export const RUNNER_ID_PATTERN = '^[A-Za-z0-9._:@-]{1,128}$';

/** The key of a label: letters, digits and `._/-`, a letter or digit at both ends. */
export const LABEL_KEY_PATTERN = '^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$';

/** Patterns of texts with a grammar of their own, by `format`. The domain reads them, with messages that name the mistake. */
export const GRAMMARS = {
  /** See `domain/quantity.ts`. */
  quantity: {
    pattern: '^\\+?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+|[numkMGTPE]|[KMGTPE]i)?$',
    maxLength: 64,
  },
  /** See `domain/study/condition.ts`. */
  condition: {
    pattern: '^[ \\t]*(<=|>=|==|!=|<|>)[ \\t]*[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?[ \\t]*$',
    maxLength: 100,
  },
  /** See `domain/study/store-prefix.ts`. */
  's3-prefix': {
    pattern:
      '^/*((?!\\.{1,2}(/|$))[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]+(/(?!\\.{1,2}(/|$))[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]+)*/*)?$',
    maxLength: 1_000,
  },
} as const;

/** The name of a counted resource. Cores, memory and slots have members of their own. */
export const RESOURCE_NAME_PATTERN = '^(?!(?:cores|memory|slots)$)[a-z][a-z0-9_-]{0,62}$';

/** The address of a file that a runner reports: a path of its machine. */
export const REPORTED_ADDRESS_PATTERN = '^(?![sS]3://)';

/** The meaning of patterns that do not say it themselves, to follow `it must be`. */
export const MEANING_OF_PATTERN: Readonly<Record<string, string>> = {
  [RESOURCE_NAME_PATTERN]:
    'the name of a resource: a letter, then letters, digits, `_` and `-`, all in lower case, at most 63; cores and memory are asked for by `cpu_request` and `memory_request`',
  [REPORTED_ADDRESS_PATTERN]:
    'a path on the runner: only `uploads/complete` names objects of a store; report where the file is on the machine',
};
