/** The option `--budget` of `serve`: core hours per owner and day. */
import { InvalidArgumentError, Option } from 'commander';

/** A site with more cores has other means. */
const MOST_CORE_HOURS = 1e9;

export const budgetOption = (): Option =>
  new Option(
    '--budget <owner=hours>',
    'core hours of an UTC day after which no further run of the owner starts; `*=hours`: of each other owner; may be repeated',
  ).argParser(budgetOf);

/** Adds `owner=hours` to the budgets so far. An owner may be any name of a token or a user, so the last `=` counts. */
function budgetOf(text: string, former: ReadonlyMap<string, number> = new Map()): ReadonlyMap<string, number> {
  const at = text.lastIndexOf('=');
  const [owner, hours] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (owner === '') throw new InvalidArgumentError('It must be an owner and core hours, such as alice=100 or *=24.');
  if (former.has(owner)) throw new InvalidArgumentError(`${owner} is given twice.`);
  if (!/^\d+(\.\d+)?$/.test(hours) || Number(hours) > MOST_CORE_HOURS)
    throw new InvalidArgumentError(`The core hours must be a number from 0 to ${MOST_CORE_HOURS}, such as 100 or 0.5.`);
  return new Map(former).set(owner, Number(hours));
}
