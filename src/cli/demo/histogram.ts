/** Draws a histogram with characters. Pure. */
import type { NumberSeries } from '../../analysis/numeric/statistics.ts';
import { formatNumber } from '../terminal/format.ts';

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Returns one line per bin: lower edge, a bar of at most `width` characters, count. */
export function histogramLines(series: NumberSeries, bins = 12, width = 40): string[] {
  const drawn = series.histogram(bins);
  const most = Math.max(1, ...drawn.map((bin) => bin.count));
  const labels = drawn.map((bin) => formatNumber(bin.from, 4));
  const labelWidth = Math.max(0, ...labels.map((label) => label.length));
  return drawn.map((bin, at) => {
    const eighths = Math.round((bin.count / most) * width * 8);
    // A bin with at least one value has a visible bar.
    const bar =
      '█'.repeat(Math.floor(eighths / 8)) +
      (EIGHTHS[bin.count > 0 ? Math.max(eighths % 8, eighths < 8 ? 1 : 0) : 0] ?? '');
    return `${(labels[at] ?? '').padStart(labelWidth)} ${bar.padEnd(width)} ${bin.count}`;
  });
}
