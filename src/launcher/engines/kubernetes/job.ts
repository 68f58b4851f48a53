/** The Job of an allocation, and the Secret with its token. Pure. */
import type { QueueConfig } from '../../settings.ts';
import type { AllocationRequest } from '../../engine.ts';
import { terminationGraceSecs, type KubernetesSection } from './section.ts';

/** A finished Job is removed by the cluster after this time; the launcher has listed it long before. */
const KEPT_SECS = 600;
const MIB = 1024 ** 2;
const KIT_FOLDER = '/simbatch';

export const LABELS = {
  manager: 'app.kubernetes.io/managed-by',
  launcher: 'simbatch.dev/launcher',
  queue: 'simbatch.dev/queue',
  allocation: 'simbatch.dev/allocation',
} as const;

/** Name of the Job, of its Secret, and the handle of the allocation. Kubernetes refuses a second Job of a name. */
export const jobName = (id: string): string => `simbatch-${id}`;

export function labelsOf(
  launcher: string,
  { queue, id }: Pick<AllocationRequest, 'queue' | 'id'>,
): Record<string, string> {
  return {
    [LABELS.manager]: 'simbatch',
    [LABELS.launcher]: launcher,
    [LABELS.queue]: queue,
    [LABELS.allocation]: id,
  };
}

/**
 * One pod of one container, which is never started again: its runner would have an id and a lifetime that are over. With a token the
 * Job is suspended until its Secret is there.
 */
export function jobOf(launcher: string, queue: QueueConfig<KubernetesSection>, request: AllocationRequest): object {
  const labels = labelsOf(launcher, request);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName(request.id), namespace: queue.section.namespace, labels },
    spec: {
      ...(request.token === undefined ? {} : { suspend: true }),
      parallelism: 1,
      completions: 1,
      backoffLimit: 0,
      // The Job says that its pod was preempted or evicted, also when the pod is gone.
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
      },
      ttlSecondsAfterFinished: KEPT_SECS,
      template: { metadata: { labels }, spec: podOf(queue, request) },
    },
  };
}

function podOf({ section }: QueueConfig<KubernetesSection>, request: AllocationRequest): object {
  const { need, lifetimeSecs } = request;
  const { node_selectors: selectors, tolerations } = need?.kubernetes ?? {};
  const nodeSelector = { ...selectors, ...section.node_selectors };
  const tolerated = [...(section.tolerations ?? []), ...(tolerations ?? []).map(withoutNulls)];
  const withKit = section.kit_image !== undefined;
  const volumes = [...(section.volumes ?? []), ...(withKit ? [{ name: 'simbatch', emptyDir: {} }] : [])];
  return {
    restartPolicy: 'Never',
    // The deadline is one of the pod: the clock of a Job also runs while it waits for a node.
    activeDeadlineSeconds: lifetimeSecs,
    terminationGracePeriodSeconds: terminationGraceSecs(section),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(section.service_account === undefined ? {} : { serviceAccountName: section.service_account }),
    ...(section.priority_class === undefined ? {} : { priorityClassName: section.priority_class }),
    ...(section.image_pull_secrets === undefined
      ? {}
      : { imagePullSecrets: section.image_pull_secrets.map((name) => ({ name })) }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerated.length === 0 ? {} : { tolerations: tolerated }),
    ...(volumes.length === 0 ? {} : { volumes }),
    ...(withKit ? { initContainers: [kitContainer(section)] } : {}),
    containers: [runnerContainer(section, request, withKit)],
  };
}

/** Copies the kit from its image to a volume that both containers have. */
const kitContainer = ({ kit_image: image }: KubernetesSection): object => ({
  name: 'kit',
  image,
  command: ['cp', '-r', '/simbatch-runner/.', KIT_FOLDER],
  resources: { requests: { cpu: '100m', memory: '64Mi' } },
  volumeMounts: [{ name: 'simbatch', mountPath: KIT_FOLDER }],
});

function runnerContainer(section: KubernetesSection, request: AllocationRequest, withKit: boolean): object {
  const { runner, token, id } = request;
  const own = [withKit ? `${KIT_FOLDER}/simbatch-runner` : 'simbatch-runner'];
  const mounts = [
    ...(section.volume_mounts ?? []),
    ...(withKit ? [{ name: 'simbatch', mountPath: KIT_FOLDER, readOnly: true }] : []),
  ];
  const secret = { name: 'SVC_TOKEN', valueFrom: { secretKeyRef: { name: jobName(id), key: 'token' } } };
  // Kubernetes reads `$(NAME)` as a reference to a variable and `$$` as a dollar.
  const literal = (text: string): string => text.replaceAll('$', '$$$$');
  const command = [...(runner.program ?? own), ...runner.args].map(literal);
  return {
    name: 'runner',
    image: section.image,
    command,
    env: [
      ...Object.entries(runner.environment).map(([name, value]) => ({ name, value: literal(value) })),
      ...(token === undefined ? [] : [secret]),
    ],
    resources: resourcesOf(request),
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
    ...(section.security_context === undefined ? {} : { securityContext: section.security_context }),
  };
}

/**
 * The requests are the size of the queue, which the runner divides among its runs. The limits are those of a run of the study times
 * the runs at once, and never below the requests.
 */
function resourcesOf({ size, need, runner }: AllocationRequest): object {
  const memory = size.memoryBytes === 0 ? {} : { memory: `${String(Math.ceil(size.memoryBytes / MIB))}Mi` };
  const gpu = size.gpus === 0 ? {} : { 'nvidia.com/gpu': String(size.gpus) };
  const slots = runsAtOnce(runner.args, size.cores, need?.cpu_cores ?? 0);
  const cpuLimit = need?.cpu_limit_cores;
  const memoryLimit = need?.memory_limit_gb;
  const limits = {
    ...(cpuLimit === undefined ? {} : { cpu: `${String(Math.ceil(Math.max(cpuLimit * slots, size.cores) * 1_000))}m` }),
    ...(memoryLimit === undefined
      ? {}
      : { memory: `${String(Math.ceil(Math.max(memoryLimit * 1_024 * slots, size.memoryBytes / MIB)))}Mi` }),
    ...gpu,
  };
  return {
    requests: { cpu: String(size.cores), ...memory, ...gpu },
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** The slots of the runner, or fewer where runs of this size fill its cores. */
function runsAtOnce(args: readonly string[], cores: number, requested: number): number {
  const slots = Number(args[args.indexOf('--max-concurrent-jobs') + 1]);
  const given = Number.isInteger(slots) && slots > 0 ? slots : cores;
  return Math.max(1, requested > 0 ? Math.min(given, Math.floor(cores / requested)) : given);
}

/** The Secret ends with its Job. */
export function secretOf(
  launcher: string,
  { section }: QueueConfig<KubernetesSection>,
  request: Pick<AllocationRequest, 'queue' | 'id' | 'token'>,
  jobUid: string | undefined,
): object {
  const name = jobName(request.id);
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid: jobUid };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name,
      namespace: section.namespace,
      labels: labelsOf(launcher, request),
      ...(jobUid === undefined ? {} : { ownerReferences: [owner] }),
    },
    stringData: { token: request.token ?? '' },
  };
}

const withoutNulls = (it: object): object =>
  Object.fromEntries(Object.entries(it).filter(([, value]) => value !== null && value !== ''));
