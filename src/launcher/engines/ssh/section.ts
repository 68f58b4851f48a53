/** The section `ssh` of a queue in launcher.yaml, and the hosts that it names. */
import { Type, type Static } from 'typebox';
import type { QueueConfig } from '../../settings.ts';

const line = (description: string, pattern = '^[^\\u0000-\\u001f]+$', maxLength = 1_000) =>
  Type.String({ minLength: 1, maxLength, pattern, description });
/** Part of command lines and scripts on the host, so without characters that a shell reads. */
const remotePath = (description: string) => line(description, '^[A-Za-z0-9._/+@-]+$');
const user = line('The user to log in as.', '^[A-Za-z_][A-Za-z0-9_.-]*$', 64);

const strict = { additionalProperties: false };

const Host = Type.Object(
  {
    host: line(
      'Name or address, or a `Host` of the ssh configuration.',
      '^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$',
      255,
    ),
    user: Type.Optional(user),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port of sshd.' })),
    cores: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'Cores for this queue; absent: those of one allocation. Allocations at once: cores / size.cores.',
      }),
    ),
  },
  { ...strict, description: 'A machine.' },
);

export const SshSection = Type.Object(
  {
    hosts: Type.Array(Host, {
      minItems: 1,
      maxItems: 1_000,
      description: 'The machines. A study can only choose among them.',
    }),
    user: Type.Optional(user),
    identity_file: Type.Optional(line('The private key; absent: the keys that ssh finds by itself.')),
    known_hosts: Type.Optional(line('File of known host keys; absent: those of ssh. An unknown key is refused.')),
    config: Type.Optional(line("Configuration file of ssh; absent: the user's own. `none`: no file.")),
    ship: Type.Optional(
      Type.Unsafe<'kit' | 'kit-with-node'>({
        type: 'string',
        enum: ['kit', 'kit-with-node'],
        description: 'How a runner gets to the hosts: the runner kit (default), or the kit with a Node.',
      }),
    ),
    directory: Type.Optional(
      remotePath(
        'Folder on the hosts for kits and allocations, in the home directory unless absolute; default .cache/simbatch.',
      ),
    ),
    working_directory: Type.Optional(
      remotePath(
        'Folder on the hosts in which runners start, in the home directory unless absolute; default: the home directory.',
      ),
    ),
    setup: Type.Optional(
      Type.String({
        maxLength: 20_000,
        description: 'Shell commands on the host before the runner starts, e.g. `. ~/.nvm/nvm.sh`.',
      }),
    ),
    reverse_tunnel: Type.Optional(
      Type.Integer({
        minimum: 1_024,
        maximum: 65_535,
        description: 'Port on the loopback interface of the hosts that leads through ssh to the coordinator.',
      }),
    ),
  },
  strict,
);
export type SshSection = Static<typeof SshSection>;

/** A machine of a queue. */
export interface SshHost {
  /** For people, and the `place` of allocations: `ann@node7:2222`. */
  place: string;
  host: string;
  user: string | undefined;
  port: number | undefined;
  /** Allocations of the queue that it has room for at once. */
  room: number;
}

export const DEFAULT_DIRECTORY = '.cache/simbatch';

export function hostsOf({ section, size }: Pick<QueueConfig<SshSection>, 'section' | 'size'>): SshHost[] {
  return section.hosts.map(({ host, user: own, port, cores = size.cores }) => {
    const name = own ?? section.user;
    const login = name === undefined ? '' : `${name}@`;
    return {
      place: `${login}${host}${port === undefined ? '' : `:${String(port)}`}`,
      host,
      user: name,
      port,
      room: Math.floor(cores / size.cores),
    };
  });
}

/** Faults that the schema cannot express. */
export function sectionFaults(queue: QueueConfig<SshSection>): { pointer: string; detail: string }[] {
  const { section, size, max, min, runner } = queue;
  const hosts = hostsOf(queue);
  const faults = hosts.flatMap(({ place, room }, at) => {
    const pointer = `/hosts/${String(at)}`;
    if (room === 0) {
      const why = `is ${String(section.hosts[at]?.cores)}, and an allocation has ${String(size.cores)} cores`;
      return [{ pointer: `${pointer}/cores`, detail: why }];
    }
    const isRepeated = hosts.findIndex((it) => it.place === place) < at;
    return isRepeated ? [{ pointer, detail: `names ${place} again; give a host once, with its cores` }] : [];
  });
  const room = hosts.reduce((sum, it) => sum + it.room, 0);
  if (faults.length === 0 && Math.max(max, min) > room) {
    const detail = `have room for ${String(room)} allocations of ${String(size.cores)} cores, and max is ${String(max)}; lower max, or add hosts or cores`;
    faults.push({ pointer: '/hosts', detail });
  }
  if (section.ship !== undefined && runner.program !== undefined) {
    faults.push({ pointer: '/ship', detail: 'has no effect beside runner.program; remove one of them' });
  }
  return faults;
}
