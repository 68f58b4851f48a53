/** Which runs fit an allocation of a queue, and why others never do. Pure. */
import { executesPinned } from '../../domain/code-pin.ts';
import { featuresMissing } from '../../domain/histories/feature.ts';
import { imageOf } from '../../domain/study/container-image.ts';
import { amountOf, countsText, GPU, has } from '../../domain/counted/counts.ts';
import { shortOf } from '../../domain/counted/table.ts';
import { isFunctions } from '../../domain/study/function-code.ts';
import {
  BYTES_PER_GB,
  endsInTime,
  fits,
  provides,
  type FreeCapacity,
  type ResourceRequest,
  type RunLength,
} from '../../domain/scheduling.ts';
import type { LauncherFinding } from '../../contract/enums.ts';
import type { DemandGroup, RunnerCapabilities, RunnerEngine } from '../../contract/types.ts';
import { ALLOWED, matchesAny, refusalsOf, type Refusals } from '../../domain/runner-settings.ts';
import type { QueueConfig } from '../settings.ts';
import { engineNamed } from '../engines/table.ts';
import { countsOf, slotsOf } from '../request.ts';

/** Why runs of a group never execute in a queue. */
export interface Misfit {
  code: LauncherFinding;
  /** The end of a sentence: `a run requests 16 cores, an allocation has 8`. */
  why: string;
}

export const requestedBy = ({ cpu_cores: cores, memory_gb: memoryGb, resources }: DemandGroup): ResourceRequest => ({
  cpuMilli: Math.round(cores * 1_000),
  memoryBytes: Math.round(memoryGb * BYTES_PER_GB),
  ...(resources === undefined ? {} : { resources }),
});

/** True for a resource of which the coordinator holds a pool. */
const isSite =
  ({ site_resources: names = [] }: DemandGroup) =>
  (name: string): boolean =>
    names.includes(name);

export const lengthOf = ({ timeout_secs: limit, mean_seconds: mean }: DemandGroup): RunLength => ({
  timeLimitMs: limit * 1_000,
  meanMs: (mean ?? 0) * 1_000,
});

/** The capacity of an allocation without a run. Memory that the queue does not state is taken to be enough. */
export const wholeCapacity = (queue: QueueConfig): FreeCapacity => ({
  slots: slotsOf(queue),
  cpuMilli: queue.size.cores * 1_000,
  memoryBytes: queue.size.memoryBytes === 0 ? Infinity : queue.size.memoryBytes,
  resources: countsOf(queue),
});

/** The time that an allocation has for runs. */
export const usableMs = ({ lifetimeMs, lifetimeMarginMs }: QueueConfig): number => lifetimeMs - lifetimeMarginMs;

/** True when runners with this list execute the simulation; functions only by their name. */
export const serves = (simulations: readonly string[], simulation: string): boolean =>
  simulations.includes(simulation) ||
  ((simulations.length === 0 || simulations.includes('*')) && !isFunctions(simulation));

/** The settings of a runner, and the code of its engines. */
export interface RunnerSettings extends RunnerCapabilities {
  engines?: readonly RunnerEngine[] | undefined;
}

/** Why a runner with these settings gets no run of the group, each after `its runners`; empty when it does. */
export function refusalsBy(settings: RunnerSettings, group: DemandGroup): string[] {
  const { environment = [], image, features, simulation, code } = group;
  const refused = refusalsOf(settings, { environment: Object.fromEntries(environment.map((it) => [it, ''])), image });
  const missing = featuresMissing(settings, features);
  const isOffered =
    provides(settings, group.resources, isSite(group)) &&
    Object.entries(group.resources ?? {}).every(
      ([name, amount]) => !has(settings.resources, name) || amountOf(settings.resources, name) >= amount,
    );
  const offered = settings.resources === undefined ? 'no resources' : countsText(settings.resources);
  const pinsCode = imageOf(image) === undefined ? {} : { image: imageOf(image) };
  const pin = code === undefined ? {} : { pinsCode, ...(code === null ? {} : { pinnedCode: code }) };
  const isOther = !executesPinned(
    { capabilities: settings, engines: settings.engines },
    { simulationName: simulation, ...pin },
  );
  return [
    ...(refused === undefined ? [] : [`do not allow ${refusedNames(refused)}`]),
    ...(isOffered
      ? []
      : [
          `offer ${offered}${settings.only_with === undefined ? '' : ` and take only runs with ${settings.only_with.join(' or ')}`}`,
        ]),
    ...(isOther ? ['execute another code than the study pins'] : []),
    ...(missing.length === 0 ? [] : [`are too old: they lack ${missing.join(', ')}`]),
  ];
}

/** The questions that a runner of the queue answers before more than one is started for the group; empty: none. */
export function questionsOf({ environment = [], code, simulation }: DemandGroup): string[] {
  const variables = environment.filter((it) => !matchesAny(it, ALLOWED));
  const isPinned = typeof code === 'string' && !isFunctions(simulation);
  return [
    ...(variables.length === 0 ? [] : [`allows ${variables.map((it) => JSON.stringify(it)).join(', ')}`]),
    ...(isPinned ? ['executes the code that the study pins'] : []),
  ];
}

/** `"WIND" of container.environment and the image "wing:2"`. */
const refusedNames = ({ variables, image }: Refusals): string =>
  [
    ...(variables.length === 0
      ? []
      : [`${variables.map((it) => JSON.stringify(it)).join(', ')} of container.environment`]),
    ...(image === undefined ? [] : [`the image ${JSON.stringify(image)}`]),
  ].join(' and ');

/**
 * Why no run of the group ever fits an allocation of the queue; undefined when one does. `settings`: of the last runner of the queue, where
 * one is known.
 */
export function misfitOf(queue: QueueConfig, group: DemandGroup, settings?: RunnerSettings): Misfit | undefined {
  const misfit = (why: string): Misfit => ({ code: 'no-capacity-fits', why });
  if (!serves(queue.serves, group.simulation)) return misfit(`its runners execute ${queue.serves.join(', ')} only`);
  const request = requestedBy(group);
  const whole = wholeCapacity(queue);
  const [short] = shortOf(request, whole);
  if (short !== undefined) {
    const amount = short.text(short.left(whole)).split(' ')[0] ?? '';
    return misfit(`a run requests ${short.text(short.asked(request))}, an allocation has ${amount}`);
  }
  const kept = queue.size.gpus > 0 && !has(group.resources, GPU);
  if (kept) return misfit(`its allocations are for runs that ask for ${GPU}`);
  const absent = Object.keys(group.resources ?? {}).find((it) => !has(whole.resources, it) && !isSite(group)(it));
  if (absent !== undefined) return misfit(`a run requests ${absent}, an allocation has none`);
  if (!fits(request, whole)) return misfit('an allocation has no slot');
  const length = lengthOf(group);
  if (!endsInTime(length, 0, usableMs(queue))) {
    const usable = `an allocation has ${seconds(usableMs(queue))} s for runs`;
    const takes =
      length.timeLimitMs > 0
        ? `a run may take ${seconds(length.timeLimitMs)} s, its time limit`
        : `a run takes ${seconds(length.meanMs)} s on average`;
    return { code: 'lifetime-too-short', why: `${takes}, and ${usable}` };
  }
  const refused = settings === undefined ? [] : refusalsBy(settings, group);
  if (refused.length > 0) {
    const again = `after a change of them: simbatch launcher resume ${queue.name}`;
    return { code: 'settings-refuse', why: `its runners ${refused.join(' and ')}; ${again}` };
  }
  const mismatch = engineNamed(queue.engine)?.mismatch(queue, group);
  return mismatch === undefined ? undefined : misfit(mismatch);
}

const seconds = (ms: number): string => String(Math.round(ms / 1_000));
