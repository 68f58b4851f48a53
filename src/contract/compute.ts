/** The resources of a run, and the configuration of its execution. */
import { Type, type Static } from 'typebox';
import { ISOLATIONS } from './enums.ts';
import { enumOf, listOf, mapOf, named, nullable, optionalNullable, ref, submitted } from './build.ts';
import { LIMITS } from './limits.ts';
import { freeText, grammar, int32, name, resourceCounts } from './scalars.ts';

const textMap = (description: string) =>
  mapOf(Type.String({ maxLength: LIMITS.textLength }), {
    description,
    maxProperties: LIMITS.mapEntries,
    propertyNames: { type: 'string', minLength: 1, maxLength: LIMITS.nameLength },
  });

export const ContainerConfig = named(
  'ContainerConfig',
  'The container image and its share of a machine.',
  submitted({
    image: freeText('Container image reference.'),
    cpu_request: grammar('quantity', 'CPU reserved for a run, as a quantity: `500m` is half a core, `2` two cores.'),
    memory_request: grammar('quantity', 'Memory reserved for a run, as a quantity in bytes: `512Mi`, `2Gi`.'),
    cpu_limit: optionalNullable(grammar('quantity', 'CPU the run may not exceed, as a quantity.')),
    memory_limit: optionalNullable(grammar('quantity', 'Memory the run may not exceed, as a quantity.')),
    environment: optionalNullable(textMap('Environment variables added to those of the simulation.')),
  }),
);
export type ContainerConfig = Static<typeof ContainerConfig>;

export const TolerationConfig = named(
  'TolerationConfig',
  'A Kubernetes toleration.',
  submitted({
    key: freeText('Taint key.'),
    operator: freeText('Operator.'),
    effect: freeText('Effect.'),
    value: optionalNullable(freeText('Taint value.')),
  }),
);
export type TolerationConfig = Static<typeof TolerationConfig>;

export const KubernetesConfig = named(
  'KubernetesConfig',
  'The Kubernetes cluster of the runners of this study. Stored with the study; the coordinator does not use it.',
  submitted({
    namespace: freeText('Namespace.'),
    cluster_name: freeText('Cluster.'),
    node_selectors: optionalNullable(textMap('Node labels to require.')),
    tolerations: optionalNullable(listOf(ref(TolerationConfig), 'Taints to tolerate.', 1_000)),
  }),
);
export type KubernetesConfig = Static<typeof KubernetesConfig>;

export const SshHostConfig = named(
  'SshHostConfig',
  'A machine that is reached by SSH.',
  submitted({
    host: freeText('Host name or address.'),
    cores: int32('Cores to use there.'),
    ssh_key_path: optionalNullable(freeText('Path of the private key.')),
    username: optionalNullable(freeText('User to log in as.')),
  }),
);
export type SshHostConfig = Static<typeof SshHostConfig>;

export const BareMetalConfig = named(
  'BareMetalConfig',
  'Machines without a scheduler. Stored with the study; the coordinator does not use it.',
  submitted({
    max_parallel_processes: optionalNullable(int32('Processes at once.')),
    ssh_hosts: optionalNullable(listOf(ref(SshHostConfig), 'The machines.', 10_000)),
    working_directory: optionalNullable(freeText('Working directory.')),
  }),
);
export type BareMetalConfig = Static<typeof BareMetalConfig>;

export const ComputeConfig = named(
  'ComputeConfig',
  'Parallelism, time limit and resources of the runs.',
  submitted({
    container: ref(ContainerConfig),
    max_parallel_jobs: int32('At most this many jobs of the batch are Claimed or Running at once; 0 means no cap.'),
    job_timeout_seconds: int32('Time limit of one job, from `started_at`; 0 means none.'),
    isolation: Type.Optional(
      enumOf(
        ISOLATIONS,
        '`process` (also when absent): each run has a process of its own. `shared`: processes of a warm Python execute run after run; a run that crashes, hangs or meets a limit ends its process and no other run is lost.',
      ),
    ),
    kubernetes: Type.Optional(nullable(ref(KubernetesConfig))),
    baremetal: Type.Optional(nullable(ref(BareMetalConfig))),
    resources: Type.Optional(
      resourceCounts(
        'Counted resources of one run by the names of the operator, such as `{ "gpu": 1, "comsol": 1 }`; absent: none. A run goes to a runner that has them free, and devices are pinned to it. A name of which the coordinator holds a pool is counted over all runners.',
        1,
      ),
    ),
    max_retries: optionalNullable(
      int32("Number of retries of a failed job; the coordinator's default (3) when absent or null."),
    ),
  }),
);
export type ComputeConfig = Static<typeof ComputeConfig>;

export const FunctionCode = named(
  'FunctionCode',
  'The identity of a function that the study carries in `code`.',
  submitted({
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the bytes of `code`, hexadecimal.' }),
    python: Type.String({
      pattern: '^[0-9]{1,2}[.][0-9]{1,3}$',
      description: 'The Python that it was serialised by and runs with, e.g. `3.11`.',
    }),
    source: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description:
          'A digest of the source of the function, equal where the same source was serialised to other bytes. A study is found again by it.',
      }),
    ),
  }),
);
export type FunctionCode = Static<typeof FunctionCode>;

/** A serialised function in base64. */
export const functionText = (description: string) =>
  Type.String({
    maxLength: Math.ceil(LIMITS.codeBytes / 3) * 4,
    pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    description,
  });

export const SimulationConfig = named(
  'SimulationConfig',
  'The simulation that the study runs.',
  submitted({
    name: name('Name of the simulation. Jobs are assigned to runners that support it.'),
    version: freeText('A version label.'),
    duration_minutes: int32('Simulated (or expected) duration of one run, passed to the simulation.'),
    code: Type.Optional(ref(FunctionCode)),
  }),
);
export type SimulationConfig = Static<typeof SimulationConfig>;
