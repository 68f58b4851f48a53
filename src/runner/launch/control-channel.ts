/** The messages between the runner and a forkserver: JSON lines on one descriptor, each checked as it arrives. */
import type { Duplex } from 'node:stream';

/** Room in the environment of a process that waits for a run, for the run's output directory: its processes are found by it. */
export const RESERVED_BYTES = 4200;

/** Orders of the runner. */
export type Order =
  | {
      type: 'run';
      id: number;
      env: Readonly<Record<string, string>>;
      socket: string;
      secret: string;
      cgroup: string | null;
      seed: number;
    }
  | { type: 'reap'; id: number }
  | { type: 'ping' };

/** Answers of the forkserver, and of the process of a run before it executes the simulation. */
export type Answer =
  | { type: 'ready'; preloaded: string[]; skipped: [module: string, reason: string][]; ms: number; holds_pids: boolean }
  | { type: 'refused'; reason: string }
  | { type: 'started'; id: number; pid: number }
  | { type: 'stale'; id: number; path: string }
  | { type: 'unforked'; id: number; code: string }
  | { type: 'failed'; id: number; code: string }
  | { type: 'no-cgroup'; id: number; reason: string }
  | { type: 'ended'; id: number; code?: number; signal?: number }
  | { type: 'reaped'; id: number }
  | { type: 'pong' };

/** Calls `onAnswer` for each message, and `onFault` once for the first that is none. */
export function readAnswers(
  channel: Duplex,
  onAnswer: (answer: Answer) => void,
  onFault: (detail: string) => void,
): void {
  let text = '';
  let isBroken = false;
  channel.setEncoding('utf8');
  channel.on('error', () => {});
  channel.on('data', (chunk: string) => {
    if (isBroken) return;
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const answer = parsed(line);
      if (answer === undefined) {
        isBroken = true;
        onFault(`it answered ${JSON.stringify(line.slice(0, 100))}`);
        return;
      }
      onAnswer(answer);
    }
  });
}

export function sendOrder(channel: Duplex, order: Order): void {
  if (!channel.writable) return;
  channel.write(`${JSON.stringify(order)}\n`);
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isList = (value: unknown): value is unknown[] => Array.isArray(value);

type Member = (value: unknown) => boolean;

const SHAPES: Record<Answer['type'], Readonly<Record<string, Member>>> = {
  ready: {
    preloaded: (it) => isList(it) && it.every(isText),
    skipped: (it) => isList(it) && it.every((one) => isList(one) && one.length === 2 && one.every(isText)),
    ms: (it) => typeof it === 'number',
    holds_pids: (it) => typeof it === 'boolean',
  },
  refused: { reason: isText },
  started: { id: isId, pid: isId },
  stale: { id: isId, path: isText },
  unforked: { id: isId, code: isText },
  failed: { id: isId, code: isText },
  'no-cgroup': { id: isId, reason: isText },
  ended: {
    id: isId,
    code: (it) => it === undefined || Number.isInteger(it),
    signal: (it) => it === undefined || Number.isInteger(it),
  },
  reaped: { id: isId },
  pong: {},
};

function parsed(line: string): Answer | undefined {
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
  return Object.entries(shape).every(([name, holds]) => holds(members[name])) ? (value as Answer) : undefined;
}
