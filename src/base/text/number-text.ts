/** Numbers and durations as people read them. Pure. */

/** Formats with at most `digits` significant digits, without trailing zeros; integers below 10^15 are exact. */
export function formatNumber(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  return String(Number(value.toPrecision(digits)));
}

/** `0.4s`, `42s`, `3m 05s`, `2h 07m`, `3d 04h`; `-` when unknown. */
export function formatDuration(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return '-';
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))}s`;
  const whole = Math.round(seconds);
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    `${big}${bigUnit} ${String(small).padStart(2, '0')}${smallUnit}`;
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return pair(Math.floor(whole / 60), 'm', whole % 60, 's');
  if (whole < 86_400) return pair(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'm');
  return pair(Math.floor(whole / 86_400), 'd', Math.floor((whole % 86_400) / 3600), 'h');
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes: `17 B`, `3.4 MiB`; `-` when it is not known. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '-';
  const unit = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** unit;
  return `${unit === 0 ? String(bytes) : value.toPrecision(value < 10 ? 2 : value < 100 ? 3 : 4)} ${UNITS[unit] ?? ''}`;
}
