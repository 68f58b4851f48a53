/**
 * Finds the line in the end of a simulation's stderr that names its error, as the runtimes of programming languages print it. Pure, in time
 * linear in the text: every expression begins at a line and has no alternatives that overlap.
 */

/** How one runtime reports an error, in order of preference: the first rule with a match is used. */
type Runtime = readonly Rule[];

interface Rule {
  /** In every text with a match: searched first, since few texts have it. */
  has: string;
  /** The pattern of the line, with the flags g and m. */
  pattern: RegExp;
  /** The text of the error from the match; its first group by default. */
  text?: (match: RegExpExecArray) => string;
  /** Which of several matches is taken: by default the last one, since those before it were handled. */
  takes?: 'first';
  /** Only where the text has this too. */
  where?: string;
  /** True for a line of a program that aborts, which explains its signal. */
  aborts?: true;
}

const joined = (match: RegExpExecArray): string => match.slice(1).join(': ');

const NODE: Runtime = [
  {
    has: 'JavaScript heap out of memory',
    pattern: /^FATAL ERROR: [^\n]*(JavaScript heap out of memory)/gm,
    text: (match) => `FATAL ERROR: ${match[1]}`,
    aborts: true,
  },
  { has: 'FATAL ERROR: ', pattern: /^(FATAL ERROR: [^\n]*)/gm, aborts: true },
  // The reason of a rejection is at the end of a long sentence.
  {
    has: 'UnhandledPromiseRejection',
    pattern: /^\[?(UnhandledPromiseRejection): [^\n]*The promise rejected with the reason "([^\n]*?)"\.?\]?(?: \{)?$/gm,
    text: joined,
  },
  // The line with the caret, then the error.
  { has: '^\n', pattern: /^[ \t]*\^+[ \t]*\n(?:[ \t]*\n)?(\S[^\n]*)/gm, where: '\nNode.js v' },
  // An error that the program has printed itself, followed by its stack.
  { has: '\n    at ', pattern: /^(\w+(?: \[\w+\])?(?:: [^\n]*)?)\n {4}at /gm },
];

const PYTHON: Runtime = [
  { has: 'Fatal Python error', pattern: /^(Fatal Python error: [^\n]*)/gm, aborts: true },
  // The last frame, and the first line after it that is not indented.
  { has: '  File "', pattern: /^ {2}File "[^\n]*\n(?:[ \t]+\S[^\n]*\n)*(\w[^\n]*)/gm },
  { has: '  | ', pattern: /^ {2}\| (\w[\w.]*: [^\n]*)/gm },
];

const JAVA: Runtime = [
  { has: 'Caused by: ', pattern: /^Caused by: ([^\n]*)/gm },
  { has: 'Exception in thread', pattern: /^Exception in thread "[^"\n]*" ([^\n]*)/gm },
  { has: '\n\tat ', pattern: /^([\w.$]+(?:: [^\n]*)?)\n\tat /gm },
  { has: 'Java Virtual Machine', pattern: /^([^\n]*)\nError: Could not create the Java Virtual Machine\./gm },
];

/** The first panic is the cause of those in threads that wait for it. */
const RUST: Runtime = [
  {
    has: "' panicked at '",
    pattern: /^thread '[^'\n]*'[^\n]* panicked at '([^\n]*)', [^\n]*$/gm,
    takes: 'first',
    aborts: true,
  },
  {
    has: ' panicked at ',
    pattern: /^thread '[^'\n]*'[^\n]* panicked at [^\n]*:\n([^\n]*)/gm,
    takes: 'first',
    aborts: true,
  },
  { has: 'fatal runtime error', pattern: /^(fatal runtime error: [^\n]*)/gm, aborts: true },
];

const CPP: Runtime = [
  {
    has: 'what():',
    pattern: /^terminate called after throwing an instance of '([^\n]*)'\n[ \t]+what\(\): +([^\n]*)/gm,
    text: joined,
    aborts: true,
  },
  { has: 'terminate called', pattern: /^(terminate called [^\n]*)/gm, aborts: true },
  {
    has: 'libc++abi',
    pattern: /^libc\+\+abi(?:\.dylib)?: terminating (?:due to|with) uncaught exception of type ([^\n]*)/gm,
    aborts: true,
  },
  { has: ': runtime error: ', pattern: /^([^\n]*: runtime error: [^\n]*)/gm, aborts: true },
  { has: 'SUMMARY: ', pattern: /^SUMMARY: (\w+Sanitizer: [^\n]*)/gm, aborts: true },
  { has: 'Sanitizer: ', pattern: /^==\d+==(?:ERROR|WARNING): (\w+Sanitizer: [^\n]*)/gm, aborts: true },
  // The place is left out: its names may be longer than a pattern.
  { has: 'Assertion ', pattern: /^[^\n]*\b(Assertion [`'][^\n]*' failed)/gm, aborts: true },
  { has: 'Assertion failed', pattern: /^(Assertion failed: [^\n]*)/gm, aborts: true },
  { has: '(): ', pattern: /^((?:free|malloc|realloc|munmap_chunk|malloc_consolidate)\(\): [^\n]*)/gm, aborts: true },
  { has: 'corrupt', pattern: /^((?:double free or corruption|corrupted )[^\n]*)/gm, aborts: true },
  { has: '*** ', pattern: /^(\*\*\* [^\n]*)/gm, aborts: true },
];

const FORTRAN: Runtime = [
  { has: 'Fortran runtime error', pattern: /^(Fortran runtime error: [^\n]*)/gm },
  { has: 'forrtl: ', pattern: /^(forrtl: (?:severe|error)[^\n]*)/gm, takes: 'first', aborts: true },
  { has: 'ERROR STOP', pattern: /^(ERROR STOP[^\n]*)/gm },
  { has: 'Program received signal', pattern: /^(Program received signal [^\n]*)/gm, aborts: true },
  { has: 'STOP ', pattern: /^(STOP \S[^\n]*)/gm },
];

/** The error, then the places. */
const MATLAB: Runtime = [
  { has: 'Error using ', pattern: /^\{?Error using [^\n]*\n(\S[^\n]*)/gm },
  { has: 'Error in ', pattern: /^\{?(\S[^\n]*)\n(?:[ \t]*\n)?Error in [^\n]* \(line \d+\)/gm, takes: 'first' },
];

const OCTAVE: Runtime = [
  { has: 'error: called from', pattern: /^(error: [^\n]*)\nerror: called from/gm },
  { has: 'error: ', pattern: /^(error: (?!called from)[^\n]*)/gm },
];

const JULIA: Runtime = [{ has: 'ERROR: ', pattern: /^ERROR: (?:LoadError: )*(\S[^\n]*)/gm }];

const R: Runtime = [
  {
    has: ': \n',
    pattern: /^(Error in [^\n]*? ?:) *\n +([^\n]*)/gm,
    text: (match) => match.slice(1).join(' '),
    where: '\nExecution halted',
  },
  { has: 'Error', pattern: /^(Error(?: in [^\n]*)?: [^\n]*|Error in [^\n]* : [^\n]*)/gm, where: '\nExecution halted' },
];

/** Lines of shells without their place, since one missing command is one cause. The end of a child by a signal says less than the child did. */
const SHELL: Runtime = [
  {
    has: ': line ',
    pattern:
      /^[^\s:][^:\n]*: line \d+: (?! *\d+ (?:Aborted|Segmentation|Killed|Terminated|Bus error|Floating|Illegal|Trace))([^\n]*)/gm,
  },
  {
    has: ': ',
    pattern:
      /^[^\s:][^:\n]*: \d+: ([^\n]*(?:not found|cannot open|can't (?:cd|open)|Permission denied|parameter not set|bad substitution|Syntax error|Illegal)[^\n]*)/gm,
  },
];

const RUNTIMES: readonly Runtime[] = [NODE, PYTHON, JAVA, RUST, CPP, FORTRAN, MATLAB, OCTAVE, JULIA, R, SHELL];

/** Blocks that are printed after an error and are not the error. */
const AFTERWARDS: readonly RegExp[] = [
  // Python: an exception in a destructor.
  /^Exception ignored [^\n]*\n(?:Traceback [^\n]*\n)?(?:[ \t][^\n]*\n)*(?:\w[^\n]*)?/gm,
  /^\(node:\d+\) [^\n]*/gm,
];

/** Lines that runtimes print after an error, and frames of a stack; never the error itself. */
const NOISE =
  /^(?:Node\.js v\d|\(Use `node --trace|note: |stack backtrace:|Execution halted|Calls: |Error termination\. Backtrace|\.\.\. \d+ (?:more|lines)|at \S|==\d+==|Error: A fatal exception has occurred)|^\S*:\d+\)$|^[}\])^~]*$/;

/** A text that some colour: the codes of a terminal. */
// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[\d;]*m/g;

export interface Stderr {
  /** The end of the output of the simulation. */
  text: string;
  /** The program has caused the signal that ended it: only the report of a program that aborts explains that. */
  isAborted: boolean;
}

/** The text of the last error that a runtime reports; undefined where there is none. */
export function reportedError({ text, isAborted }: Stderr): string | undefined {
  const plain = AFTERWARDS.reduce((it, pattern) => it.replace(pattern, ''), text.replace(COLOURS, ''));
  let latest = -1;
  let found: string | undefined;
  for (const runtime of RUNTIMES) {
    for (const rule of runtime) {
      const match = isAborted && rule.aborts !== true ? undefined : matchOf(rule, plain);
      if (match === undefined) continue;
      if (match.index > latest) [latest, found] = [match.index, (rule.text?.(match) ?? match[1]!).trim()];
      break;
    }
  }
  return found;
}

function matchOf({ has, where = '', pattern, takes }: Rule, text: string): RegExpExecArray | undefined {
  if (!text.includes(has) || !text.includes(where)) return undefined;
  const matches = [...text.matchAll(pattern)];
  return takes === 'first' ? matches[0] : matches.at(-1);
}

const linesOf = (text: string): string[] =>
  text
    .replace(COLOURS, '')
    .split('\n')
    .map((it) => it.trim())
    .filter((it) => it !== '');

/** The last line that is not blank; undefined without one. */
export const lastLine = (text: string): string | undefined => linesOf(text).at(-1);

/** The last line that no runtime adds to its error; undefined without one. */
export const lastOwnLine = (text: string): string | undefined => linesOf(text).findLast((it) => !NOISE.test(it));
