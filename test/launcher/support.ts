/** Queues, requests and views of the launcher's tests. */
import type { QueueConfig } from '../../src/launcher/settings.ts';
import type { AllocationRequest, EngineAllocation, EngineView } from '../../src/launcher/engine.ts';

const GIB = 1024 ** 3;

/** A queue `main` of four cores and 2 GiB for an hour, with the given members. */
export function queueConfig<Section>(
  given: Partial<QueueConfig<Section>> & { section: Section },
): QueueConfig<Section> {
  return {
    name: 'main',
    engine: 'fake',
    serves: ['*'],
    size: { cores: 4, memoryBytes: 2 * GIB, gpus: 0 },
    lifetimeMs: 3_600_000,
    lifetimeMarginMs: 120_000,
    min: 0,
    max: 10,
    maxQueued: 5,
    idleTimeoutMs: 60_000,
    startTimeoutMs: 120_000,
    queueTimeoutMs: undefined,
    drainTimeoutMs: undefined,
    scaleUpAfterMs: 0,
    backoff: { firstMs: 10_000, maxMs: 600_000, pauseAfter: 5 },
    runner: { program: undefined, args: [], environment: {}, slots: undefined },
    ...given,
  };
}

/** A request of the queue `main`, with the given members. */
export function allocationRequest(given: Partial<AllocationRequest> = {}): AllocationRequest {
  return {
    id: 'a1b2c3d4e5f6',
    queue: 'main',
    size: { cores: 4, memoryBytes: 2 * GIB, gpus: 0 },
    lifetimeSecs: 3_600,
    runner: {
      program: undefined,
      args: ['--runner-id', 'main-a1b2c3d4e5f6'],
      environment: { SVC_NOTE: "it's" },
    },
    token: undefined,
    need: undefined,
    ...given,
  };
}

/** A job that a simulated engine keeps. */
export interface KnownJob {
  request: AllocationRequest;
  state: EngineAllocation['state'];
  end?: EngineAllocation['end'];
  startedAtMs?: number;
}

/** The view of an engine that knows these jobs by their allocations. */
export function viewOf(jobs: ReadonlyMap<string, KnownJob>): EngineView {
  const allocations = [...jobs].map(([id, { request, state, end, startedAtMs }]): EngineAllocation => ({
    id,
    queue: request.queue,
    handle: `job-${id}`,
    state,
    ...(startedAtMs === undefined ? {} : { startedAtMs, endsAtMs: startedAtMs + request.lifetimeSecs * 1_000 }),
    ...(end === undefined ? {} : { end }),
  }));
  return { allocations, silent: [] };
}
