/** The runs of two studies as the plots of a comparison take them. */
import { useMemo } from 'react';
import type { BatchStatusResponse, BatchSubmission, StudyComparison } from '../../../src/contract/types.ts';
import { methodOfCell } from '../../../src/domain/study/design-method.ts';
import { boundedSteps, type BoundedSteps } from '../cards/distribution.ts';
import { LABEL } from '../cards/style.ts';
import type { RunTable } from '../data/run-table.ts';
import { useAge } from '../data/use-age.ts';
import { useTableLayout } from '../data/use-batch.ts';
import { isEnded, variablesOf, type Variable } from '../plots/variables.ts';
import { completedValues } from './curves.ts';

/** One of the two studies. */
export interface Side {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  table: RunTable;
}

const CONFIDENCE = 0.95;
export const COLOURS = ['var(--timeout)', 'var(--running)'] as const;
export const SIDES = ['before', 'after'] as const;

/** An output of one study. */
export interface Drawn extends Side {
  variable: Variable;
  status: Uint8Array;
  values: Float64Array;
  steps: BoundedSteps;
}

/** The numbers among the outputs of a table, and the states of its runs, as they were when last drawn. */
export interface Columns {
  outputs: ReadonlyMap<string, Variable>;
  status: Uint8Array;
}

export function useColumns(table: RunTable): Columns {
  const age = useAge(table);
  const layout = useTableLayout(table);
  return useMemo(
    () => ({
      outputs: new Map(
        variablesOf(table)
          .filter((it) => it.kind === 'output' && it.categories === undefined)
          .map((it) => [it.name, it]),
      ),
      status: table.status.slice(),
    }),
    [table, age, layout],
  );
}

export type SideColumns = Side & { columns: Columns };

export function drawnOf({ columns, ...side }: SideColumns, name: string): Drawn {
  const variable = columns.outputs.get(name)!;
  const { status } = columns;
  const values = completedValues(variable, status);
  const isSample = methodOfCell(side.submission.config) === 'monte_carlo';
  const steps = boundedSteps(values, (row) => isEnded(status[row]!), isSample ? CONFIDENCE : undefined);
  return { ...side, variable, status, values, steps };
}

/** A card about one output of both. */
export interface CardProps {
  name: string;
  data: StudyComparison;
  before: Drawn;
  after: Drawn;
  onRemove: () => void;
}

/** Axes of shares. */
export const SHARES = {
  ...LABEL,
  grid: true,
  ticks: 5,
  tickFormat: (value: number): string => `${Math.round(100 * value)} %`,
};
