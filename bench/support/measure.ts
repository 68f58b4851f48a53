/** The result of a benchmark, and the text of its figures. */
import { renderTable } from '../../src/cli/terminal/table.ts';

/** One line of the results. */
export interface Measure {
  what: string;
  /** The median of `samples`. */
  value: number;
  unit: string;
  samples: readonly number[];
  /** The target: at least or at most this. Absent where a figure only informs. */
  target?: { atLeast: number } | { atMost: number };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the part `p` of all lies; NaN of none. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? NaN;
}

export function measure(what: string, unit: string, samples: readonly number[], target?: Measure['target']): Measure {
  const line = { what, value: median(samples), unit, samples };
  return target === undefined ? line : { ...line, target };
}

export function isReached({ value, target }: Measure): boolean {
  if (target === undefined) return true;
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** Three figures that count, with commas in thousands. */
export function shown(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return value === 0 ? '0' : String(Number(value.toPrecision(3)));
}

/** A column of a printed table. */
export const columnOf = (name: string): { name: string; verbatim: true } => ({ name, verbatim: true });

export function showMeasures(lines: readonly Measure[]): string {
  const rows = lines.map((line) => {
    const { target } = line;
    const wanted =
      target === undefined ? '' : 'atLeast' in target ? `>= ${shown(target.atLeast)}` : `<= ${shown(target.atMost)}`;
    const verdict = target === undefined ? '' : isReached(line) ? 'reached' : 'NOT reached';
    const range = line.samples.map(shown).join(' ');
    return [line.what, `${shown(line.value)} ${line.unit}`, range, wanted, verdict];
  });
  return renderTable(['measure', 'median', 'of', 'target', ''].map(columnOf), rows);
}
