/** The batch script of an allocation, and the arguments of sbatch. Pure. */
import { resolve } from 'node:path';
import type { AllocationRequest } from '../../engine.ts';
import type { QueueConfig } from '../../settings.ts';
import { GPU, type Counts } from '../../../domain/counted/counts.ts';
import { countsOf } from '../../request.ts';
import { quoted } from '../../../base/text/shell.ts';
import { termBeforeSecs, type SlurmSection } from './section.ts';

/** Variables of the launcher that the job inherits besides its own: a login shell makes the others. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'SHELL'];

const MIB = 1024 ** 2;

export interface Places {
  launcher: string;
  baseDirectory: string;
  /** The launcher's own program with `runner`; the nodes reach it over the shared file system. */
  ownProgram: readonly string[];
}

/** The comment by which `squeue` finds an allocation again. */
export const commentOf = (launcher: string, queue: string, id: string): string => `simbatch=${launcher}/${queue}/${id}`;

/** The queue and the id in a comment of this launcher; undefined for any other comment. */
export function readComment(launcher: string, comment: string): { queue: string; id: string } | undefined {
  const match = /^simbatch=([^/]+)\/([^/]+)\/([^/\s]+)$/.exec(comment.trim());
  if (match === null || match[1] !== launcher) return undefined;
  return { queue: match[2] ?? '', id: match[3] ?? '' };
}

/** Where the logs of the runners are. */
export const logDirectory = (
  { baseDirectory }: Pick<Places, 'baseDirectory'>,
  { section }: Pick<QueueConfig<SlurmSection>, 'section'>,
): string => resolve(baseDirectory, section.log_directory ?? '.');

const GRES = '--gres=gpu:{n}';

/** The arguments for the counted resources of an allocation. */
function perUnit({ per_unit: given = {} }: SlurmSection, counts: Counts = {}): string[] {
  return Object.entries(counts).flatMap(([name, amount]) => {
    const argument = Object.hasOwn(given, name) ? given[name] : name === GPU ? GRES : undefined;
    return argument === undefined ? [] : [argument.replaceAll('{n}', String(amount))];
  });
}

/** The arguments of sbatch that give the job its size and its label; the script has none, so that one place decides. */
export function sbatchArguments(
  { launcher, baseDirectory }: Places,
  queue: QueueConfig<SlurmSection>,
  request: AllocationRequest,
): string[] {
  const { section } = queue;
  const { id, size } = request;
  const named = (option: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`--${option}=${value}`];
  const log = `simbatch-${queue.name}-${id}-%j.log`;
  return [
    '--parsable',
    `--job-name=simbatch-${queue.name}`,
    `--comment=${commentOf(launcher, queue.name, id)}`,
    // A requeued job would run under an id that has ended.
    '--no-requeue',
    '--nodes=1',
    '--ntasks=1',
    `--cpus-per-task=${String(Math.ceil(size.cores))}`,
    ...(size.memoryBytes === 0 ? [] : [`--mem=${String(Math.ceil(size.memoryBytes / MIB))}M`]),
    ...perUnit(section, countsOf(queue)),
    `--time=${String(Math.ceil(request.lifetimeSecs / 60))}`,
    // The signal goes to the batch shell alone, which the runner has replaced, so that the runner hands its runs back.
    `--signal=B:TERM@${String(termBeforeSecs(section))}`,
    `--chdir=${baseDirectory}`,
    `--output=${logDirectory({ baseDirectory }, queue).replaceAll('%', '%%')}/${log}`,
    `--export=${[...INHERITED, ...(request.token === undefined ? [] : ['SVC_TOKEN'])].join(',')}`,
    ...named('partition', section.partition),
    ...named('account', section.account),
    ...named('qos', section.qos),
    ...named('constraint', section.constraint),
    ...(section.extra ?? []),
  ];
}

/** The script itself: the queue's set-up, then the runner in place of the shell. */
export function batchScript(
  { ownProgram }: Places,
  { section }: QueueConfig<SlurmSection>,
  { runner }: AllocationRequest,
): string {
  const command = [...(runner.program ?? ownProgram), ...runner.args].map(quoted);
  return [
    // A login shell: site profiles define `module` and the like.
    '#!/bin/bash -l',
    ...(section.setup === undefined ? [] : [section.setup.trimEnd()]),
    ...Object.entries(runner.environment).map(([name, value]) => `export ${name}=${quoted(value)}`),
    // Slurm 23.02 and later name the end of the job.
    `exec ${command.join(' ')} \${SLURM_JOB_END_TIME:+--ends-at "$SLURM_JOB_END_TIME"}`,
    '',
  ].join('\n');
}
