/** The plan of a table: its columns, condition and order, read from a request and checked against the studies. */
import { type Column, allColumns, chosenColumns, type Declared } from '../../../../analysis/export/columns.ts';
import { type Condition, readCondition } from '../../../../analysis/export/condition.ts';
import { readSort, type SortKey } from '../../../../analysis/export/order.ts';
import type { OutputTypes } from '../../../../analysis/export/output-types.ts';
import { describedOutputs } from '../../../../domain/runs/described-outputs.ts';
import { cellsOf } from '../../../../domain/scenarios/cells.ts';
import { declaredDispersions } from '../../../../domain/scenarios/overrides.ts';
import type { TableRequest } from '../../table-request.ts';
import type { Member } from './members.ts';

export interface TablePlan {
  members: readonly Member[];
  columns: readonly Column[];
  condition: Condition | undefined;
  sort: readonly SortKey[];
  /** Whether a mixed column compares as numbers. */
  comparesAsNumbers: (column: Column) => boolean;
}

/** @throws SimbatchError `malformed-query` for an unknown column, and for a condition or order that is not understood. */
export function planOf(members: readonly Member[], types: OutputTypes, request: TableRequest): TablePlan {
  const parameters = new Map<string, Declared>();
  const outputs = new Map<string, Declared>();
  for (const { submission, sampler } of members) {
    const dispersions = declaredDispersions(submission.config);
    for (const name of sampler.names) parameters.set(name, { name, units: dispersions[name]?.units });
    for (const [name, it] of Object.entries(describedOutputs(submission))) outputs.set(name, { name, ...it });
  }
  const hasRounds = members.every(({ rounds }) => rounds !== undefined);
  const axes = (cellsOf(members[0]?.submission.config ?? {})?.axes ?? []).map(({ name }) => name);
  const all = allColumns({
    parameters: [...parameters.values()],
    outputs: [...outputs.values()],
    types,
    hasRounds,
    axes,
  });
  const comparesAsNumbers = ({ member }: Column): boolean => types.hasNumbers(member);
  const { columns, where, sort = [] } = request;
  return {
    members,
    columns: chosenColumns(all, columns),
    condition: where === undefined ? undefined : readCondition(where, all, comparesAsNumbers),
    sort: readSort(sort, all),
    comparesAsNumbers,
  };
}

/** Whether the request names outputs, so that all of them must be known. */
export const namesOutputs = ({ columns, where, sort }: TableRequest): boolean =>
  columns !== undefined || where !== undefined || sort !== undefined;
