/** The section `kubernetes` of a queue in launcher.yaml, and the meaning of a study's `compute` for it. */
import { Type, type Static } from 'typebox';
import type { DemandGroup } from '../../../contract/types.ts';
import { durationMs } from '../../../domain/durations.ts';
import type { QueueConfig } from '../../settings.ts';

const text = (description: string, pattern = '^[^\\u0000-\\u001f]+$', maxLength = 1_000) =>
  Type.String({ minLength: 1, maxLength, pattern, description });
const LABEL = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';
/** Parts of the manifest that the API server itself checks. */
const verbatim = (description: string) =>
  Type.Optional(Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object' }), { maxItems: 100, description }));

export const KubernetesSection = Type.Object(
  {
    namespace: text('The namespace of the pods. A study can only name this one.', LABEL, 63),
    image: text('The image of the pods, with a runner in it or beside a kit_image.'),
    kubeconfig: Type.Optional(
      text('The kubeconfig; absent: KUBECONFIG, ~/.kube/config, or the service account of the pod.'),
    ),
    context: Type.Optional(text('The context of the kubeconfig; absent: its current one.')),
    cluster_name: Type.Optional(text('The name that studies use for this cluster; absent: the context.')),
    images: Type.Optional(
      Type.Array(text('An image; `*` for any characters.'), {
        maxItems: 100,
        description:
          'Images of studies that the image of the pods executes; absent: itself, `none` and the empty name.',
      }),
    ),
    kit_image: Type.Optional(
      text('An image with the runner kit in /simbatch-runner and the program cp, for an image without a runner.'),
    ),
    service_account: Type.Optional(text('The service account of the pods; its token is not mounted.', LABEL, 253)),
    image_pull_secrets: Type.Optional(
      Type.Array(text('Name of a Secret.', LABEL, 253), {
        maxItems: 20,
        description: 'Secrets for private registries.',
      }),
    ),
    priority_class: Type.Optional(text('The priority class of the pods.', LABEL, 253)),
    node_selectors: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string' },
        maxProperties: 100,
        description: 'Labels that the nodes must have. A study can add others.',
      }),
    ),
    tolerations: verbatim('Taints that the pods tolerate, as in a pod. A study can add others.'),
    volumes: verbatim('Volumes of the pods, as in a pod.'),
    volume_mounts: verbatim('Where the runner has these volumes, as in a container.'),
    security_context: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'Security context of the container of the runner, as in a container.',
      }),
    ),
    termination_grace: Type.Optional(
      text('Time between SIGTERM and SIGKILL; default 90s, more than the grace time of the runner.', undefined, 20),
    ),
  },
  { additionalProperties: false },
);
export type KubernetesSection = Static<typeof KubernetesSection>;

const DEFAULT_GRACE_SECS = 90;

export function terminationGraceSecs({ termination_grace: grace }: KubernetesSection): number {
  const ms = grace === undefined ? undefined : durationMs(grace);
  return ms === undefined ? DEFAULT_GRACE_SECS : Math.ceil(ms / 1_000);
}

/** Faults that the schema cannot express. */
export function sectionFaults({
  section,
  runner,
}: QueueConfig<KubernetesSection>): { pointer: string; detail: string }[] {
  const faults: { pointer: string; detail: string }[] = [];
  const { termination_grace: grace, kit_image: kit } = section;
  if (grace !== undefined && durationMs(grace) === undefined) {
    faults.push({ pointer: '/termination_grace', detail: 'must be a time such as 90s or 2m' });
  }
  if (kit !== undefined && runner.program !== undefined) {
    faults.push({ pointer: '/kit_image', detail: 'has no effect beside runner.program; remove one of them' });
  }
  return faults;
}

/** Why runs of this group can never execute in pods of the queue; undefined when they can. Pure. */
export function mismatchOf({ section }: QueueConfig<KubernetesSection>, need: DemandGroup): string | undefined {
  const { namespace, cluster_name: cluster, node_selectors: selectors } = need.kubernetes ?? {};
  const differs = (wanted: string | undefined, own: string | undefined): wanted is string =>
    wanted !== undefined && wanted !== '' && wanted !== own;
  if (differs(namespace, section.namespace))
    return `its namespace is ${namespace}, the queue's is ${section.namespace}`;
  const ownCluster = section.cluster_name ?? section.context;
  if (differs(cluster, ownCluster)) {
    return `its cluster is ${cluster}, the queue ${ownCluster === undefined ? 'has no cluster_name' : `has ${ownCluster}`}`;
  }
  for (const [label, value] of Object.entries(selectors ?? {})) {
    const own = section.node_selectors?.[label];
    if (own !== undefined && own !== value) return `its node selector ${label} is ${value}, the queue's is ${own}`;
  }
  const images = section.images ?? [section.image, 'none', ''];
  if (images.some((pattern) => matches(pattern, need.image))) return undefined;
  return `its image is ${need.image}, and the queue executes ${images.filter((it) => it !== '').join(', ')}`;
}

function matches(pattern: string, image: string): boolean {
  const parts = pattern.split('*').map((it) => it.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(image);
}
