/** The section `slurm` of a queue in launcher.yaml. */
import { Type, type Static } from 'typebox';
import { LIMITS } from '../../../contract/limits.ts';
import { RESOURCE_NAME_PATTERN } from '../../../contract/patterns.ts';
import { durationMs } from '../../../domain/durations.ts';

const line = (description: string, maxLength = 256) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f]+$', description });

export const SlurmSection = Type.Object(
  {
    partition: Type.Optional(line("The partition; absent: Slurm's default partition.")),
    account: Type.Optional(line('The account that is charged.')),
    qos: Type.Optional(line('The quality of service.')),
    constraint: Type.Optional(line('Features that the nodes must have.')),
    extra: Type.Optional(
      Type.Array(line('One argument of sbatch, e.g. `--exclude=node7`.', 1_000), {
        maxItems: 50,
        description: 'Further arguments of sbatch.',
      }),
    ),
    per_unit: Type.Optional(
      Type.Record(Type.String({ pattern: RESOURCE_NAME_PATTERN }), line('One argument of sbatch with `{n}`.', 1_000), {
        maxProperties: LIMITS.resources,
        description:
          'For resources of `size.resources`: one argument of sbatch, with `{n}` for the amount, e.g. `--licenses=comsol:{n}`. For `gpu` it takes the place of `--gres=gpu:{n}`.',
      }),
    ),
    setup: Type.Optional(
      Type.String({
        maxLength: 20_000,
        description: 'Shell commands of the batch script before the runner starts, e.g. `module load python/3.12`.',
      }),
    ),
    log_directory: Type.Optional(
      line(
        "Folder of the runners' logs, on a file system that the nodes share; absent: the folder of launcher.yaml.",
        1_000,
      ),
    ),
    term_before: Type.Optional(
      line(
        'SIGTERM comes so long before the end of the wall time; default 60s. The runner hands its runs back then.',
        20,
      ),
    ),
  },
  { additionalProperties: false },
);
export type SlurmSection = Static<typeof SlurmSection>;

const DEFAULT_TERM_SECS = 60;
/** Slurm's own limit of `--signal`. */
const MAX_TERM_SECS = 65_535;

/** How long before the end of the wall time SIGTERM comes, in seconds. */
export function termBeforeSecs({ term_before }: SlurmSection): number {
  const ms = term_before === undefined ? undefined : durationMs(term_before);
  return ms === undefined ? DEFAULT_TERM_SECS : Math.ceil(ms / 1_000);
}

/** Options of sbatch that the launcher itself sets; a second value would break the allocation or its label. */
const OWN =
  /^(--(comment|export|no-requeue|requeue|parsable|array|signal|time|wrap|test-only|output|chdir|nodes|ntasks)\b|-[atNnoD])/;

/** Faults that the schema cannot express. */
export function sectionFaults({
  extra = [],
  term_before,
  per_unit = {},
}: SlurmSection): { pointer: string; detail: string }[] {
  const faults = extra.flatMap((it, at) => {
    const pointer = `/extra/${String(at)}`;
    if (!it.startsWith('-'))
      return [{ pointer, detail: `${JSON.stringify(it)} is not an option of sbatch; write --name=value` }];
    const own = OWN.exec(it);
    return own === null ? [] : [{ pointer, detail: `${own[0]} is set by the launcher; remove it` }];
  });
  for (const [name, it] of Object.entries(per_unit)) {
    const pointer = `/per_unit/${name}`;
    const own = OWN.exec(it);
    if (!it.startsWith('-'))
      faults.push({ pointer, detail: `${JSON.stringify(it)} is not an option of sbatch; write --name=value` });
    else if (own !== null) faults.push({ pointer, detail: `${own[0]} is set by the launcher; remove it` });
    else if (!it.includes('{n}')) faults.push({ pointer, detail: 'must have {n}, the place of the amount' });
  }
  if (term_before !== undefined) {
    const ms = durationMs(term_before);
    if (ms === undefined) faults.push({ pointer: '/term_before', detail: 'must be a time such as 90s or 2m' });
    else if (ms > MAX_TERM_SECS * 1_000) {
      faults.push({ pointer: '/term_before', detail: `must be at most ${String(MAX_TERM_SECS)}s, the limit of Slurm` });
    }
  }
  return faults;
}
