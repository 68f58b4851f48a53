/** A runner's request for work: its capacity, and the runs that may wait on it. */
import type { BatchContext } from '../../../machines/batch.ts';
import { hasFeatures } from '../../domain/histories/feature.ts';
import { executesPinned } from '../../domain/code-pin.ts';
import type { RunnerCapabilities, RunnerEngine, Uuid } from '../../contract/types.ts';
import { fits, freeCapacityOf, supports, waitingOf, type FreeCapacity } from '../../domain/scheduling.ts';
import type { RunnerState } from '../kernel/actors/actor-kinds.ts';

/** A runner's request for work. Planning reduces `capacity` and `maxJobs`. */
export interface WorkRequest {
  runnerId: string;
  capabilities: RunnerCapabilities;
  /** Its engines with their code, as of this request; undefined: it does not state them. */
  engines: readonly RunnerEngine[] | undefined;
  capacity: FreeCapacity;
  /** The limit on assignments. */
  maxJobs: number;
  /** Time at which the machine is taken from the runner; undefined: never. */
  endsAtMs: number | undefined;
  /** How many more runs may wait on the runner, beyond its capacity. */
  ahead: number;
  /** The request is for runs that wait: each must fit the whole runner by itself. */
  waits?: true;
}

export interface PlanLimits {
  /** No runs of these batches. */
  except?: ReadonlySet<Uuid>;
  /** The most runs. */
  most?: number;
}

/** Yields the requests, and notes those that take runs to wait. */
export function* noting(requests: Iterable<WorkRequest>, toWait: WorkRequest[]): Iterable<WorkRequest> {
  for (const request of requests) {
    if (request.ahead > 0) toWait.push(request);
    yield request;
  }
}

/** The capacity with a slot less. */
export const withoutSlot = (capacity: FreeCapacity): FreeCapacity => ({ ...capacity, slots: capacity.slots - 1 });

/** The request for the runs that may wait on the runner. */
export const waitingRequest = (request: WorkRequest): WorkRequest => ({
  ...request,
  waits: true,
  capacity: { ...freeCapacityOf(request.capabilities, []), slots: request.ahead },
});

/** Returns true when the runner could take a run of the batch, apart from its length. */
export function couldTake(
  { capabilities, engines, capacity: room }: Pick<WorkRequest, 'capabilities' | 'engines' | 'capacity'>,
  batch: BatchContext,
): boolean {
  const isLargeEnough = fits(batch, room) && supports(capabilities, batch.simulationName);
  return isLargeEnough && hasFeatures(capabilities, batch.needs) && executesPinned({ capabilities, engines }, batch);
}

/**
 * Returns a runner as a work request; undefined when it is drained, silent or full.
 * @param ahead how many runs may wait on it.
 */
export function workRequestOf(
  { value, context }: RunnerState,
  maxJobs: number,
  ahead: number,
): WorkRequest | undefined {
  if (value !== 'Idle' && value !== 'Busy') return undefined;
  const { capabilities, engines, held, slotsLost, runnerId, endsAtMs } = context;
  const capacity = freeCapacityOf(capabilities, held, slotsLost);
  const moreAhead = ahead === 0 ? 0 : Math.max(0, ahead - waitingOf(capabilities, held).length);
  if (maxJobs <= 0 || (capacity.slots <= 0 && moreAhead === 0)) return undefined;
  return { runnerId, capabilities, engines, capacity, maxJobs, ahead: moreAhead, endsAtMs };
}
