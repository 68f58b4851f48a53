/** The meaning of a study's `compute.baremetal` for a queue: it may choose among its hosts and narrow them, nothing else. Pure. */
import type { BareMetalConfig, DemandGroup } from '../../../contract/types.ts';
import type { QueueConfig } from '../../settings.ts';
import { hostsOf, type SshHost, type SshSection } from './section.ts';

type WantedHost = NonNullable<BareMetalConfig['ssh_hosts']>[number];

/** Why runs of this group can never execute in the queue; undefined when they can. */
export function mismatchOf(
  queue: QueueConfig<SshSection>,
  { baremetal }: Pick<DemandGroup, 'baremetal'>,
): string | undefined {
  if (baremetal === undefined) return undefined;
  const { ssh_hosts: wanted, working_directory: directory } = baremetal;
  const { section } = queue;
  if (typeof directory === 'string' && directory !== '' && directory !== section.working_directory) {
    const own = section.working_directory === undefined ? 'has none' : `has ${section.working_directory}`;
    return `its working directory is ${directory}, the queue ${own}`;
  }
  if (wanted === undefined || wanted === null || wanted.length === 0) return undefined;
  if (hostsFor(queue, baremetal).length > 0) return undefined;
  const hosts = hostsOf(queue);
  const named = wanted.filter((it) => hosts.some(({ host }) => host === it.host));
  if (named.length === 0) {
    return `its hosts are ${list(wanted.map((it) => it.host))}, the queue has ${list(hosts.map((it) => it.host))}`;
  }
  const user = named.find(
    (it) => isGiven(it.username) && !hosts.some((own) => own.host === it.host && own.user === it.username),
  );
  if (user !== undefined) return `its user at ${user.host} is ${user.username ?? ''}, the queue has another`;
  return `its key for ${named[0]?.host ?? ''} is ${named[0]?.ssh_key_path ?? ''}, the queue has another`;
}

/** The hosts of the queue on which runs of a study may execute: all, or those that it names with this user and key. */
export function hostsFor(queue: QueueConfig<SshSection>, baremetal: DemandGroup['baremetal']): SshHost[] {
  const hosts = hostsOf(queue);
  const wanted = baremetal?.ssh_hosts ?? [];
  if (wanted.length === 0) return hosts;
  return hosts.filter((own) => wanted.some((it) => isSame(queue.section, own, it)));
}

/** The most runs at once on a host that a study allows; undefined: no limit. */
export function mostRunsOn({ host }: SshHost, baremetal: DemandGroup['baremetal']): number | undefined {
  const wanted = baremetal?.ssh_hosts?.find((it) => it.host === host)?.cores;
  const limits = [wanted, baremetal?.max_parallel_processes].filter((it) => typeof it === 'number' && it > 0);
  return limits.length === 0 ? undefined : Math.min(...(limits as number[]));
}

const isSame = ({ identity_file: key }: SshSection, own: SshHost, wanted: WantedHost): boolean =>
  own.host === wanted.host &&
  (!isGiven(wanted.username) || wanted.username === own.user) &&
  (!isGiven(wanted.ssh_key_path) || wanted.ssh_key_path === key);

const isGiven = (text: string | null | undefined): text is string => typeof text === 'string' && text !== '';

const list = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${String(names.length - 5)} more` : names.join(', ');
