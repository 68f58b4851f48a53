/** Demand, runners and allocations for tests of the launcher's decisions. */
import type { AllocationContext } from '../../../machines/allocation/context.ts';
import { newAllocation } from '../../../machines/allocation/context.ts';
import type { AllocationStatus } from '../../../machines/allocation/allocation.ts';
import type { DemandGroup, Runner } from '../../../src/contract/types.ts';
import type { LiveAllocation } from '../../../src/launcher/decision/capacities.ts';
import type { WantedInput } from '../../../src/launcher/decision/wanted.ts';
import { queueConfig } from '../support.ts';

export const NOW = Date.UTC(2026, 0, 2);

export const group = (given: Partial<DemandGroup> = {}): DemandGroup => ({
  simulation: 'rocket',
  cpu_cores: 1,
  memory_gb: 0.25,
  timeout_secs: 60,
  mean_seconds: null,
  image: '',
  runs: 10,
  active: 0,
  oldest_pending_at: new Date(NOW - 30_000).toISOString(),
  batches: ['b'],
  ...given,
});

export function runner(given: Partial<Runner> & { slots?: number } = {}): Runner {
  const { slots = 4, ...rest } = given;
  return {
    id: 'main-x',
    name: 'main-x',
    status: 'Idle',
    capabilities: {
      max_concurrent_jobs: slots,
      cpu_cores: slots,
      memory_gb: slots / 2,
      gpu_available: false,
      supported_simulation_types: [],
    },
    current_jobs: [],
    tags: [],
    registered_at: new Date(NOW).toISOString(),
    last_heartbeat: new Date(NOW).toISOString(),
    total_jobs_completed: 0,
    total_jobs_failed: 0,
    ...rest,
  };
}

let made = 0;

export function allocation(
  value: AllocationStatus,
  given: Partial<AllocationContext> = {},
  of?: Runner,
): LiveAllocation {
  made += 1;
  const context = newAllocation({
    id: `a${String(made)}`,
    queue: 'main',
    engine: 'fake',
    cores: 4,
    lifetimeMs: 3_600_000,
    startTimeoutMs: 60_000,
    queueTimeoutMs: undefined,
    settleMs: 0,
    isKept: false,
    now: NOW - 60_000,
  });
  return { value, context: { ...context, ...given }, runner: of };
}

export const input = (given: Partial<WantedInput> = {}): WantedInput => ({
  demand: [group()],
  otherRunners: [],
  allocations: [],
  queues: [queueConfig({ engine: 'slurm', section: {} })],
  blocked: new Map(),
  settings: new Map(),
  limits: { maxAllocations: undefined, maxCoreHours: undefined, maxCoreHoursPerDay: undefined },
  usage: { totalCoreMs: 0, dayCoreMs: 0 },
  now: NOW,
  ...given,
});
