/** The core hours of owners today, with their limits: those that the token of this page may see. */
import type { BudgetList } from '../../../src/contract/types.ts';
import { budgetText } from '../../../src/domain/budgets/budget-text.ts';
import { useRequest } from '../data/api.ts';
import { useRefresh } from '../data/use-refresh.ts';
import { Panel } from '../parts/common.tsx';
import { Time } from '../parts/time.tsx';

export function Budgets() {
  const { data } = useRequest<BudgetList>('/budgets', useRefresh(true));
  if (data === undefined || data.budgets.length === 0) return null;
  return (
    <Panel
      title="Budgets"
      aside={
        <span className="small soft">
          anew <Time at={data.resets_at} />
        </span>
      }
    >
      <ul>
        {data.budgets.map((it) => (
          <li key={it.owner ?? ''}>{budgetText(it)}</li>
        ))}
      </ul>
    </Panel>
  );
}
