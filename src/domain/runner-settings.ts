/** Studies that a runner refuses by its own settings: variables of `container.environment` and images. A runner states the settings when it registers. */
import type { RunnerCapabilities } from '../contract/types.ts';
import { imageOf } from './study/container-image.ts';
import { isOwnVariable } from '../base/text/variables.ts';

/** Variables that a study may set in `container.environment`: names of its own, and how many threads a library takes. Each runner allows these. */
export const ALLOWED: readonly string[] = [
  'SIM_*',
  'SIMULATION_*',
  'MODEL_*',
  'STUDY_*',
  'RUN_*',
  'APP_*',
  'LOG_LEVEL',
  'TZ',
  'OMP_NUM_THREADS',
  'OMP_THREAD_LIMIT',
  'OMP_PROC_BIND',
  'OMP_PLACES',
  'OMP_SCHEDULE',
  'OMP_DYNAMIC',
  'OMP_STACKSIZE',
  'MKL_NUM_THREADS',
  'MKL_DYNAMIC',
  'MKL_CBWR',
  'OPENBLAS_NUM_THREADS',
  'GOTO_NUM_THREADS',
  'BLIS_NUM_THREADS',
  'NUMEXPR_NUM_THREADS',
  'NUMEXPR_MAX_THREADS',
  'NUMBA_NUM_THREADS',
  'VECLIB_MAXIMUM_THREADS',
  'CUDA_VISIBLE_DEVICES',
  'ROCR_VISIBLE_DEVICES',
];

/** True when a pattern is the name, or ends in `*` and begins like it. */
export function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((it) => (it.endsWith('*') ? name.startsWith(it.slice(0, -1)) : name === it));
}

/** The part of `compute.container` that a runner may refuse. */
export interface ContainerWish {
  environment: Readonly<Record<string, string>> | null;
  image: string;
}

/** The variables, and the image, of a study that a runner refuses. */
export interface Refusals {
  variables: string[];
  image: string | undefined;
}

/** Returns what the runner refuses of a study; undefined when it takes all. A runner that does not state its settings may take it. */
export function refusalsOf(
  { environment_allowed: names, container_images: images, container_runtime: runtime }: RunnerCapabilities,
  wish: ContainerWish,
): Refusals | undefined {
  const variables =
    wish.environment === null || names === undefined
      ? []
      : Object.keys(wish.environment).filter((it) => isOwnVariable(it) || !matchesAny(it, names));
  const wanted = imageOf(wish.image);
  const isImageRefused =
    runtime !== undefined && wanted !== undefined && images !== undefined && !matchesAny(wanted, images);
  if (variables.length === 0 && !isImageRefused) return undefined;
  return { variables, image: isImageRefused ? wanted : undefined };
}

/**
 * Returns the variables and the image that all of these runners refuse, or, where each refuses another one, all that any refuses;
 * undefined when a runner takes the study, or there is none.
 */
export function commonRefusals(pool: readonly RunnerCapabilities[], wish: ContainerWish): Refusals | undefined {
  const each = pool.map((it) => refusalsOf(it, wish));
  if (each.length === 0 || !each.every((it) => it !== undefined)) return undefined;
  const counts = new Map<string, number>();
  for (const { variables } of each) for (const it of variables) counts.set(it, (counts.get(it) ?? 0) + 1);
  const byAll = [...counts].filter(([, count]) => count === each.length).map(([name]) => name);
  const isImageByAll = each.every(({ image }) => image !== undefined);
  if (byAll.length > 0 || isImageByAll) return { variables: byAll, image: isImageByAll ? each[0]?.image : undefined };
  return { variables: [...counts.keys()], image: each.find(({ image }) => image !== undefined)?.image };
}
