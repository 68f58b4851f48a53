/** Times in the local zone with UTC on hover; durations and rates in short form. */
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

/** `850 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const secs = ms / 1_000;
  if (secs < 60) return `${secs < 10 ? secs.toFixed(1) : Math.round(secs)} s`;
  const [large, small, names] =
    secs < 3_600
      ? [Math.floor(secs / 60), Math.round(secs % 60), ['min', 's']]
      : secs < 86_400
        ? [Math.floor(secs / 3_600), Math.round((secs % 3_600) / 60), ['h', 'min']]
        : [Math.floor(secs / 86_400), Math.round((secs % 86_400) / 3_600), ['d', 'h']];
  return small === 0 ? `${large} ${names[0]}` : `${large} ${names[0]} ${small} ${names[1]}`;
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

export const rate = (perMinute: number): string =>
  perMinute === 0
    ? '–'
    : perMinute >= 600
      ? `${figure(Math.round(perMinute / 6) / 10)}/s`
      : `${figure(Math.round(perMinute * 10) / 10)}/min`;
