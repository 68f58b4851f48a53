/** Durations as people write them, such as `55m`. */

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(?:\d{1,6}d)?(?:\d{1,6}h)?(?:\d{1,6}m)?(?:\d{1,9}s)?$/;

/** Milliseconds of `90s`, `55m`, `1h30m` or `2d`; a number, or text without a unit, is in seconds. Undefined for other text. */
export function durationMs(value: string | number): number | undefined {
  const text = String(value);
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  if (text === '' || !DURATION.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([smhd])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ''] ?? NaN),
    0,
  );
}

/** A duration as people write it: `1h30m`, `45s`; rounded to seconds. */
export function formatDuration(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1_000));
  const parts: string[] = [];
  for (const [unit, length] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const amount = Math.floor(rest / length);
    rest -= amount * length;
    if (amount > 0) parts.push(`${String(amount)}${unit}`);
  }
  return parts.length === 0 ? '0s' : parts.slice(0, 2).join('');
}
