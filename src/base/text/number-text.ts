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
