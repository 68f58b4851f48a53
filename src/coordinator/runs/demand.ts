/** The demand for runners: the Pending runs of all open batches that could be claimed now, in groups of equal needs. */
import { activeRuns, type BatchContext } from '../../../machines/batch.ts';
import type { ComputeConfig, ContainerConfig, DemandGroup, DemandResponse, Uuid } from '../../contract/types.ts';
import { parseCpu, parseMemory } from '../../domain/quantity.ts';
import { plus, times, type Counts } from '../../domain/counted/counts.ts';
import { hasFeatures } from '../../domain/histories/feature.ts';
import { executesPinned, type RunnerCode } from '../../domain/code-pin.ts';
import { BYTES_PER_GB, supports } from '../../domain/scheduling.ts';
import type { Store } from '../kernel/storage/store.ts';
import { decodeRunner } from '../kernel/actors/actor-kinds.ts';
import { allOf } from '../kernel/storage/keys.ts';
import { meanRunMs, type Statistics } from '../scheduling/statistics.ts';
import type { WaitingRuns, Scheduler } from '../scheduling/scheduler.ts';
import { isSiteName, type SitePools } from '../scheduling/site-pools.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { isDamage } from '../../domain/errors.ts';

interface DemandParts {
  store: Store;
  share: EventLoopShare;
  scheduler: Scheduler;
  studyCache: StudyCache;
  statistics: Statistics;
  sitePools: SitePools | undefined;
}

const MAX_NAMED_BATCHES = 100;

/** Takes time in proportion to the number of open batches, not to that of their runs. */
export async function demand(parts: DemandParts): Promise<DemandResponse> {
  const groups = new Map<string, DemandGroup>();
  let runs = 0;
  const waiting = withinPools(parts, await withoutUnserved(parts, [...parts.scheduler.waiting()]));
  for await (const part of parts.share.mapped(waiting, (it) => groupOf(parts, it))) {
    for (const found of part) {
      if (found === undefined) continue;
      const [key, group] = found;
      runs += group.runs;
      const known = groups.get(key);
      if (known === undefined) groups.set(key, group);
      else add(known, group);
    }
  }
  return {
    runs,
    demand: [...groups.values()].sort((a, b) => a.oldest_pending_at.localeCompare(b.oldest_pending_at)),
  };
}

/** At most as many runs as the pools of the coordinator have room for, the studies one after the other. */
function withinPools({ sitePools }: DemandParts, waiting: WaitingRuns[]): WaitingRuns[] {
  if (sitePools === undefined) return waiting;
  let used: Counts = sitePools.inUse();
  return waiting.flatMap((it) => {
    const { resources } = it.context;
    if (resources === undefined) return [it];
    const runs = Math.min(it.runs, sitePools.leaves(resources, used));
    used = plus(used, times(resources, runs)) ?? used;
    return runs === 0 ? [] : [{ ...it, runs }];
  });
}

/**
 * Without the studies that pin a code, or need a feature, which no connected runner of their simulation has: further runners like these would be
 * given nothing. While none is connected, a new one may have it.
 */
async function withoutUnserved(parts: DemandParts, waiting: WaitingRuns[]): Promise<WaitingRuns[]> {
  if (waiting.every(({ context: c }) => c.pinsCode === undefined && c.needs === undefined)) return waiting;
  const connected = await connectedRunners(parts);
  return waiting.filter(({ context: c }) => {
    const able = connected.filter(({ capabilities }) => supports(capabilities, c.simulationName));
    return able.length === 0 || able.some((it) => executesPinned(it, c) && hasFeatures(it.capabilities, c.needs));
  });
}

async function connectedRunners({ store, share }: DemandParts): Promise<RunnerCode[]> {
  const found: RunnerCode[] = [];
  const view = store.snapshot();
  try {
    for await (const chunk of view.entries(allOf('runner'))) {
      for await (const part of share.mapped(chunk, ([, record]) => decodeRunner(record)))
        found.push(...part.filter(({ value }) => value !== 'Offline').map(({ context }) => context));
    }
  } finally {
    await view.close();
  }
  return found;
}

/** The resources of a study; undefined where its submission is damaged, so that none of its runs can be claimed. */
function computeOf({ studyCache }: DemandParts, batchId: Uuid): ComputeConfig | undefined {
  try {
    return studyCache.computeOf(batchId);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

function groupOf(parts: DemandParts, { context: c, runs, sinceMs }: WaitingRuns): [string, DemandGroup] | undefined {
  const compute = computeOf(parts, c.batchId);
  if (compute === undefined) return undefined;
  const { statistics } = parts;
  const { container, kubernetes, baremetal } = compute;
  const mean = meanRunMs(statistics, c.simulationName);
  const needs = {
    simulation: c.simulationName,
    cpu_cores: c.cpuMilli / 1000,
    memory_gb: c.memoryBytes / BYTES_PER_GB,
    ...limitsOf(container),
    timeout_secs: c.timeLimitMs / 1000,
    image: container.image,
    ...namesOf(container),
    ...(c.pinsCode === undefined ? {} : { code: c.pinnedCode ?? null }),
    ...(c.needs === undefined ? {} : { features: [...c.needs] }),
    ...resourcesOf(parts, c),
    ...(kubernetes === undefined || kubernetes === null ? {} : { kubernetes }),
    ...(baremetal === undefined || baremetal === null ? {} : { baremetal }),
  };
  const group: DemandGroup = {
    ...needs,
    mean_seconds: mean === undefined ? null : mean / 1000,
    runs,
    active: activeRuns(c),
    oldest_pending_at: new Date(sinceMs).toISOString(),
    batches: [c.batchId],
  };
  return [JSON.stringify(needs), group];
}

function resourcesOf(
  { sitePools }: DemandParts,
  { resources }: BatchContext,
): Pick<DemandGroup, 'resources' | 'site_resources'> {
  if (resources === undefined) return {};
  const site = Object.keys(resources).filter(isSiteName(sitePools));
  return site.length === 0 ? { resources } : { resources, site_resources: site };
}

function namesOf({ environment }: ContainerConfig): Pick<DemandGroup, 'environment'> {
  const names = Object.keys(environment ?? {});
  return names.length === 0 ? {} : { environment: names.sort() };
}

/** A submitted study has quantities that can be read. */
function limitsOf({
  cpu_limit: cpu,
  memory_limit: memory,
}: ContainerConfig): Pick<DemandGroup, 'cpu_limit_cores' | 'memory_limit_gb'> {
  const milli = typeof cpu === 'string' ? parseCpu(cpu) : undefined;
  const bytes = typeof memory === 'string' ? parseMemory(memory) : undefined;
  return {
    ...(typeof milli === 'number' ? { cpu_limit_cores: milli / 1000 } : {}),
    ...(typeof bytes === 'number' ? { memory_limit_gb: bytes / BYTES_PER_GB } : {}),
  };
}

function add(known: DemandGroup, { runs, active, oldest_pending_at, batches }: DemandGroup): void {
  known.runs += runs;
  known.active += active;
  if (oldest_pending_at < known.oldest_pending_at) known.oldest_pending_at = oldest_pending_at;
  if (known.batches.length < MAX_NAMED_BATCHES) known.batches.push(...batches);
}
