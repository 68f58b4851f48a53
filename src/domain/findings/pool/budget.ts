/** The finding about an owner whose core hours of the day are used. */
import { plural } from '../../plural.ts';
import { activeJobs, type Rule } from '../finding.ts';

const hours = (value: number): string => String(Number(value.toPrecision(3)));

export const BUDGET_USED: Rule = {
  code: 'budget-used',
  find(situation) {
    const { budget, jobsByStatus } = situation;
    if (budget?.isUsed !== true) return undefined;
    const { owner, usedHours, limitHours, resetsAt } = budget;
    const whose = owner === undefined ? 'studies without an owner have' : `${owner} has`;
    const active = activeJobs(situation);
    const rest =
      active === 0
        ? ''
        : `; ${plural(active, 'run')} that ${active === 1 ? 'has' : 'have'} started continue${active === 1 ? 's' : ''}`;
    return {
      severity: active > 0 ? 'fine' : 'waiting',
      message: `${whose} used ${hours(usedHours)} of ${hours(limitHours)} core hours of today: ${plural(jobsByStatus.Pending, 'pending run')} must wait until ${resetsAt}${rest}`,
      remedy: `wait; or ask the operator for a larger \`serve --budget ${JSON.stringify(`${owner ?? '*'}=HOURS`)}\``,
      count: jobsByStatus.Pending,
    };
  },
};
