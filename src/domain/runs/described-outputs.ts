/** The outputs that a study describes: those under `outputs`, and its derived outputs with their units. */
import type { BatchSubmission } from '../../contract/types.ts';

type Described = NonNullable<BatchSubmission['outputs']>;

/** By name, those under `outputs` first. Units there count before those of the derived output of the same name. */
export function describedOutputs({
  config,
  outputs = {},
}: Partial<Pick<BatchSubmission, 'config' | 'outputs'>>): Described {
  const all = new Map(Object.entries(outputs));
  for (const { name, units } of config?.derived ?? []) {
    const described = all.get(name);
    all.set(name, { ...described, ...(described?.units || !units ? {} : { units }) });
  }
  return Object.fromEntries(all);
}
