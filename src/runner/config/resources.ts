/** The counted resources that a runner offers: as given, and with the GPUs of its machine. Pure. */
import { amountOf, GPU, has, type Counts } from '../../domain/counted/counts.ts';
import type { RunnerConfig } from './config.ts';
import type { ResourceAmounts } from './values.ts';

/** The counted resources that the runner offers, its GPUs by those found; undefined: none. */
export function countsOf({
  resources: given,
  devices = [],
}: Partial<Pick<RunnerConfig, 'resources' | 'devices'>>): Counts | undefined {
  return (
    given &&
    Object.fromEntries(
      Object.entries(given).map(([name, amount]) => [name, name === GPU ? devices.length : Number(amount)]),
    )
  );
}

/** The GPUs to pin of those found, and what to say about them; undefined: the setting names no GPU. */
export function pinnedDevices(
  given: ResourceAmounts | undefined,
  { ids, source }: { ids: readonly string[]; source: string },
): { devices: readonly string[]; note?: string } | undefined {
  if (!has(given as Counts | undefined, GPU)) return undefined;
  const amount = given![GPU]!;
  if (amount === 'auto')
    return ids.length > 0
      ? { devices: ids }
      : { devices: ids, note: `resources: gpu is auto, and no GPU was found (${source}): the runner offers 0` };
  const wanted = amountOf(given as Counts, GPU);
  if (wanted <= ids.length) return { devices: ids.slice(0, wanted) };
  if (ids.length > 0)
    return {
      devices: ids,
      note: `resources: gpu is ${String(wanted)}, and ${String(ids.length)} are there (${source}): the runner offers ${String(ids.length)}`,
    };
  return {
    devices: Array.from({ length: wanted }, (_, at) => String(at)),
    note: `resources: gpu is ${String(wanted)}, and no GPU was found (${source}): they are taken to be 0 to ${String(wanted - 1)}`,
  };
}
