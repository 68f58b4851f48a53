/** Times in the local zone with UTC on hover; durations, rates and shares in short form. */
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const LOCAL_TODAY = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export function Time({ at }: { at: string | number | undefined }) {
  if (at === undefined || Number.isNaN(at)) return <span className="soft">–</span>;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time
      className="nowrap"
      dateTime={date.toISOString()}
      title={`${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`}
    >
      {(isToday ? LOCAL_TODAY : LOCAL).format(date)}
    </time>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** The local time of day; the day before it, where it is another one. */
export function clock(at: number): string {
  const date = new Date(at);
  return date.toDateString() === new Date().toDateString()
    ? CLOCK.format(date)
    : `${DAY.format(date)}, ${CLOCK.format(date)}`;
}

/** `850 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_500) return `${ms < 9_950 ? (ms / 1_000).toFixed(1) : Math.round(ms / 1_000)} s`;
  // Rounded first, so that 119.6 s is 2 min and not 1 min 60 s.
  const secs = Math.round(ms / 1_000);
  const mins = Math.round(secs / 60);
  const hours = Math.round(mins / 60);
  const [total, per, large, small] =
    secs < 3_600 ? [secs, 60, 'min', 's'] : mins < 1_440 ? [mins, 60, 'h', 'min'] : [hours, 24, 'd', 'h'];
  const rest = total % per;
  return `${Math.floor(total / per)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

export const minutes = (count: number | undefined): string =>
  count === undefined ? '–' : count === 0 ? 'under 1 min' : duration(count * 60_000);

const COUNT = new Intl.NumberFormat('en', { useGrouping: true });
export const count = (value: number): string => COUNT.format(value).replaceAll(',', '\u202f');

/** Formats a parameter or output: six significant digits, no trailing zeros. */
export function figure(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(Number(value.toPrecision(6)));
}

/** Formats a figure for a narrow place: four significant digits. */
export const brief = (value: number): string => figure(Number(value.toPrecision(4)));

export const rate = (perMinute: number): string =>
  perMinute === 0
    ? '–'
    : perMinute >= 600
      ? `${figure(Math.round(perMinute / 6) / 10)}/s`
      : `${figure(Math.round(perMinute * 10) / 10)}/min`;

/** A share in percent with as many digits as its distance from 0 or 1 needs. */
export function share(value: number): string {
  const rest = Math.min(value, 1 - value);
  const digits = rest >= 0.01 || rest === 0 ? 1 : Math.min(4, Math.ceil(-Math.log10(rest)) - 1);
  return `${Number((value * 100).toFixed(digits))} %`;
}
