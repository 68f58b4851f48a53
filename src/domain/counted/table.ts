/**
 * The resources of a machine that runs share, as one table: cores, memory, and each resource that a study names. What a run asks
 * for, whether a machine has it, and the words for both follow from it. Pure.
 */
import { amountOf, has, type FreeCapacity, type ResourceRequest } from './counts.ts';

/** One resource. Amounts are in the unit in which they are compared. */
export interface CountedResource {
  name: string;
  asked: (request: ResourceRequest) => number;
  /** The amount that a machine has left; Infinity: enough for every run. */
  left: (room: FreeCapacity) => number;
  /** An amount as a reader sees it: `16 cores`. */
  text: (amount: number) => string;
  /** The member of a study that asks for it. */
  member: string;
}

const gib = (bytes: number): string => String(Number((bytes / 1024 ** 3).toPrecision(3)));

const MACHINE: readonly CountedResource[] = [
  {
    name: 'cores',
    asked: (it) => it.cpuMilli,
    left: (it) => it.cpuMilli,
    text: (milli) => `${milli / 1000} cores`,
    member: 'cpu_request',
  },
  {
    name: 'memory',
    asked: (it) => it.memoryBytes,
    left: (it) => it.memoryBytes,
    text: (bytes) => `${gib(bytes)} GiB of memory`,
    member: 'memory_request',
  },
];

const namedResource = (name: string): CountedResource => ({
  name,
  asked: (it) => amountOf(it.resources, name),
  left: (it) => (has(it.resources, name) ? amountOf(it.resources, name) : Infinity),
  text: (amount) => `${amount} ${name}`,
  member: `resources.${name}`,
});

/** The resources that a run asks for. */
export const resourcesAsked = (request: ResourceRequest): CountedResource[] =>
  [...MACHINE, ...Object.keys(request.resources ?? {}).map(namedResource)].filter((it) => it.asked(request) > 0);

/** The resources of which a machine has too little for one run. */
export const shortOf = (request: ResourceRequest, room: FreeCapacity): CountedResource[] =>
  resourcesAsked(request).filter((it) => it.asked(request) > it.left(room));

/** How many such runs fit at once, by its slots and every resource. */
export function runsThatFit(request: ResourceRequest, room: FreeCapacity): number {
  let runs = room.slots;
  for (const it of resourcesAsked(request)) runs = Math.min(runs, Math.floor(it.left(room) / it.asked(request)));
  return Math.max(0, runs);
}
