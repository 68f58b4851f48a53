/**
 * The live feed: who watches what, a snapshot for each who comes, then deltas at a bounded pace, and the way back in after
 * a lost connection. Knows no sockets; costs nothing while nobody watches.
 */
import { SimbatchError } from '../../domain/errors.ts';
import { isBatchId, isJobId } from '../../domain/ids.ts';
import type { Coordinator } from '../coordinator.ts';
import { ActorTopic, MACHINE_KINDS, MachineTopic } from './machines.ts';
import { PoolTopic } from './pool.ts';
import { BatchesTopic, BatchTopic, JobTopic } from './runs.ts';
import type { Topic } from './topic.ts';

/** Where one has got to in a topic: deltas are numbered; the epoch changes when the numbering starts anew. */
export interface Position {
  epoch: string;
  seq: number;
}

/** Someone who watches. Texts are JSON messages, ready to be sent. */
export interface Viewer {
  send(text: string): void;
  /** True while so much is on its way that deltas should not be added: a fresh snapshot follows later. */
  isBehind(): boolean;
}

interface Subscription {
  viewer: Viewer;
  /** Its snapshot is being made, or it fell behind: it gets no deltas until the snapshot has gone out. */
  waits: boolean;
}

interface Channel {
  name: string;
  topic: Topic;
  epoch: string;
  seq: number;
  subscriptions: Set<Subscription>;
  /** The latest deltas, for those who come back. */
  recent: { seq: number; text: string }[];
  isScheduled: boolean;
  /** Calls off the end that is due when the last viewer has left. */
  stay: (() => void) | undefined;
}

/** How long a topic is kept up for viewers who lost their connection. */
const LINGER_MS = 10_000;
const RECENT = 120;
/** No viewer needs more, and each costs memory here. */
export const MAX_TOPICS_PER_VIEWER = 20;

export class Feed {
  readonly #coordinator: Coordinator;
  readonly #channels = new Map<string, Channel>();
  #unwatch: (() => void) | undefined;

  constructor(coordinator: Coordinator) {
    this.#coordinator = coordinator;
  }

  /** How many topics are being kept up; 0 when nobody watches. */
  get size(): number {
    return this.#channels.size;
  }

  /**
   * Starts to tell the viewer of a topic, from a position it had got to if that is still known, else with a snapshot.
   * Returns what ends it.
   * @throws SimbatchError `not-found`: there is no such topic; or what the topic's snapshot throws
   */
  async subscribe(name: string, viewer: Viewer, from?: Position): Promise<() => void> {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.stay?.();
    channel.stay = undefined;
    const subscription: Subscription = { viewer, waits: true };
    channel.subscriptions.add(subscription);
    const leave = (): void => this.#leave(channel, subscription);
    try {
      const missed = from === undefined ? undefined : missedSince(channel, from);
      if (missed === undefined) await this.#sendSnapshot(channel, subscription);
      else {
        viewer.send(message(channel, 'resumed', 'null'));
        for (const text of missed) viewer.send(text);
        subscription.waits = false;
      }
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  #open(name: string): Channel {
    const topic = makeTopic(this.#coordinator, name);
    const epoch = Buffer.from(this.#coordinator.core.clock.random(6)).toString('hex');
    const channel: Channel = {
      name,
      topic,
      epoch,
      seq: 0,
      subscriptions: new Set(),
      recent: [],
      isScheduled: false,
      stay: undefined,
    };
    this.#channels.set(name, channel);
    this.#unwatch ??= this.#coordinator.watch((commit) => {
      for (const it of this.#channels.values()) if (it.topic.hear(commit)) this.#schedule(it);
    });
    return channel;
  }

  #leave(channel: Channel, subscription: Subscription): void {
    if (!channel.subscriptions.delete(subscription) || channel.subscriptions.size > 0) return;
    channel.stay = this.#coordinator.core.clock.after(LINGER_MS, () => this.#close(channel));
  }

  #close(channel: Channel): void {
    this.#channels.delete(channel.name);
    if (this.#channels.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Ends everything at once. */
  close(): void {
    for (const channel of this.#channels.values()) {
      channel.stay?.();
      channel.subscriptions.clear();
      this.#close(channel);
    }
  }

  #schedule(channel: Channel): void {
    if (channel.isScheduled) return;
    channel.isScheduled = true;
    this.#coordinator.core.clock.after(channel.topic.everyMs, () => {
      channel.isScheduled = false;
      this.#flush(channel).catch((error: unknown) => this.#tellFailure(channel, error));
    });
  }

  /** What was watched has gone, or cannot be read: better said than left to look as if nothing happened any more. */
  #tellFailure({ name, subscriptions }: Channel, error: unknown): void {
    const known = error instanceof SimbatchError;
    const code = known ? error.code : 'internal';
    const detail = known ? error.message : 'the coordinator met a fault of its own';
    const text = JSON.stringify({ type: 'error', topic: name, code, detail });
    for (const { viewer } of subscriptions) viewer.send(text);
  }

  async #flush(channel: Channel): Promise<void> {
    const delta = await channel.topic.delta();
    if (channel.topic.isUnfinished === true) this.#schedule(channel);
    if (delta === undefined) return;
    channel.seq += 1;
    const text = message(channel, 'delta', JSON.stringify(delta));
    channel.recent.push({ seq: channel.seq, text });
    if (channel.recent.length > RECENT) channel.recent.shift();
    for (const subscription of channel.subscriptions) {
      if (subscription.waits) continue;
      if (subscription.viewer.isBehind()) this.#catchUp(channel, subscription);
      else subscription.viewer.send(text);
    }
  }

  /** The viewer reads too slowly: it gets nothing until what is under way has gone, and then everything afresh. */
  #catchUp(channel: Channel, subscription: Subscription): void {
    subscription.waits = true;
    this.#coordinator.core.clock.after(1_000, () => {
      if (!channel.subscriptions.has(subscription)) return;
      if (subscription.viewer.isBehind()) this.#catchUp(channel, subscription);
      else this.#sendSnapshot(channel, subscription).catch(() => this.#leave(channel, subscription));
    });
  }

  async #sendSnapshot(channel: Channel, subscription: Subscription): Promise<void> {
    const { seq } = channel;
    const data = JSON.stringify(await channel.topic.snapshot());
    subscription.viewer.send(message(channel, 'snapshot', data));
    // What came meanwhile; hearing it twice does no harm.
    for (const it of channel.recent) if (it.seq > seq) subscription.viewer.send(it.text);
    subscription.waits = false;
  }
}

function message(channel: Channel, type: 'snapshot' | 'delta' | 'resumed', data: string): string {
  const { name, epoch, seq } = channel;
  return `{"type":"${type}","topic":${JSON.stringify(name)},"epoch":"${epoch}","seq":${seq},"data":${data}}`;
}

/** The deltas behind a position, or undefined when they are not all known any more. */
function missedSince(channel: Channel, from: Position): string[] | undefined {
  if (from.epoch !== channel.epoch || from.seq > channel.seq) return undefined;
  const oldest = channel.recent[0]?.seq ?? channel.seq + 1;
  if (from.seq + 1 < oldest && from.seq < channel.seq) return undefined;
  return channel.recent.filter((it) => it.seq > from.seq).map((it) => it.text);
}

/** `batches`, `pool`, `batch/<id>`, `job/<id>`, `machine/<kind>`, `machine/<kind>/<id>`. */
function makeTopic(coordinator: Coordinator, name: string): Topic {
  const { core } = coordinator;
  if (name === 'batches') return new BatchesTopic(core);
  if (name === 'pool') return new PoolTopic(core);
  const [, noun = '', first = '', rest] = /^(\w+)\/([^/]+)(?:\/(.+))?$/s.exec(name) ?? [];
  if (noun === 'batch' && isBatchId(first) && rest === undefined) return new BatchTopic(core, first);
  if (noun === 'job' && isJobId(first) && rest === undefined) return new JobTopic(core, first);
  if (noun === 'machine') {
    const kind = MACHINE_KINDS.find((it) => it === first);
    if (kind !== undefined && rest === undefined) return new MachineTopic(core, kind, () => coordinator.supervisor());
    if (kind === 'job' && rest !== undefined && isJobId(rest)) return new ActorTopic(core, kind, rest);
    if (kind === 'batch' && rest !== undefined && isBatchId(rest)) return new ActorTopic(core, kind, rest);
    if (kind === 'runner' && rest !== undefined) return new ActorTopic(core, kind, rest);
  }
  throw new SimbatchError('not-found', `there is no topic ${JSON.stringify(name.slice(0, 100))}`);
}
