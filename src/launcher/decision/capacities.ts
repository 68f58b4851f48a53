/** The free capacity that exists, starts or is queued. Pure. */
import { less } from '../../domain/counted/counts.ts';
import { usableSlots, type FreeCapacity } from '../../domain/scheduling.ts';
import type { Runner } from '../../contract/types.ts';
import type { QueueConfig } from '../settings.ts';
import { usableMs, wholeCapacity, type RunnerSettings } from './fits.ts';
import { isWaiting, type Allocation } from './usage.ts';

/** The runner of an allocation as the pool lists it; undefined until it has registered. */
export interface LiveAllocation extends Allocation {
  runner: Runner | undefined;
}

export interface CapacityInput {
  /** Runners outside of the launcher's allocations. */
  otherRunners: readonly Runner[];
  /** All allocations that have not ended, also those of queues that are no longer configured. */
  allocations: readonly LiveAllocation[];
  queues: readonly QueueConfig[];
}

/** Free capacity, of which the groups take their parts. */
export interface Capacity {
  simulations: readonly string[];
  /** The settings of its runner; undefined before it has registered. */
  settings: RunnerSettings | undefined;
  room: FreeCapacity;
  /** Runs must end before; undefined: no end. */
  endsAtMs: number | undefined;
  /** False where only `simulations` counts: runners that the launcher has not started. */
  queue: QueueConfig | undefined;
}

const READY = new Set(['Idle', 'Busy']);

export function capacitiesOf({ allocations, otherRunners, queues }: CapacityInput): Capacity[] {
  const configs = new Map(queues.map((it) => [it.name, it]));
  const capacities = allocations.flatMap((it): Capacity[] => {
    const queue = configs.get(it.context.queue);
    if (READY.has(it.value)) {
      return it.runner === undefined ? [] : [{ ...capacityOfRunner(it.runner), queue }];
    }
    if (queue === undefined || !(isWaiting(it) || it.value === 'Starting') || it.context.stop !== undefined) return [];
    const { endsAtMs } = it.context;
    const end = endsAtMs === undefined ? undefined : endsAtMs - (queue.lifetimeMs - usableMs(queue));
    return [newCapacity(queue, end)];
  });
  return [...capacities, ...otherRunners.map(capacityOfRunner)];
}

export const newCapacity = (queue: QueueConfig, endsAtMs: number | undefined): Capacity => ({
  simulations: queue.serves,
  settings: undefined,
  room: wholeCapacity(queue),
  endsAtMs,
  queue,
});

/** The free part of a runner: of its cores and memory, the same share as of its slots. */
function capacityOfRunner({
  capabilities: c,
  engines,
  current_jobs: jobs,
  resources_used: used,
  slots_lost: lost,
  status,
  ends_at: end,
}: Runner): Capacity {
  const slots = usableSlots(c, lost);
  const free = status === 'Idle' || status === 'Busy' ? Math.max(0, slots - jobs.length) : 0;
  const share = slots === 0 ? 0 : free / slots;
  return {
    simulations: c.supported_simulation_types,
    settings: { ...c, engines },
    room: {
      slots: free,
      cpuMilli: c.cpu_cores > 0 ? c.cpu_cores * 1_000 * share : Infinity,
      memoryBytes: c.memory_gb > 0 ? c.memory_gb * 1024 ** 3 * share : Infinity,
      resources: less(c.resources, used),
    },
    endsAtMs: end === undefined ? undefined : Date.parse(end),
    queue: undefined,
  };
}
