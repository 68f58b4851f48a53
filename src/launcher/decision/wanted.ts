/**
 * How many allocations to submit, by queue, with a sentence for each decision: the demand minus the capacity that is idle,
 * starting or queued, within all limits. One pure function; it asks nothing and changes nothing.
 */
import { less } from '../../domain/counted/counts.ts';
import { runsThatFit } from '../../domain/counted/table.ts';
import { plural } from '../../domain/plural.ts';
import { endsInTime } from '../../domain/scheduling.ts';
import type { DemandGroup } from '../../contract/types.ts';
import type { LauncherLimits, QueueConfig } from '../settings.ts';
import {
  lengthOf,
  misfitOf,
  questionsOf,
  refusalsBy,
  requestedBy,
  serves,
  wholeCapacity,
  type Misfit,
  type RunnerSettings,
} from './fits.ts';
import { capacitiesOf, newCapacity, type Capacity, type CapacityInput } from './capacities.ts';
import { Room } from './room.ts';
import { isLive, isWaiting, type Usage } from './usage.ts';

export interface WantedInput extends CapacityInput {
  demand: readonly DemandGroup[];
  /** Why a queue submits nothing now (paused, delayed, frozen), as the end of a sentence; by its name. */
  blocked: ReadonlyMap<string, string>;
  /** The settings of the last runner of a queue, by its name; of a queue without one they are not known. */
  settings: ReadonlyMap<string, RunnerSettings>;
  limits: LauncherLimits;
  usage: Usage;
  /** Milliseconds since the epoch. */
  now: number;
}

/** The decision of one queue. */
export interface QueueDecision {
  queue: string;
  /** One entry for each allocation to submit: the group that it is for; undefined for one of the minimum. */
  submit: readonly (DemandGroup | undefined)[];
  /** Sentences in the order of the decisions; never empty. */
  why: readonly string[];
  /** The groups of runs that fit the queue, with the decision about each. */
  demand: readonly { batches: readonly string[]; why: string }[];
}

/** Runs that no queue can ever execute. */
export interface Unserved {
  code: Misfit['code'];
  message: string;
  runs: number;
  batches: readonly string[];
}

export interface Wanted {
  queues: readonly QueueDecision[];
  unserved: readonly Unserved[];
}

/** Sentences of one queue; further groups are only counted. */
const MAX_SENTENCES = 20;

export function wanted(input: WantedInput): Wanted {
  const live = input.allocations.filter(isLive);
  const counts = new Map(input.queues.map((it) => [it.name, { live: 0, waiting: 0 }]));
  for (const it of live) {
    const count = counts.get(it.context.queue);
    if (count === undefined) continue;
    count.live += 1;
    if (isWaiting(it)) count.waiting += 1;
  }
  const decision = new Decision(input, new Room(input.limits, input.usage, counts, live.length));
  for (const group of input.demand) decision.serve(group);
  for (const queue of input.queues) decision.keepMinimum(queue, counts.get(queue.name)?.live ?? 0);
  return decision.result();
}

class Decision {
  readonly #input: WantedInput;
  readonly #room: Room;
  readonly #capacities: Capacity[];
  readonly #submit: Map<string, (DemandGroup | undefined)[]>;
  readonly #why: Map<string, string[]>;
  readonly #demand: Map<string, { batches: readonly string[]; why: string }[]>;
  readonly #unserved: Unserved[] = [];

  constructor(input: WantedInput, room: Room) {
    this.#input = input;
    this.#room = room;
    this.#capacities = capacitiesOf(input);
    this.#submit = new Map(input.queues.map((it) => [it.name, []]));
    this.#why = new Map(input.queues.map((it) => [it.name, []]));
    this.#demand = new Map(input.queues.map((it) => [it.name, []]));
  }

  /** Serves a group from the capacity that exists, then from new allocations of the queues in their order. */
  serve(group: DemandGroup): void {
    const misfits = new Map(
      this.#input.queues.map((it) => [it.name, misfitOf(it, group, this.#input.settings.get(it.name))]),
    );
    const fitting = this.#input.queues.filter((it) => misfits.get(it.name) === undefined);
    const waits = `${plural(group.runs, 'run')} of ${group.simulation} ${group.runs === 1 ? 'waits' : 'wait'}`;
    const left = this.#takeExisting(group, fitting);
    for (const [queue, misfit] of misfits) {
      if (misfit !== undefined)
        this.#say(queue, `${waits} and ${group.runs === 1 ? 'does' : 'do'} not fit: ${misfit.why}`);
    }
    if (left === 0) {
      for (const { name } of fitting)
        this.#tell(name, group, `${waits}: the runners that are free, starting or queued are enough`);
      return;
    }
    if (fitting.length === 0) {
      this.#noteUnserved(group, left, misfits);
      return;
    }
    this.#submitFor(group, left, fitting, waits);
  }

  #submitFor(group: DemandGroup, runs: number, fitting: readonly QueueConfig[], waits: string): void {
    let left = runs;
    for (const queue of fitting) {
      const { name } = queue;
      if (left === 0) {
        this.#tell(name, group, `${waits}: queues before this one are enough`);
        continue;
      }
      // The clocks of launcher and coordinator may differ: a negative age is none.
      const ageMs = Math.max(0, this.#input.now - Date.parse(group.oldest_pending_at));
      const blocked =
        this.#input.blocked.get(name) ??
        (ageMs < queue.scaleUpAfterMs
          ? `scale_up_after is ${String(queue.scaleUpAfterMs / 1_000)} s, and the oldest has waited ${String(Math.round(ageMs / 1_000))} s`
          : undefined);
      if (blocked !== undefined) {
        this.#tell(name, group, `${waits}: submits none, since ${blocked}`);
        continue;
      }
      const asked = this.#untold(queue, group);
      if (asked?.isAsked === true) {
        this.#tell(name, group, `${waits}: submits none until a runner of the queue says whether it ${asked.question}`);
        continue;
      }
      const each = runsThatFit(requestedBy(group), wholeCapacity(queue));
      const needed = asked === undefined ? Math.ceil(left / each) : 1;
      const { count, limit } = this.#room.of(queue);
      const submitted = Math.min(needed, count);
      this.#take(queue, submitted, group);
      const free = left < group.runs ? `${String(group.runs - left)} of them find room; ` : '';
      const least = submitted < needed ? `; ${String(needed - submitted)} more needed, but ${limit}` : '';
      this.#tell(
        name,
        group,
        `${waits}: ${free}submits ${plural(submitted, 'allocation')} for ${plural(each, 'run')} each${least}`,
      );
      if (asked !== undefined) {
        this.#say(name, `${waits}: the others wait until that runner says whether it ${asked.question}`);
        return;
      }
      left = this.#takeExisting({ ...group, runs: left }, fitting);
    }
  }

  /**
   * The question whether runners of the queue take the runs: its first runner answers it, and one allocation is submitted until then.
   * `isAsked`: there is an allocation whose runner will say it.
   */
  #untold(queue: QueueConfig, group: DemandGroup): { question: string; isAsked: boolean } | undefined {
    const questions = questionsOf(group);
    if (questions.length === 0 || this.#input.settings.has(queue.name)) return undefined;
    const isAsked = this.#capacities.some((it) => it.queue === queue);
    return { question: questions.join(' and '), isAsked };
  }

  keepMinimum(queue: QueueConfig, live: number): void {
    const { name, min } = queue;
    const missing = min - live - (this.#submit.get(name)?.length ?? 0);
    if (missing <= 0) return;
    const blocked = this.#input.blocked.get(name);
    if (blocked !== undefined) {
      this.#say(name, `min is ${String(min)}: submits none, since ${blocked}`);
      return;
    }
    const { count, limit } = this.#room.of(queue);
    const submitted = Math.min(missing, count);
    this.#take(queue, submitted, undefined);
    const least = submitted < missing ? `; ${String(missing - submitted)} more needed, but ${limit}` : '';
    this.#say(name, `min is ${String(min)}: submits ${plural(submitted, 'allocation')} to keep it${least}`);
  }

  result(): Wanted {
    const queues = this.#input.queues.map(({ name }): QueueDecision => {
      const said = this.#why.get(name) ?? [];
      const blocked = this.#input.blocked.get(name);
      if (said.length === 0) said.push(blocked === undefined ? 'no run waits' : `no run waits; ${blocked}`);
      const more = said.length - MAX_SENTENCES;
      const why =
        more > 0 ? [...said.slice(0, MAX_SENTENCES), `${String(more)} further groups of runs are not listed`] : said;
      return { queue: name, submit: this.#submit.get(name) ?? [], why, demand: this.#demand.get(name) ?? [] };
    });
    return { queues, unserved: this.#unserved };
  }

  /** Lets runs take what is free, and returns how many are left. */
  #takeExisting(group: DemandGroup, fitting: readonly QueueConfig[]): number {
    const queues = new Set(fitting);
    const request = requestedBy(group);
    const length = lengthOf(group);
    let left = group.runs;
    for (const it of this.#capacities) {
      if (left === 0) break;
      const { room } = it;
      if (room.slots <= 0 || !serves(it.simulations, group.simulation)) continue;
      if (!endsInTime(length, this.#input.now, it.endsAtMs)) continue;
      if (it.queue !== undefined && !queues.has(it.queue)) continue;
      if (it.settings !== undefined && refusalsBy(it.settings, group).length > 0) continue;
      const taken = Math.min(left, runsThatFit(request, room));
      room.slots -= taken;
      room.cpuMilli -= taken * request.cpuMilli;
      room.memoryBytes -= taken * request.memoryBytes;
      room.resources = less(room.resources, request.resources, taken);
      left -= taken;
    }
    return left;
  }

  #take(queue: QueueConfig, count: number, group: DemandGroup | undefined): void {
    this.#room.take(queue, count);
    for (let n = 0; n < count; n += 1) {
      this.#submit.get(queue.name)?.push(group);
      this.#capacities.push(newCapacity(queue, undefined));
    }
  }

  /** Says what is decided for a group that fits the queue. */
  #tell(queue: string, { batches }: DemandGroup, why: string): void {
    this.#say(queue, why);
    this.#demand.get(queue)?.push({ batches, why });
  }

  #say(queue: string, sentence: string): void {
    this.#why.get(queue)?.push(sentence);
  }

  /** The queue that comes nearest explains it: too short a lifetime, and then a setting, before a missing core. */
  #noteUnserved(group: DemandGroup, runs: number, misfits: ReadonlyMap<string, Misfit | undefined>): void {
    const all = [...misfits].flatMap(([queue, it]) => (it === undefined ? [] : [{ queue, ...it }]));
    const nearest = (['lifetime-too-short', 'settings-refuse'] as const).find((code) =>
      all.some((it) => it.code === code),
    );
    const code = nearest ?? 'no-capacity-fits';
    const reasons = all.map((it) => `${it.queue}: ${it.why}`).join('; ');
    const message = `${plural(runs, 'run')} of ${group.simulation} fit${runs === 1 ? 's' : ''} no queue (${reasons})`;
    this.#unserved.push({ code, message, runs, batches: group.batches });
  }
}
