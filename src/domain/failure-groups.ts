/**
 * Failures that are the same but for their numbers, names and addresses, put together under one message. Pure; knows
 * nothing of where the messages come from.
 */

export interface FailureGroup {
  /** The message with what varies replaced by `…`. */
  pattern: string;
  /** One of the messages as it was. */
  example: string;
  /** The runs, in the order in which they were given. */
  runs: number[];
}

/** The rest of a long message says little about which kind of failure it is, and costs time. */
const MAX_LENGTH = 4_000;
const PATTERN_LENGTH = 300;

/** What varies from one run to the next, most specific first. */
const VARYING: readonly RegExp[] = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g,
  /\b0x[0-9a-f]+\b/gi,
  /(?:\.{0,2}\/|[A-Z]:\\)[\w.@%+~-]+(?:[/\\][\w.@%+~-]+)+/g,
  /\brunner [\w.-]+(?= )/g,
  /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\b/gi,
];

/** Where the first line already says why the run was ended; what follows is only what the simulation printed last. */
const VERDICT =
  /^\s*(?:terminated early: |the simulation was killed by signal |killed after its time limit |the disk of )[^\n]*/;

/**
 * The line of a message that says what went wrong: the runner's verdict where it is one, else the last line that is not
 * blank, which is where most languages put it at the end of a traceback.
 */
export function tellingLine(message: string): string {
  const verdict = VERDICT.exec(message.slice(0, MAX_LENGTH))?.[0].trim();
  if (verdict !== undefined) return verdict;
  const lines = message
    .slice(-MAX_LENGTH)
    .split('\n')
    .map((it) => it.trim())
    .filter((it) => it !== '');
  return lines.at(-1) ?? '(no message)';
}

/** The message as the name of its kind: its telling line, without what varies. */
export function normalizeMessage(message: string): string {
  let text = tellingLine(message);
  for (const varying of VARYING)
    text = text.replace(varying, (found) => (found.startsWith('runner ') ? 'runner …' : '…'));
  return text.length > PATTERN_LENGTH ? `${text.slice(0, PATTERN_LENGTH)}…` : text;
}

/** The groups, largest first; equally large ones in order of their first run. */
export function groupFailures(failures: Iterable<readonly [run: number, message: string]>): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const [run, message] of failures) {
    const pattern = normalizeMessage(message);
    const group = groups.get(pattern);
    if (group === undefined) groups.set(pattern, { pattern, example: message, runs: [run] });
    else group.runs.push(run);
  }
  return [...groups.values()].sort((a, b) => b.runs.length - a.runs.length || (a.runs[0] ?? 0) - (b.runs[0] ?? 0));
}
