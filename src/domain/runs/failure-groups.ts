/**
 * Groups failure messages that differ only in numbers, names and addresses under one pattern. Pure.
 */
import { lastLine, lastOwnLine, reportedError } from './error-line.ts';

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

/** First lines in which the runner or the coordinator gives the reason; the lines after it are the end of the simulation's stderr. */
const VERDICT =
  /^\s*(?:terminated early: |the simulation was killed by signal |killed after its time limit |the disk of )[^\n]*/;
/** Wordings of one reason, with that by which it is known. */
const WORDINGS: readonly [RegExp, string][] = [
  [/^\s*the run exceeded its time limit of ([^\n]*)/, 'killed after its time limit of $1'],
  [/^\s*the simulation [^\n]*: it exceeded container\.memory_limit/, 'the simulation exceeded container.memory_limit'],
];
/** The first line of a run that ended by itself. */
const ENDED = /^\s*the simulation (?:exited with code \d+|was killed by signal (SIG\w+))[^\n]*\n/;
/** Signals that a program causes itself, mostly after a report. */
const OWN_SIGNALS: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP']);

/**
 * Returns the line that names the cause: the reason that the runner gives if it ended the run, else the error that the simulation's runtime has
 * reported, else the last line of its stderr that is not blank.
 */
export function decisiveLine(message: string): string {
  const start = message.slice(0, MAX_LENGTH);
  for (const [wording, known] of WORDINGS) {
    const found = wording.exec(start)?.[0];
    if (found !== undefined) return found.replace(wording, known).trim();
  }
  const ended = ENDED.exec(start);
  const signal = ended?.[1];
  const verdict = VERDICT.exec(start)?.[0].trim();
  if (verdict !== undefined && (signal === undefined || !OWN_SIGNALS.has(signal))) return verdict;
  const text = message.slice(ended?.[0].length ?? 0).slice(-MAX_LENGTH);
  const reported = reportedError({ text, isAborted: signal !== undefined });
  return reported || verdict || lastOwnLine(text) || ended?.[0].trim() || lastLine(text) || '(no message)';
}

/** Returns the pattern of a message: its decisive line without the varying parts. */
export const normalizeMessage = (message: string): string => takeApart(message).pattern;

/** Exit codes of a shell or container whose program was killed from outside: 128 and the signal. */
const KILLED_CODES: ReadonlySet<string> = new Set(['130', '137', '143']);

/**
 * Returns the pattern of a failure that the simulation has caused itself: an exit, or a signal such as SIGSEGV. Undefined for every other reason,
 * for a program that was killed from outside, and where nothing is said.
 */
export function ownErrorOf(reason: string, message: string): string | undefined {
  if ((reason !== 'exit' && reason !== 'signal') || message.trim() === '') return undefined;
  const [first = ''] = message.trimStart().split('\n', 1);
  const code = /\bexited with code (\d+)/.exec(first)?.[1];
  if (code !== undefined && KILLED_CODES.has(code)) return undefined;
  const signal = /\bSIG[A-Z]+/.exec(first)?.[0];
  if (reason === 'signal' && (signal === undefined || !OWN_SIGNALS.has(signal))) return undefined;
  return normalizeMessage(message);
}

/** A pattern, and the parts of one message that it leaves out. */
export interface MessageParts {
  pattern: string;
  /** The texts around the parts: one more than parts. Joined by `…` they are the pattern. */
  literals: readonly string[];
  /** The parts in the order of the text; a part beyond the length of a pattern is not among them. */
  parts: readonly string[];
}

/** The parts of a message as `CommonParts` takes them: undefined for a part that is not shown. */
export interface ShownParts {
  parts: readonly (string | undefined)[];
}

/** A part is held as one character of a private range, so that each keeps its place while others are found. */
const FIRST_HELD = 0xe000;
const HELD = /[\ue000-\uf8ff]/;
const EACH_HELD = /[\ue000-\uf8ff]/g;

/** Takes the decisive line of a message apart. A line with characters of the private range has no parts that are known. */
export function takeApart(message: string): MessageParts {
  const line = decisiveLine(message);
  const isHeld = !HELD.test(line);
  const held: string[] = [];
  const hold = (found: string): string => {
    const name = found.startsWith('runner ') ? 'runner ' : '';
    if (!isHeld) return `${name}…`;
    // A part may contain parts that were found before.
    const part = found.slice(name.length).replace(EACH_HELD, (it) => held[it.charCodeAt(0) - FIRST_HELD] ?? '…');
    return name + String.fromCharCode(FIRST_HELD + held.push(part) - 1);
  };
  let text = line;
  for (const varying of VARYING) text = text.replace(varying, hold);
  if (text.length > PATTERN_LENGTH) text = `${text.slice(0, PATTERN_LENGTH)}…`;
  if (!isHeld) return { pattern: text, literals: [text], parts: [] };
  const literals = text.split(HELD);
  const parts = (text.match(EACH_HELD) ?? []).map((it) => held[it.charCodeAt(0) - FIRST_HELD] ?? '…');
  return { pattern: literals.join('…'), literals, parts };
}

/** A longer part is left out, though all messages have it. */
const MOST_OF_PART = 100;

/** The part of a message, unless it is too long to be shown. */
export const shownPart = (part: string): string | undefined => (part.length > MOST_OF_PART ? undefined : part);

/** The parts that all messages of one pattern have in common: numbers that are part of the failure, such as a code. */
export class CommonParts {
  readonly #literals: readonly string[];
  readonly #parts: (string | undefined)[];
  readonly #pattern: string;
  #messages: number;

  constructor({ pattern, literals, parts }: Pick<MessageParts, 'pattern' | 'literals'> & ShownParts) {
    this.#pattern = pattern;
    this.#literals = literals;
    this.#parts = [...parts];
    this.#messages = 1;
  }

  /** Takes the parts of another message of this pattern. */
  add({ parts }: ShownParts): void {
    this.#messages += 1;
    const isAlike = parts.length === this.#parts.length;
    for (let at = 0; at < this.#parts.length; at += 1)
      if (!isAlike || this.#parts[at] !== parts[at]) this.#parts[at] = undefined;
  }

  /** Returns the common parts of both groups of messages together. */
  with(other: CommonParts): CommonParts {
    const both = new CommonParts({ pattern: this.#pattern, literals: this.#literals, parts: this.#parts });
    both.add({ parts: other.#parts });
    both.#messages = this.#messages + other.#messages;
    return both;
  }

  /**
   * The pattern with the parts that at least two messages have, and all of them. Its own pattern is the pattern of the messages:
   * a text of which that is not so is not shown.
   */
  text(): string {
    if (this.#messages < 2) return this.#pattern;
    const shown = this.#parts.map((it) => (it === undefined ? undefined : shownPart(it)) ?? '…');
    const text = this.#literals.map((it, at) => it + (shown[at] ?? '')).join('');
    return normalizeMessage(text) === this.#pattern ? text : this.#pattern;
  }
}
