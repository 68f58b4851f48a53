/**
 * The live feed: subscriptions to topics. A subscriber receives a full message first, then deltas at a bounded rate, and can
 * resume after a lost connection. Independent of sockets; costs nothing without subscribers.
 */
import { MACHINE_NAMES, type ActorState, type MachineName } from '../../../machines/kinds.ts';
import { stringifyInSlices } from '../../base/event-loop-share.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { isBatchId, isJobId } from '../../domain/ids.ts';
import type { Position } from '../../contract/types.ts';
import type { SupervisorSnapshot } from '../../../machines/supervisor/supervisor.ts';
import type { Commit } from '../kernel/turn/actor-transition.ts';
import type { CompletedRound } from '../rounds/round-progress.ts';
import { changeSetOf } from './change-set.ts';
import { ActorTopic, MachineTopic } from './machines.ts';
import { PoolTopic } from './pool.ts';
import { BatchesTopic, BatchTopic, JobTopic, type TopicParts } from './runs.ts';
import { actorState } from '../kernel/records/lookup.ts';
import type { Topic } from './topic.ts';

/** A client of the feed. Texts are encoded JSON messages. */
export interface Viewer {
  send(text: string): void;
  /** True while the client reads too slowly: deltas are dropped, and a new full message follows later. */
  isCongested(): boolean;
}

interface Subscription {
  viewer: Viewer;
  /** True while its full message is being made or the client is congested: it receives no deltas until the message is sent. */
  isPaused: boolean;
}

interface Channel {
  name: string;
  topic: Topic;
  epoch: string;
  seq: number;
  subscriptions: Set<Subscription>;
  /** The latest deltas, for clients that resume. */
  recent: { seq: number; text: string }[];
  isScheduled: boolean;
  /** Cancels the timer that closes the channel after its last subscriber has left. */
  cancelClose: (() => void) | undefined;
}

/** The coordinator, as the feed uses it. */
export interface FeedSource {
  readonly parts: TopicParts;
  supervisor(): SupervisorSnapshot;
  watch(listener: (commit: Commit) => void): () => void;
}

/** How long a topic stays open for clients that lost their connection. */
const LINGER_MS = 10_000;
const RECENT = 120;
/** The limit on topics per client. Each costs memory. */
export const MAX_TOPICS_PER_VIEWER = 20;

export class Feed {
  readonly #coordinator: FeedSource;
  readonly #channels = new Map<string, Channel>();
  #unwatch: (() => void) | undefined;

  constructor(coordinator: FeedSource) {
    this.#coordinator = coordinator;
  }

  /** The number of open topics. */
  get size(): number {
    return this.#channels.size;
  }

  /**
   * Subscribes a client to a topic: from a position if its deltas are still kept, else with a full message.
   * Returns a function that ends the subscription.
   * @throws SimbatchError `not-found`: there is no such topic; or an error of the topic's full message
   */
  async subscribe(name: string, viewer: Viewer, from?: Position): Promise<() => void> {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.cancelClose?.();
    channel.cancelClose = undefined;
    const subscription: Subscription = { viewer, isPaused: true };
    channel.subscriptions.add(subscription);
    const leave = (): void => this.#leave(channel, subscription);
    try {
      const missed = from === undefined ? undefined : missedSince(channel, from);
      if (missed === undefined) await this.#sendSnapshot(channel, subscription);
      else {
        viewer.send(message(channel, 'resumed', 'null'));
        for (const text of missed) viewer.send(text);
        subscription.isPaused = false;
      }
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  #open(name: string): Channel {
    const topic = makeTopic(this.#coordinator, name);
    const epoch = Buffer.from(this.#coordinator.parts.clock.random(6)).toString('hex');
    const channel: Channel = {
      name,
      topic,
      epoch,
      seq: 0,
      subscriptions: new Set(),
      recent: [],
      isScheduled: false,
      cancelClose: undefined,
    };
    this.#channels.set(name, channel);
    this.#unwatch ??= this.#watch();
    return channel;
  }

  #watch(): () => void {
    const { roundProgress } = this.#coordinator.parts;
    // The rounds that a group completes are known before the group is published.
    const completed: CompletedRound[] = [];
    const unlisten = roundProgress.onComplete((round) => completed.push(round));
    const unwatch = this.#coordinator.watch((commit) => {
      const changes = changeSetOf(commit, completed.splice(0));
      for (const it of this.#channels.values()) if (it.topic.onCommit(changes)) this.#schedule(it);
    });
    return () => {
      unwatch();
      unlisten();
    };
  }

  #leave(channel: Channel, subscription: Subscription): void {
    if (!channel.subscriptions.delete(subscription) || channel.subscriptions.size > 0) return;
    channel.cancelClose = this.#coordinator.parts.clock.after(LINGER_MS, () => this.#close(channel));
  }

  #close(channel: Channel): void {
    this.#channels.delete(channel.name);
    if (this.#channels.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Closes all topics. */
  close(): void {
    for (const channel of this.#channels.values()) {
      channel.cancelClose?.();
      channel.subscriptions.clear();
      this.#close(channel);
    }
  }

  #schedule(channel: Channel): void {
    if (channel.isScheduled) return;
    channel.isScheduled = true;
    this.#coordinator.parts.clock.after(channel.topic.everyMs, () => {
      channel.isScheduled = false;
      this.#flush(channel).catch((error: unknown) => this.#sendFailure(channel, error));
    });
  }

  /** Sends the error of a topic that was deleted or cannot be read: silence would look like no change. */
  #sendFailure({ name, subscriptions }: Channel, error: unknown): void {
    const known = error instanceof SimbatchError;
    const code = known ? error.code : 'internal';
    const detail = known ? error.message : 'the topic cannot be read: internal error';
    const text = JSON.stringify({ type: 'error', topic: name, code, detail });
    for (const { viewer } of subscriptions) viewer.send(text);
  }

  async #flush(channel: Channel): Promise<void> {
    const delta = await channel.topic.delta();
    if (channel.topic.hasMore === true) this.#schedule(channel);
    if (delta === undefined) return;
    channel.seq += 1;
    const text = message(channel, 'delta', JSON.stringify(delta));
    channel.recent.push({ seq: channel.seq, text });
    if (channel.recent.length > RECENT) channel.recent.shift();
    for (const subscription of channel.subscriptions) {
      if (subscription.isPaused) continue;
      if (subscription.viewer.isCongested()) this.#resendFull(channel, subscription);
      else subscription.viewer.send(text);
    }
  }

  /** Sends a congested client nothing until its buffer has drained, then a new full message. */
  #resendFull(channel: Channel, subscription: Subscription): void {
    subscription.isPaused = true;
    this.#coordinator.parts.clock.after(1_000, () => {
      if (!channel.subscriptions.has(subscription)) return;
      if (subscription.viewer.isCongested()) this.#resendFull(channel, subscription);
      else this.#sendSnapshot(channel, subscription).catch(() => this.#leave(channel, subscription));
    });
  }

  async #sendSnapshot(channel: Channel, subscription: Subscription): Promise<void> {
    const { seq } = channel;
    const full = await channel.topic.snapshot();
    const data = await stringifyInSlices(this.#coordinator.parts.share, full);
    subscription.viewer.send(message(channel, 'snapshot', data));
    // Deltas since then; a delta may be received twice.
    for (const it of channel.recent) if (it.seq > seq) subscription.viewer.send(it.text);
    subscription.isPaused = false;
  }
}

function message(channel: Channel, type: 'snapshot' | 'delta' | 'resumed', data: string): string {
  const { name, epoch, seq } = channel;
  return `{"type":"${type}","topic":${JSON.stringify(name)},"epoch":"${epoch}","seq":${seq},"data":${data}}`;
}

/** Returns the deltas after a position, or undefined when they are not all kept any more. */
function missedSince(channel: Channel, from: Position): string[] | undefined {
  if (from.epoch !== channel.epoch || from.seq > channel.seq) return undefined;
  const oldest = channel.recent[0]?.seq ?? channel.seq + 1;
  if (from.seq + 1 < oldest && from.seq < channel.seq) return undefined;
  return channel.recent.filter((it) => it.seq > from.seq).map((it) => it.text);
}

/** `batches`, `pool`, `batch/<id>`, `job/<id>`, `machine/<kind>`, `machine/<kind>/<id>`. */
function makeTopic(coordinator: FeedSource, name: string): Topic {
  const { parts } = coordinator;
  if (name === 'batches') return new BatchesTopic(parts);
  if (name === 'pool') return new PoolTopic(parts);
  const [, noun = '', first = '', rest] = /^(\w+)\/([^/]+)(?:\/(.+))?$/s.exec(name) ?? [];
  if (noun === 'batch' && isBatchId(first) && rest === undefined) return new BatchTopic(parts, first);
  if (noun === 'job' && isJobId(first) && rest === undefined) return new JobTopic(parts, first);
  if (noun === 'machine') {
    const kind = MACHINE_NAMES.find((it) => it === first);
    if (kind !== undefined && rest === undefined) return new MachineTopic(parts, kind, () => coordinator.supervisor());
    if (kind !== undefined && rest !== undefined && isIdOf(kind, rest)) {
      const read = (): ActorState => (kind === 'supervisor' ? coordinator.supervisor() : actorState(parts, kind, rest));
      return new ActorTopic(parts, kind, rest, read);
    }
  }
  throw new SimbatchError('not-found', `there is no topic ${JSON.stringify(name.slice(0, 100))}`);
}

function isIdOf(kind: MachineName, id: string): boolean {
  if (kind === 'job') return isJobId(id);
  if (kind === 'batch') return isBatchId(id);
  return kind !== 'supervisor' || id === 'supervisor';
}
