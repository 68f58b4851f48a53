/** Fits the columns of a table into a width: shortens what may be shortened, then leaves out what matters least. Pure. */

/** How a column gives way where a table is too wide. */
export interface Flexible {
  /** Width to which the cells of the column may be shortened; absent: they are shown whole. */
  shrink?: number;
  /** Columns with a rank may be left out, the highest rank first; a column without one always stays. */
  rank?: number;
}

export interface Fit {
  /** Indices of the columns that are shown. */
  kept: number[];
  /** Widths of the columns that are shown. */
  widths: number[];
}

/** Columns between two columns of a table. */
export const GAP = 2;
/** No cell is cut below this. */
const LEAST = 4;

/** `natural`: the width of the widest cell of each column, its heading included; `available`: that of the terminal. */
export function fitColumns(columns: readonly Flexible[], natural: readonly number[], available: number): Fit {
  const kept = columns.map((_, at) => at);
  const widths = [...natural];
  const excess = (): number =>
    kept.reduce((sum, at) => sum + (widths[at] ?? 0), 0) + GAP * Math.max(0, kept.length - 1) - available;
  const shrinkTo = (leastOf: (at: number) => number): void => {
    // The widest gives way first, so that no column is cut to its least while another is wide.
    for (let over = excess(); over > 0; over = excess()) {
      const [widest] = kept
        .filter((at) => (widths[at] ?? 0) > leastOf(at))
        .toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
      if (widest === undefined) return;
      const width = widths[widest] ?? 0;
      widths[widest] = Math.max(leastOf(widest), width - Math.max(1, Math.ceil(over / 4)));
    }
  };
  if (!Number.isFinite(available)) return { kept, widths };
  const least = (at: number): number => Math.min(natural[at] ?? 0, columns[at]?.shrink ?? Infinity);
  shrinkTo(least);
  while (excess() > 0) {
    const [last] = kept
      .filter((at) => columns[at]?.rank !== undefined)
      .toSorted((a, b) => (columns[b]?.rank ?? 0) - (columns[a]?.rank ?? 0) || b - a);
    if (last === undefined) break;
    kept.splice(kept.indexOf(last), 1);
    // The room that it leaves goes to those that were shortened for it.
    for (const at of kept) widths[at] = natural[at] ?? 0;
    shrinkTo(least);
  }
  // A narrow terminal: every cell may be cut, so that each row keeps to its line.
  shrinkTo((at) => Math.min(natural[at] ?? 0, LEAST));
  return { kept, widths: kept.map((at) => widths[at] ?? 0) };
}
