/** The option `--resource` of `serve`: pools of resources that the coordinator holds for all runners. */
import { InvalidArgumentError, Option } from 'commander';
import { LIMITS } from '../contract/limits.ts';
import { MEANING_OF_PATTERN, RESOURCE_NAME_PATTERN } from '../contract/patterns.ts';

export const resourceOption = (): Option =>
  new Option(
    '--resource <name=n>',
    'at most n of a resource for the runs of all runners together, such as floating licences; may be repeated',
  ).argParser(poolOf);

/** Adds `name=n` to the pools so far. */
function poolOf(text: string, former: Record<string, number> = {}): Record<string, number> {
  const at = text.lastIndexOf('=');
  const [name, amount] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (at < 0) throw new InvalidArgumentError('It must be a name and an amount, such as comsol=2.');
  if (!new RegExp(RESOURCE_NAME_PATTERN).test(name))
    throw new InvalidArgumentError(`The name must be ${MEANING_OF_PATTERN[RESOURCE_NAME_PATTERN] ?? ''}.`);
  if (Object.hasOwn(former, name)) throw new InvalidArgumentError(`${name} is given twice.`);
  if (!/^\d{1,5}$/.test(amount) || Number(amount) < 1 || Number(amount) > LIMITS.resourceAmount)
    throw new InvalidArgumentError(`The amount must be a whole number from 1 to ${LIMITS.resourceAmount}.`);
  if (Object.keys(former).length >= LIMITS.resources)
    throw new InvalidArgumentError(`At most ${LIMITS.resources} resources can be given.`);
  return { ...former, [name]: Number(amount) };
}
