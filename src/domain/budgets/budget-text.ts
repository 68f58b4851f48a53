/** A budget in one line, for the command line and the dashboard. */
import type { OwnerBudget } from '../../contract/types.ts';

const hours = (value: number): string => String(Number(value.toPrecision(3)));

/** `alice 12.3 of 100 core hours today`, `bob 104 of 100 core hours today, no further run starts`. */
export function budgetText({
  owner,
  used_core_hours: used,
  limit_core_hours: limit,
  is_used: isUsed,
}: OwnerBudget): string {
  const of = limit === null ? '' : ` of ${hours(limit)}`;
  return `${owner ?? 'studies without an owner'} ${hours(used)}${of} core hours today${isUsed ? ', no further run starts' : ''}`;
}
