/**
 * Groups failure messages that differ only in numbers, names and addresses under one pattern. Pure.
 */

export interface FailureGroup {
  /** The message with its varying parts replaced by `…`. */
  pattern: string;
  /** One message of the group, unchanged. */
  example: string;
  /** The runs, in the order in which they were given. */
  runs: number[];
}

/** Only this many characters of a message are examined: the rest seldom distinguishes failures, and costs time. */
const MAX_LENGTH = 4_000;
const PATTERN_LENGTH = 300;

/** Parts that vary from run to run, most specific first. */
const VARYING: readonly RegExp[] = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g,
  /\b0x[0-9a-f]+\b/gi,
  /(?:\.{0,2}\/|[A-Z]:\\)[\w.@%+~-]+(?:[/\\][\w.@%+~-]+)+/g,
  /\brunner [\w.-]+(?= )/g,
  /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\b/gi,
];

/** First lines in which the runner gives the reason; the lines after it are the end of the simulation's stderr. */
const VERDICT =
  /^\s*(?:terminated early: |the simulation was killed by signal |killed after its time limit |the disk of )[^\n]*/;

/**
 * Returns the line that names the cause: the runner's verdict if there is one, else the last line that is not blank,
 * where most languages print the error at the end of a traceback.
 */
export function decisiveLine(message: string): string {
  const verdict = VERDICT.exec(message.slice(0, MAX_LENGTH))?.[0].trim();
  if (verdict !== undefined) return verdict;
  const lines = message
    .slice(-MAX_LENGTH)
    .split('\n')
    .map((it) => it.trim())
    .filter((it) => it !== '');
  return lines.at(-1) ?? '(no message)';
}

/** Returns the pattern of a message: its decisive line without the varying parts. */
export function normalizeMessage(message: string): string {
  let text = decisiveLine(message);
  for (const varying of VARYING)
    text = text.replace(varying, (found) => (found.startsWith('runner ') ? 'runner …' : '…'));
  return text.length > PATTERN_LENGTH ? `${text.slice(0, PATTERN_LENGTH)}…` : text;
}

/** Returns the groups, largest first; groups of equal size in the order of their first run. */
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
