/** Reads the states of allocations from Jobs and pods. Pure. */
import { oneLine, type EndKind, type EngineAllocation } from '../../engine.ts';
import type { ApiObject } from './api.ts';
import { LABELS } from './job.ts';

interface Meta {
  name?: string;
  labels?: Record<string, string>;
  creationTimestamp?: string;
  deletionTimestamp?: string;
}
interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
}
interface ContainerStatus {
  state?: {
    waiting?: { reason?: string; message?: string };
    terminated?: { exitCode?: number; reason?: string; message?: string };
  };
}
interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  startTime?: string;
  conditions?: Condition[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
}

/** Ends of a pod by the cluster, by its reason; and by that of its condition DisruptionTarget, where others are preemptions. */
const REASONS: ReadonlyMap<string, EndKind> = new Map<string, EndKind>([
  ['Evicted', 'evicted'],
  ['Preempting', 'preempted'],
  ['NodeLost', 'node-failure'],
  ['Shutdown', 'node-failure'],
  ['NodeShutdown', 'node-failure'],
  ['Terminated', 'node-failure'],
]);
const DISRUPTIONS: ReadonlyMap<string, EndKind> = new Map<string, EndKind>([
  ['DeletionByTaintManager', 'node-failure'],
  ['DeletionByPodGC', 'node-failure'],
  ['TerminationByKubelet', 'evicted'],
  ['EvictionByEvictionAPI', 'evicted'],
]);
/** Ends of a Job whose pod is removed; its failure policy names disruptions. */
const JOB_ENDS: ReadonlyMap<string, EndKind> = new Map<string, EndKind>([
  ['DeadlineExceeded', 'timeout'],
  ['PodFailurePolicy', 'preempted'],
]);
/** An eviction for the pod's own use of storage. */
const OWN_LIMIT = /exceed(?:s|ed) (?:its|the) .*limit/;

/** Reasons of a waiting container that no time mends. */
const HOPELESS = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);
/** A submission takes a few seconds; a Job that is suspended for longer was left by a launcher that ended. */
const SUSPENDED_MS = 90_000;

export interface Found {
  allocation: EngineAllocation;
  /** True for a Job that has failed for good, and holds its cores until it is deleted. */
  isHopeless: boolean;
}

/** `serverMs`: the clock of the server that wrote the times; `nowMs`: the launcher's at the same moment. */
export function allocationsOf(
  jobs: readonly ApiObject[],
  pods: readonly ApiObject[],
  { serverMs, nowMs }: { serverMs: number; nowMs: number },
): Found[] {
  const offsetMs = nowMs - serverMs;
  const podOf = new Map<string, ApiObject>();
  for (const pod of pods) {
    const id = idOf(pod);
    // The youngest of several pods counts; the Job has only one.
    if (id !== undefined && createdAt(podOf.get(id)) <= createdAt(pod)) podOf.set(id, pod);
  }
  const ids = new Set<string>();
  const found = jobs.flatMap((job) => {
    const id = idOf(job);
    if (id === undefined) return [];
    ids.add(id);
    return [judge(job, podOf.get(id), serverMs)];
  });
  // Pods whose Job is deleted are about to end; those of hopeless ones have been reported as ended.
  for (const [id, pod] of podOf) {
    const { phase } = statusOf(pod);
    if (ids.has(id) || phase === 'Succeeded' || phase === 'Failed' || hopelessReason(pod) !== undefined) continue;
    found.push(living(pod, 'stopping', undefined));
  }
  return found.map((it) => ({ ...it, allocation: withTimes(it.allocation, podOf.get(it.allocation.id), offsetMs) }));
}

const metaOf = (it: ApiObject): Meta => it['metadata'] ?? {};
const statusOf = (it: ApiObject): PodStatus => it['status'] ?? {};
const idOf = (it: ApiObject): string | undefined => metaOf(it).labels?.[LABELS.allocation];
const createdAt = (it: ApiObject | undefined): number => {
  const ms = it === undefined ? NaN : Date.parse(metaOf(it).creationTimestamp ?? '');
  return Number.isNaN(ms) ? -1 : ms;
};

function base(it: ApiObject): Pick<EngineAllocation, 'id' | 'queue' | 'handle'> {
  const { labels = {} } = metaOf(it);
  const id = labels[LABELS.allocation] ?? '';
  return { id, queue: labels[LABELS.queue] ?? '', handle: `simbatch-${id}` };
}

const living = (it: ApiObject, state: 'queued' | 'running' | 'stopping', reason: string | undefined): Found => ({
  allocation: { ...base(it), state, ...(reason === undefined ? {} : { reason: oneLine(reason) }) },
  isHopeless: false,
});

function over(it: ApiObject, kind: EndKind, reason: string | undefined, exitCode?: number): Found {
  const end = { kind, ...(exitCode === undefined ? {} : { exitCode }) };
  const words = reason === undefined || reason === '' ? {} : { reason: oneLine(reason) };
  return { allocation: { ...base(it), state: 'ended', end, ...words }, isHopeless: false };
}

function judge(job: ApiObject, pod: ApiObject | undefined, serverMs: number): Found {
  const { conditions = [] } = statusOf(job);
  const hopeless = pod === undefined ? undefined : hopelessReason(pod);
  if (hopeless !== undefined) return { ...over(job, 'failed', hopeless), isHopeless: true };
  const failed = conditions.find((it) => it.type === 'Failed' && it.status === 'True');
  const phase = pod === undefined ? undefined : statusOf(pod).phase;
  if (conditions.some((it) => it.type === 'Complete' && it.status === 'True'))
    return over(job, 'completed', undefined, 0);
  if (phase === 'Succeeded') return over(job, 'completed', undefined, 0);
  if (pod !== undefined && phase === 'Failed') return failedPod(job, pod);
  // The pods were listed a moment before: how it ended is known in the next round.
  if (failed !== undefined && pod !== undefined) return living(job, 'stopping', undefined);
  if (failed !== undefined) {
    const kind = JOB_ENDS.get(failed.reason ?? '') ?? 'unknown';
    return over(job, kind, `${failed.reason ?? 'Failed'}: ${failed.message ?? ''}`);
  }
  if (metaOf(job).deletionTimestamp !== undefined) return living(job, 'stopping', undefined);
  if ((job['spec'] as { suspend?: boolean } | undefined)?.suspend === true) {
    const why = 'its submission was interrupted before it had its token';
    if (serverMs - createdAt(job) > SUSPENDED_MS) return { ...over(job, 'unknown', why), isHopeless: true };
    return living(job, 'queued', 'suspended until its token is there');
  }
  return pod === undefined ? living(job, 'queued', 'it has no pod yet') : livingPod(job, pod);
}

function livingPod(job: ApiObject, pod: ApiObject): Found {
  if (metaOf(pod).deletionTimestamp !== undefined) return living(job, 'stopping', undefined);
  const { phase, conditions = [], containerStatuses = [] } = statusOf(pod);
  if (phase !== 'Pending') return living(job, 'running', undefined);
  const scheduled = conditions.find((it) => it.type === 'PodScheduled');
  if (scheduled?.status === 'True') return living(job, 'running', containerStatuses[0]?.state?.waiting?.reason);
  const why = scheduled?.reason === undefined ? undefined : `${scheduled.reason}: ${scheduled.message ?? ''}`;
  return living(job, 'queued', why);
}

/** Why its containers will never start; undefined when they may. */
function hopelessReason(pod: ApiObject): string | undefined {
  const { initContainerStatuses = [], containerStatuses = [], phase } = statusOf(pod);
  if (phase !== undefined && phase !== 'Pending') return undefined;
  for (const { state } of [...initContainerStatuses, ...containerStatuses]) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (HOPELESS.has(reason)) return message === '' ? reason : `${reason}: ${message}`;
  }
  return undefined;
}

function failedPod(job: ApiObject, pod: ApiObject): Found {
  const { reason, message, conditions = [], containerStatuses = [], initContainerStatuses = [] } = statusOf(pod);
  if (reason === 'DeadlineExceeded') return over(job, 'timeout', message);
  const disruption = conditions.find((it) => it.type === 'DisruptionTarget' && it.status === 'True');
  const kind = (reason === undefined ? undefined : REASONS.get(reason)) ?? DISRUPTIONS.get(disruption?.reason ?? '');
  if (kind !== undefined || disruption !== undefined) {
    const words = `${reason ?? disruption?.reason ?? 'DisruptionTarget'}: ${message ?? disruption?.message ?? ''}`;
    return over(job, OWN_LIMIT.test(words) ? 'failed' : (kind ?? 'preempted'), words);
  }
  if (reason !== undefined && containerStatuses.length === 0) return over(job, 'failed', `${reason}: ${message ?? ''}`);
  const ended = [...initContainerStatuses, ...containerStatuses].flatMap((it) => it.state?.terminated ?? []);
  const fault = ended.find((it) => it.exitCode !== 0) ?? ended.at(-1);
  const words = [fault?.reason, fault?.message].filter((it) => it !== undefined && it !== '').join(': ');
  return over(job, failureOf(pod, fault?.reason), words === '' ? reason : words, fault?.exitCode);
}

/** A pod without a limit of its own was ended because the memory of its node was used up. */
function failureOf(pod: ApiObject, reason: string | undefined): EndKind {
  if (reason !== 'OOMKilled') return 'failed';
  const { containers = [] } = (pod['spec'] ?? {}) as {
    containers?: { resources?: { limits?: Record<string, unknown> } }[];
  };
  return containers.some((it) => it.resources?.limits?.['memory'] !== undefined) ? 'out-of-memory' : 'node-failure';
}

function withTimes(allocation: EngineAllocation, pod: ApiObject | undefined, offsetMs: number): EngineAllocation {
  const startMs = pod === undefined ? NaN : Date.parse(statusOf(pod).startTime ?? '');
  if (Number.isNaN(startMs) || allocation.state === 'queued') return allocation;
  const startedAtMs = startMs + offsetMs;
  const { activeDeadlineSeconds: secs } = (pod?.['spec'] ?? {}) as { activeDeadlineSeconds?: number };
  const ends = secs === undefined || allocation.state === 'ended' ? {} : { endsAtMs: startedAtMs + secs * 1_000 };
  return { ...allocation, startedAtMs, ...ends };
}
