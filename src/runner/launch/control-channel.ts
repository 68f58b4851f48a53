/**
 * The messages between the runner and a process that creates processes for it: JSON lines on one descriptor, a chunk of output
 * followed by its bytes. Each is checked as it arrives.
 */
import type { Duplex } from 'node:stream';

/** Room in the environment of a process that waits for a run, for the run's output directory: its processes are found by it. */
export const RESERVED_BYTES = 4200;

/** 1: stdout, 2: stderr. */
export type StreamNumber = 1 | 2;

/** The cgroup that a process is born in: its creator enters it and returns to its home. */
export interface CgroupOrder {
  directory: string;
  home: string;
}

/** An order for a process, without its number. */
export type RunOrder =
  | {
      type: 'run';
      env: Readonly<Record<string, string>>;
      seed: number;
      /** For a process that executes many runs: where it connects to. */
      worker?: { socket: string; pipe: string; token: string; memory: number | null };
    }
  | {
      type: 'spawn';
      command: string;
      args: readonly string[];
      /** The number of the environment that `env` adds to. */
      base: number;
      env: Readonly<Record<string, string>>;
      cwd: string;
    };

/** Orders of the runner. */
export type Order =
  /** `reap`: its pid may be released as soon as it has ended. */
  | (RunOrder & { id: number; cgroup: CgroupOrder | null; reap: boolean })
  /** An environment for orders to come, in place of an earlier one with its number. */
  | { type: 'environment'; base: number; env: Readonly<Record<string, string>> }
  | { type: 'reap'; id: number }
  | { type: 'more' | 'drop'; id: number; fd: StreamNumber }
  | { type: 'ping' };

/** Answers of the server, but for `output`. */
export type Answer =
  | { type: 'ready'; preloaded: string[]; skipped: [module: string, reason: string][]; ms: number; holds_pids: boolean }
  | { type: 'refused'; reason: string }
  /** `start`: in ticks since boot, where its pid may be released as soon as it has ended. */
  | { type: 'started'; id: number; pid: number; start: string | null }
  | { type: 'stale'; id: number; path: string }
  | { type: 'unforked'; id: number; code: string }
  | { type: 'no-cgroup'; id: number; reason: string }
  | { type: 'closed'; id: number; fd: StreamNumber }
  | { type: 'ended'; id: number; closed: StreamNumber[]; reaped: boolean; code?: number; signal?: number }
  | { type: 'reaped'; id: number }
  | { type: 'pong' };

/** A chunk of the output of a process. */
export interface OutputChunk {
  type: 'output';
  id: number;
  fd: StreamNumber;
  bytes: number;
}

/** Longest line of an answer, in bytes: a list of modules is the longest. */
const MOST_LINE_BYTES = 4 << 20;
const MOST_CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/** Calls `onAnswer` or `onOutput` for each message, and `onFault` once for the first that is none. */
export function readAnswers(
  channel: Duplex,
  onAnswer: (answer: Answer) => void,
  onOutput: (chunk: OutputChunk, data: Buffer) => void,
  onFault: (detail: string) => void,
): void {
  let rest: Buffer = Buffer.alloc(0);
  /** The chunk whose bytes come next. */
  let chunk: OutputChunk | undefined;
  let isBroken = false;
  const fail = (found: string): void => {
    isBroken = true;
    onFault(`it answered ${JSON.stringify(found.slice(0, 100))}`);
  };
  channel.on('error', () => {});
  channel.on('data', (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    while (!isBroken && rest.length > 0) {
      if (chunk !== undefined) {
        if (rest.length < chunk.bytes) return;
        onOutput(chunk, rest.subarray(0, chunk.bytes));
        rest = rest.subarray(chunk.bytes);
        chunk = undefined;
        continue;
      }
      const end = rest.indexOf(NEWLINE);
      if (end < 0) {
        if (rest.length > MOST_LINE_BYTES) fail(rest.toString('utf8', 0, 100));
        return;
      }
      const line = rest.toString('utf8', 0, end);
      rest = rest.subarray(end + 1);
      const answer = parsed(line);
      if (answer === undefined) fail(line);
      else if (answer.type === 'output') chunk = answer;
      else onAnswer(answer);
    }
  });
}

/** Sends an order; those of one turn of the event loop go in one write. */
export function sendOrder(channel: Duplex, order: Order): void {
  if (!channel.writable) return;
  if (channel.writableCorked === 0) {
    channel.cork();
    process.nextTick(() => channel.uncork());
  }
  channel.write(`${JSON.stringify(order)}\n`);
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isStream = (value: unknown): boolean => value === 1 || value === 2;
const isStatus = (value: unknown): boolean => value === undefined || Number.isInteger(value);

type Member = (value: unknown) => boolean;

const SHAPES: Record<(Answer | OutputChunk)['type'], Readonly<Record<string, Member>>> = {
  ready: {
    preloaded: (it) => isList(it) && it.every(isText),
    skipped: (it) => isList(it) && it.every((one) => isList(one) && one.length === 2 && one.every(isText)),
    ms: (it) => typeof it === 'number',
    holds_pids: (it) => typeof it === 'boolean',
  },
  refused: { reason: isText },
  started: { id: isId, pid: isId, start: (it) => it === null || isText(it) },
  stale: { id: isId, path: isText },
  unforked: { id: isId, code: isText },
  'no-cgroup': { id: isId, reason: isText },
  output: { id: isId, fd: isStream, bytes: (it) => isId(it) && Number(it) <= MOST_CHUNK_BYTES },
  closed: { id: isId, fd: isStream },
  ended: {
    id: isId,
    closed: (it) => isList(it) && it.every(isStream),
    reaped: (it) => typeof it === 'boolean',
    code: isStatus,
    signal: isStatus,
  },
  reaped: { id: isId },
  pong: {},
};

function parsed(line: string): Answer | OutputChunk | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  const shape = Object.hasOwn(SHAPES, String(value.type)) ? SHAPES[value.type as Answer['type']] : undefined;
  if (shape === undefined) return undefined;
  const members = value as Record<string, unknown>;
  for (const name in shape) if (shape[name]?.(members[name]) !== true) return undefined;
  return value as Answer | OutputChunk;
}
