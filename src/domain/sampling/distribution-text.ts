/** A distribution with its members as text for people. */
import { formatNumber } from '../../base/text/number-text.ts';
import type { DistributionValue } from '../../base/distributions/table.ts';

/** Numbers of a list that are shown. */
const MOST_NUMBERS = 6;

function memberText(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value, 8);
  if (Array.isArray(value)) {
    const shown = value.slice(0, MOST_NUMBERS).map((it: unknown) => memberText(it));
    return `[${shown.join(', ')}${value.length > MOST_NUMBERS ? `, … ${value.length} values` : ''}]`;
  }
  return typeof value === 'object' && value !== null ? Object.values(value).map(memberText).join(' x ') : String(value);
}

/** `normal, mean 10, std_dev 1`; long lists are cut, and say so. */
export function distributionText({ type, ...members }: DistributionValue): string {
  const given = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return [type, ...given.map(([name, value]) => `${name} ${memberText(value)}`)].join(', ');
}
