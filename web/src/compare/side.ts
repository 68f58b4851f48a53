/** The runs of two studies as the plots of a comparison take them. */
import { useMemo } from 'react';
import type { BatchStatusResponse, BatchSubmission, StudyComparison } from '../../../src/contract/types.ts';
import { methodOfCell } from '../../../src/domain/study/design-method.ts';
import { BAND_CONFIDENCE, boundedSteps, type BoundedSteps } from '../cards/distribution.ts';
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

export const COLOURS = ['var(--timeout)', 'var(--running)'] as const;
export const SIDES = ['before', 'after'] as const;

/** An output of one study: its values in completed runs, and their distribution. */
interface Curve {
  variable: Variable;
  values: Float64Array;
  steps: BoundedSteps;
}

export type Drawn = Side & Curve;

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

/** The side with an output: the curve is computed when the runs that are drawn change, not with the progress. */
export function useDrawn({ columns, ...side }: SideColumns, name: string): Drawn {
  const { submission } = side;
  const curve = useMemo((): Curve => {
    const variable = columns.outputs.get(name)!;
    const values = completedValues(variable, columns.status);
    const isSample = methodOfCell(submission.config) === 'monte_carlo';
    const isCounted = (row: number): boolean => isEnded(columns.status[row]!);
    return { variable, values, steps: boundedSteps(values, isCounted, isSample ? BAND_CONFIDENCE : undefined) };
  }, [columns, submission, name]);
  return { ...side, ...curve };
}

/** A card about one output of both. */
export interface CardProps {
  name: string;
  data: StudyComparison;
  before: Drawn;
  after: Drawn;
  onRemove: () => void;
}
