/** The request of an allocation: how its runner is started, with everything the queue says. Pure. */
import { GPU, type Counts } from '../domain/counted/counts.ts';
import type { DemandGroup } from '../contract/types.ts';
import type { LauncherConfig, QueueConfig } from './settings.ts';
import type { AllocationRequest } from './engine.ts';

const BYTES_PER_GB = 1024 ** 3;

/** The id of the runner of an allocation. The token of the allocation is bound to it. */
export const runnerIdOf = (queue: string, id: string): string => `${queue}-${id}`;

/** The name of an allocation in the API: `slurm/main/a1b2c3d4e5f6`. */
export const allocationName = ({ engine, name }: Pick<QueueConfig, 'engine' | 'name'>, id: string): string =>
  `${engine}/${name}/${id}`;

/** Runs that an allocation of this queue executes at once. */
export const slotsOf = ({ runner, size }: QueueConfig): number => runner.slots ?? size.cores;

/** The difference between the allocations of a queue. */
export interface Planned {
  id: string;
  token: string | undefined;
  need: DemandGroup | undefined;
  /** True for an allocation that is kept without demand: its runner does not leave when it is idle. */
  isKept: boolean;
}

/** The counted resources of an allocation; undefined: none. */
export const countsOf = ({ size }: QueueConfig): Counts | undefined =>
  size.gpus === 0 ? size.resources : { [GPU]: size.gpus, ...size.resources };

/** The runner finds the GPUs that its allocation has. An allocation with GPUs takes only runs that ask for one. */
function resourceOptions({ size }: QueueConfig): (readonly [string, string])[] {
  const named = Object.entries(size.resources ?? {}).map(([name, amount]) => `${name}=${String(amount)}`);
  const all = size.gpus === 0 ? named : [`${GPU}=auto`, ...named];
  return [
    ...(all.length === 0 ? [] : [['resources', all.join(',')] as const]),
    ...(size.gpus === 0 ? [] : [['only-with', GPU] as const]),
  ];
}

/** The runner expands it: on the node that the allocation gets, with the variables that the node has. */
const LOCAL_OUTPUT = '$TMPDIR/simbatch-$USER';

/** Whether the operator names the folder of output and state, or a file that may name it. */
function hasOutputRoot({ runner: { args, environment } }: QueueConfig): boolean {
  const isNamed = args.some((it) => /^--(output-root|config)(=|$)/.test(it));
  return isNamed || ['SVC', 'SIMBATCH'].some((it) => Object.hasOwn(environment, `${it}_RUNNER_OUTPUT_ROOT`));
}

export function requestOf(
  { runnerEndpoint }: Pick<LauncherConfig, 'runnerEndpoint'>,
  queue: QueueConfig,
  { id, token, need, isKept }: Planned,
): AllocationRequest {
  const { size, runner } = queue;
  const seconds = (ms: number): string => `${String(Math.ceil(ms / 1_000))}s`;
  const options: (readonly [name: string] | readonly [name: string, value: string])[] = [
    ['runner-id', runnerIdOf(queue.name, id)],
    ['endpoint', runnerEndpoint],
    ['allocation', allocationName(queue, id)],
    ['max-lifetime', seconds(queue.lifetimeMs)],
    ['lifetime-margin', seconds(queue.lifetimeMarginMs)],
    ...(isKept ? [] : [['idle-exit', seconds(queue.idleTimeoutMs)] as const]),
    ['ephemeral'],
    ['max-concurrent-jobs', String(slotsOf(queue))],
    ['cpu-cores', String(size.cores)],
    ...(size.memoryBytes === 0 ? [] : [['memory-gb', roundedDown(size.memoryBytes / BYTES_PER_GB)] as const]),
    ...resourceOptions(queue),
    ...(hasOutputRoot(queue) ? [] : [['output-root', LOCAL_OUTPUT] as const]),
  ];
  const own = options.flatMap(([name, ...value]) => [`--${name}`, ...value]);
  const args = [...own, ...runner.args];
  const { program, environment } = runner;
  return {
    id,
    queue: queue.name,
    size,
    lifetimeSecs: Math.ceil(queue.lifetimeMs / 1_000),
    runner: { program, args, environment },
    token,
    need,
  };
}

/** Rounds down to six decimals: the runner's setting takes ten digits at most. */
const roundedDown = (value: number): string => String(Math.floor(value * 1e6) / 1e6);
