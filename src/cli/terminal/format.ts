/** Formats numbers, durations and untrusted text for people. Pure. */
import { formatNumber } from '../../base/text/number-text.ts';

/** `12.3/s`, `4.2/min`, `0.5/h`: in the unit that gives a readable number. */
export function formatRate(perSecond: number | undefined): string {
  if (perSecond === undefined || !Number.isFinite(perSecond) || perSecond <= 0) return '-';
  if (perSecond >= 1) return `${formatNumber(perSecond, 3)}/s`;
  if (perSecond * 60 >= 1) return `${formatNumber(perSecond * 60, 3)}/min`;
  return `${formatNumber(perSecond * 3600, 3)}/h`;
}

/** `3m ago`, `2h ago`, `5d ago`: the time since a timestamp in its largest unit; `-` for undefined. */
export function formatAgo(timestamp: string | undefined, nowMs: number): string {
  if (timestamp === undefined) return '-';
  const secs = Math.max(0, nowMs - Date.parse(timestamp)) / 1000;
  if (!Number.isFinite(secs)) return '-';
  if (secs < 60) return `${Math.floor(secs)}s ago`;
  if (secs < 3600) return `${Math.floor(secs / 60)}m ago`;
  if (secs < 86_400) return `${Math.floor(secs / 3600)}h ago`;
  return `${Math.floor(secs / 86_400)}d ago`;
}

/** The seconds between two timestamps; undefined where one is missing. */
export function secondsBetween(from: string | undefined, to: string | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : (Date.parse(to) - Date.parse(from)) / 1000;
}

/** A clock that is so many seconds ahead of another one, as a part of a sentence: `12 s ahead, compared with`, `12 s late, compared with`, `within a second of`. */
export function clockDifference(aheadSecs: number): string {
  const secs = Math.round(Math.abs(aheadSecs));
  if (secs <= 1) return 'within a second of';
  return `${String(secs)} s ${aheadSecs > 0 ? 'ahead' : 'late'}, compared with`;
}

export { formatBytes, formatDuration, formatNumber } from '../../base/text/number-text.ts';
export { shortId } from '../../domain/ids.ts';
export { plural } from '../../domain/plural.ts';

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Characters between the lines and fields of CSV and JSON. */
const LAYOUT = '\t\n\r';

/** Returns a text with its control characters and direction overrides, but for tabs and ends of lines, as JSON escapes them. */
export function escaped(text: string): string {
  // eslint-disable-next-line no-control-regex -- finding control characters is the purpose
  return text.replaceAll(CONTROL_CHARACTERS, (it) =>
    LAYOUT.includes(it) ? it : `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Returns untrusted text that is safe to print: control characters and direction overrides, which could repaint the
 * terminal, become spaces; at most `limit` characters.
 */
export function printable(text: string, limit = Number.POSITIVE_INFINITY): string {
  // eslint-disable-next-line no-control-regex -- finding control characters is the purpose
  const clean = text.replaceAll(CONTROL_CHARACTERS, ' ').trim();
  const characters = clean.length > limit ? Array.from(clean) : [];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : clean;
}

/** `2026-03-01 12:00:00` (UTC) of a timestamp; `-` for undefined. */
export function formatTimestamp(timestamp: string | undefined): string {
  return timestamp === undefined ? '-' : printable(timestamp.replace('T', ' ').replace(/(\.\d+)?Z$/, ''), 32);
}
