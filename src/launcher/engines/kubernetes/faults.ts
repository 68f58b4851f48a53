/** Finds for each error of the API server about a Job the place in launcher.yaml or in the study that causes it. Pure. */
import { oneLine } from '../../engine.ts';
import type { QueueConfig } from '../../settings.ts';
import type { AllocationRequest } from '../../engine.ts';
import { reasonOf, type ApiAnswer } from './api.ts';
import type { KubernetesSection } from './section.ts';

interface Cause {
  field?: string;
  message?: string;
}

/** One line for each fault: place, and the server's words. */
export function faultsOf(
  answer: Pick<ApiAnswer, 'status' | 'body'>,
  queue: QueueConfig<KubernetesSection>,
  request: Pick<AllocationRequest, 'need'>,
): string[] {
  const { causes = [] } = (answer.body['details'] ?? {}) as { causes?: Cause[] };
  const message = reasonOf(answer);
  const unknown = [...message.matchAll(/(?:unknown|duplicate) field \\?"([^"\\]+)\\?"/g)].map(
    ([text, field = '']): Cause => ({ field, message: text.replaceAll('\\', '') }),
  );
  const named = [...causes.filter((it) => it.field !== undefined && it.field !== ''), ...unknown];
  if (named.length === 0) return [message];
  return named.map(({ field = '', message: why = '' }) => `${placeOf(field, queue, request)}: ${oneLine(why)}`);
}

/** The part of the manifest, and where it comes from. */
const PLACES: readonly [RegExp, string][] = [
  [/\.containers\[0\]\.image/, 'image'],
  [/\.initContainers\[0\]\.image/, 'kit_image'],
  [/imagePullSecrets/, 'image_pull_secrets'],
  [/serviceAccount/, 'service_account'],
  [/priorityClass/, 'priority_class'],
  [/volumeMounts/, 'volume_mounts'],
  [/volumes/, 'volumes'],
  [/securityContext/, 'security_context'],
  [/terminationGracePeriodSeconds/, 'termination_grace'],
  [/^metadata\.namespace/, 'namespace'],
];

function placeOf(
  field: string,
  { name, section }: QueueConfig<KubernetesSection>,
  { need }: Pick<AllocationRequest, 'need'>,
): string {
  const queue = `launcher.yaml /queues/${name}`;
  const toleration = /tolerations\[(\d+)\](?:\.(\w+))?/.exec(field);
  if (toleration !== null) {
    const [, index = '0', member] = toleration;
    const own = section.tolerations?.length ?? 0;
    const rest = member === undefined ? '' : `/${member}`;
    return Number(index) < own
      ? `${queue}/kubernetes/tolerations/${index}${rest}`
      : `study /config/compute/kubernetes/tolerations/${String(Number(index) - own)}${rest}`;
  }
  if (field.includes('nodeSelector')) {
    const isOfStudy = Object.keys(need?.kubernetes?.node_selectors ?? {}).length > 0;
    return isOfStudy ? 'study /config/compute/kubernetes/node_selectors' : `${queue}/kubernetes/node_selectors`;
  }
  // The labels and names of a node selector are reported under spec.template.spec, too.
  const limit = /resources\.limits(?:\[(\w+)\])?/.exec(field);
  if (limit !== null) return `study /config/compute/container/${limit[1] === 'memory' ? 'memory' : 'cpu'}_limit`;
  const wanted = /resources\.requests(?:\[(\w+)\])?/.exec(field);
  if (wanted !== null) return `${queue}/size/${wanted[1] === 'memory' ? 'memory' : 'cores'}`;
  if (/\.env\b|\.env\[/.test(field)) return `${queue}/runner/environment`;
  const member = PLACES.find(([pattern]) => pattern.test(field))?.[1];
  return member === undefined ? field : `${queue}/kubernetes/${member}`;
}
