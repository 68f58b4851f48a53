/** The live feed: one socket for the whole page, that comes back by itself and goes on where it was cut off. */
import { CLOSE_UNAUTHENTICATED } from '../../../src/contract/live/close-codes.ts';
import { request } from './api.ts';
import { askForToken, isTokenAsked, protocols } from './token.ts';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

/** `refused`: a token is needed, and there is no use in trying again without. */
export type FeedState = 'connecting' | 'open' | 'lost' | 'refused';

/** `resumed`: the connection is back and nothing was missed. */
export type FeedMessage =
  | { type: 'snapshot' | 'delta'; topic: string; epoch: string; seq: number; data: unknown }
  | { type: 'resumed'; topic: string; epoch: string; seq: number }
  | { type: 'error'; topic?: string; code: string; detail: string };

interface Watched {
  listeners: Set<(message: FeedMessage) => void>;
  from: { epoch: string; seq: number } | undefined;
}

const FIRST_DELAY_MS = 300;
const MAX_DELAY_MS = 5_000;

class LiveFeed {
  state: FeedState = 'connecting';
  readonly #topics = new Map<string, Watched>();
  readonly #stateListeners = new Set<() => void>();
  #socket: WebSocket | undefined;
  #delayMs = FIRST_DELAY_MS;

  /** Tells the listener everything of a topic, from a snapshot on, until the function returned is called. */
  watch(topic: string, listener: (message: FeedMessage) => void): () => void {
    this.open();
    const known = this.#topics.get(topic);
    const watched = known ?? { listeners: new Set(), from: undefined };
    watched.listeners.add(listener);
    this.#topics.set(topic, watched);
    // One who joins needs a snapshot of its own; the others hear it too, which does no harm.
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

  /** Connects, if that has not been done yet. */
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
    socket.addEventListener('message', (event) => this.#heard(JSON.parse(event.data as string) as FeedMessage));
    socket.addEventListener('close', ({ code }) => {
      this.#socket = undefined;
      if (code === CLOSE_UNAUTHENTICATED) askForToken();
      // A page is not told why a WebSocket was refused; a request is, and asks for the token that is missing.
      else if (this.state !== 'open') request('/batches?limit=1').catch(() => {});
      this.#setState('lost');
      window.setTimeout(() => this.open(), this.#delayMs);
      this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
    });
  }

  #heard(message: FeedMessage): void {
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

/** What the messages of a topic come to. `merge` must be a function that does not change between renders. */
export function useTopic<T>(
  topic: string | undefined,
  merge: (before: T | undefined, message: FeedMessage & { type: 'snapshot' | 'delta' }) => T | undefined,
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
export function useTopicListener(topic: string | undefined, listener: (message: FeedMessage) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => (topic === undefined ? undefined : feed.watch(topic, (message) => latest.current(message))), [topic]);
}
