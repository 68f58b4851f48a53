/** The live feed: one socket for the whole page, which reconnects and resumes by itself. */
import { CLOSE_UNAUTHENTICATED } from '../../../src/contract/live/close-codes.ts';
import type { DataMessage, DataOf, FeedMessage, Position, TopicName } from '../../../src/contract/types.ts';
import { request } from './api.ts';
import { askForToken, isTokenAsked, protocols } from './token.ts';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

/** `refused`: a token is needed; retrying without one is useless. */
export type FeedState = 'connecting' | 'open' | 'lost' | 'refused';

interface Watched {
  listeners: Set<(message: FeedMessage<never>) => void>;
  from: Position | undefined;
}

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 5_000;

class LiveFeed {
  state: FeedState = 'connecting';
  readonly #topics = new Map<string, Watched>();
  readonly #stateListeners = new Set<() => void>();
  #socket: WebSocket | undefined;
  #delayMs = FIRST_DELAY_MS;

  /** Calls the listener with every message of a topic, from a full message on, until the returned function is called. */
  watch<N extends TopicName>(topic: N, listener: (message: FeedMessage<DataOf<N>>) => void): () => void {
    this.open();
    const known = this.#topics.get(topic);
    const watched = known ?? { listeners: new Set(), from: undefined };
    watched.listeners.add(listener);
    this.#topics.set(topic, watched);
    // A new listener needs a full message; the others receive it too, which is harmless.
    if (known !== undefined) this.#say({ type: 'unsubscribe', topic });
    this.#say({ type: 'subscribe', topic });
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size > 0 || this.#topics.get(topic) !== watched) return;
      this.#topics.delete(topic);
      this.#say({ type: 'unsubscribe', topic });
    };
  }

  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  #setState(state: FeedState): void {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.#stateListeners) listener();
  }

  #say(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Connects on first use. */
  open(): void {
    if (this.#socket !== undefined) return;
    if (isTokenAsked()) {
      this.#setState('refused');
      return;
    }
    const { protocol, host } = window.location;
    const socket = new WebSocket(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}/live`, protocols());
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#delayMs = FIRST_DELAY_MS;
      this.#setState('open');
      for (const [topic, { from }] of this.#topics) this.#say({ type: 'subscribe', topic, from });
    });
    socket.addEventListener('message', (event) => this.#received(JSON.parse(event.data as string) as FeedMessage<never>));
    socket.addEventListener('close', ({ code }) => {
      this.#socket = undefined;
      if (code === CLOSE_UNAUTHENTICATED) askForToken();
      // A browser does not report why a WebSocket was refused; an ordinary request does, and prompts for the token.
      else if (this.state !== 'open') request('/batches?limit=1').catch(() => {});
      this.#setState('lost');
      window.setTimeout(() => this.open(), this.#delayMs);
      this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
    });
  }

  #received(message: FeedMessage<never>): void {
    const watched = message.topic === undefined ? undefined : this.#topics.get(message.topic);
    if (watched === undefined) return;
    if (message.type !== 'error') watched.from = { epoch: message.epoch, seq: message.seq };
    for (const listener of watched.listeners) listener(message);
  }
}

export const feed = new LiveFeed();

export function useFeedState(): FeedState {
  return useSyncExternalStore(
    (changed) => feed.onState(changed),
    () => feed.state,
  );
}

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
