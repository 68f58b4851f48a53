/** The runner's log: one line per event on stderr, for a person or for a log collector. Never a secret. */
import { pino } from 'pino';
import type { DestinationStream } from 'pino';

/** `text` is one readable line; `details` are named values beside it. */
export interface Log {
  debug(text: string, details?: Record<string, unknown>): void;
  info(text: string, details?: Record<string, unknown>): void;
  warn(text: string, details?: Record<string, unknown>): void;
  error(text: string, details?: Record<string, unknown>): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
export type LogFormat = 'json' | 'text';

/** `text` gives `12:00:00 warn  text  name=value`, `json` one JSON object per line (pino's fields). */
export function createLog(out: DestinationStream, options: { format: LogFormat; level: LogLevel }): Log {
  const destination = options.format === 'json' ? out : { write: (line: string) => out.write(readable(line)) };
  const logger = pino({ level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (text: string, details?: Record<string, unknown>) => {
    logger[level](details ?? {}, text);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};

function readable(line: string): string {
  const record: Record<string, unknown> = JSON.parse(line);
  const { level, time, msg, ...details } = record;
  const name = pino.levels.labels[Number(level)] ?? '';
  const shown = Object.entries(details).map(([key, value]) => `  ${key}=${format(value)}`);
  return `${String(time).slice(11, 19)} ${name.padEnd(5)} ${String(msg)}${shown.join('')}\n`;
}

function format(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
}
