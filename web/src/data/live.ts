/** The live feed: one socket for the whole page, which reconnects and resumes by itself. */
import { CLOSE_UNAUTHENTICATED } from '../../../src/contract/live/close-codes.ts';
import type { DataMessage, DataOf, FeedMessage, Position, TopicName } from '../../../src/contract/types.ts';
import { request } from './api.ts';
import { ENDPOINT } from './place.ts';
import { askForToken, isTokenAsked, protocols } from './token.ts';
import { createStore } from '@xstate/store';
import { useEffect, useRef, useState } from 'react';
import { useStore } from './use-store.ts';

/** `refused`: a token is needed; retrying without one is useless. */
export type FeedState = 'connecting' | 'open' | 'lost' | 'refused';

interface Topic {
  /** Subscribers of the topic's messages; without any, the topic is unsubscribed. */
  subscribers: number;
  /** The position of the last message, from which a new connection resumes. */
  from: Position | undefined;
}

interface Emitted {
  message: FeedMessage<never>;
}

/** The type of an emitted message, in the form that the store reads it from (Standard Schema). */
const messageSchema = {
  '~standard': {
    version: 1,
    vendor: 'simbatch',
    validate: (value: unknown) => ({ value: value as Emitted }),
    types: undefined as { input: Emitted; output: Emitted } | undefined,
  },
} as const;

/** The state of one topic; its messages are emitted as events, so that none is merged or lost between renders. */
const NO_SUBSCRIBERS: Topic = { subscribers: 0, from: undefined };
const createTopic = () =>
  createStore({
    context: NO_SUBSCRIBERS,
    schemas: { emitted: { message: messageSchema } },
    on: {
      subscribed: (topic) => ({ ...topic, subscribers: topic.subscribers + 1 }),
      unsubscribed: (topic) => ({ ...topic, subscribers: topic.subscribers - 1 }),
      received: (topic, { message }: { message: FeedMessage<never> }, enqueue) => {
        enqueue.emit.message({ message });
        return message.type === 'error' ? topic : { ...topic, from: { epoch: message.epoch, seq: message.seq } };
      },
    },
  });

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 5_000;

const CONNECTING: { state: FeedState } = { state: 'connecting' };

class LiveFeed {
  readonly store = createStore({
    context: CONNECTING,
    on: { changed: (_, { state }: { state: FeedState }) => ({ state }) },
  });
  readonly #topics = new Map<string, ReturnType<typeof createTopic>>();
  #socket: WebSocket | undefined;
  #delayMs = FIRST_DELAY_MS;

  /** Calls the listener with every message of a topic, from a full message on, until the returned function is called. */
  watch<N extends TopicName>(topic: N, listener: (message: FeedMessage<DataOf<N>>) => void): () => void {
    this.open();
    const known = this.#topics.get(topic);
    const watched = known ?? createTopic();
    const subscription = watched.on('message', ({ message }) => listener(message));
    watched.trigger.subscribed();
    this.#topics.set(topic, watched);
    // A new listener needs a full message; the others receive it too, which is harmless.
    if (known !== undefined) this.#say({ type: 'unsubscribe', topic });
    this.#say({ type: 'subscribe', topic });
    return () => {
      subscription.unsubscribe();
      watched.trigger.unsubscribed();
      if (watched.getSnapshot().context.subscribers > 0 || this.#topics.get(topic) !== watched) return;
      this.#topics.delete(topic);
      this.#say({ type: 'unsubscribe', topic });
    };
  }

  #say(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Connects on first use. */
  open(): void {
    if (this.#socket !== undefined) return;
    if (isTokenAsked()) {
      this.store.trigger.changed({ state: 'refused' });
      return;
    }
    const socket = new WebSocket(`${ENDPOINT.replace(/^http/, 'ws')}/live`, protocols());
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#delayMs = FIRST_DELAY_MS;
      this.store.trigger.changed({ state: 'open' });
      for (const [topic, watched] of this.#topics)
        this.#say({ type: 'subscribe', topic, from: watched.getSnapshot().context.from });
    });
    socket.addEventListener('message', (event) => this.#received(JSON.parse(event.data as string) as FeedMessage<never>));
    socket.addEventListener('close', ({ code }) => {
      this.#socket = undefined;
      if (code === CLOSE_UNAUTHENTICATED) askForToken();
      // A browser does not report why a WebSocket was refused; an ordinary request does, and prompts for the token.
      else if (this.store.getSnapshot().context.state !== 'open') request('/batches?limit=1').catch(() => {});
      this.store.trigger.changed({ state: 'lost' });
      window.setTimeout(() => this.open(), this.#delayMs);
      this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
    });
  }

  #received(message: FeedMessage<never>): void {
    if (message.topic !== undefined) this.#topics.get(message.topic)?.trigger.received({ message });
  }
}

export const feed = new LiveFeed();

export const useFeedState = (): FeedState => useStore(feed.store, (it) => it.state);

/** False while the connection is lost: what is shown may be old, and actions are off. */
export const useIsConnected = (): boolean => useFeedState() !== 'lost';

export interface Live<T> {
  data: T | undefined;
  error: string | undefined;
}

/** Folds the messages of a topic into a state. `merge` must be the same function in every render. */
export function useTopic<N extends TopicName, T>(
  topic: N | undefined,
  merge: (before: T | undefined, message: DataMessage<DataOf<N>>) => T | undefined,
): Live<T> {
  const [state, setState] = useState<Live<T> & { topic: string | undefined }>({
    data: undefined,
    error: undefined,
    topic,
  });
  useEffect(() => {
    if (topic === undefined) return undefined;
    return feed.watch(topic, (message) => {
      if (message.type === 'resumed') return;
      setState((before) => {
        if (message.type === 'error') return { data: undefined, error: message.detail, topic };
        return {
          data: merge(before.topic === topic ? before.data : undefined, message),
          error: undefined,
          topic,
        };
      });
    });
  }, [topic, merge]);
  return state.topic === topic ? state : { data: undefined, error: undefined };
}

/** Calls the listener with every message of a topic, without rendering. */
export function useTopicListener<N extends TopicName>(
  topic: N | undefined,
  listener: (message: FeedMessage<DataOf<N>>) => void,
): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => (topic === undefined ? undefined : feed.watch(topic, (message) => latest.current(message))), [topic]);
}
