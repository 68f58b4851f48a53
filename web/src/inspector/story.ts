/** The story of an actor for the inspector: events of several lanes in one order, the state of each lane at an instant, jumps. Pure. */
import { shownStatus } from '../../../src/contract/enums.ts';
import type { Journal } from '../../../src/contract/types.ts';
import type { MachineName } from '../../../machines/kinds.ts';
import type { ReplayStep } from '../machines/replay.ts';

/** A row of the sequence diagram: the actor, as the coordinator has it. */
export interface Lane {
  kind: MachineName;
  id: string;
}

export interface StoryEvent {
  lane: Lane;
  /** `taken`, `refused`, or a `note` of the coordinator about the actor. */
  result: 'taken' | 'refused' | 'note';
  type: string;
  now: number;
  /** Absent for the first known state, and where it is not kept. */
  from: string | undefined;
  to: string | undefined;
  /** The event itself; absent for notes and the first known state. */
  event: { type: string } | undefined;
  /** The contexts, where they are known. */
  before: object | undefined;
  after: object | undefined;
  /** Equal refusals in a row are one. */
  times: number;
  detail: string | undefined;
}

/** A step as people read it. */
export const stepText = (from: string, to: string): string =>
  from === to ? `stays ${shownStatus(to)}` : `${shownStatus(from)} → ${shownStatus(to)}`;

/** The state that a runner has after a fact about it, as far as the fact says so: `Connected` is around several. */
const AFTER_FACT: Readonly<Record<string, string>> = {
  'runner.registered': 'Connected',
  'runner.online': 'Connected',
  'runner.resumed': 'Connected',
  'runner.silent': 'Offline',
  'runner.signed-off': 'Offline',
  'runner.drained': 'Maintenance',
  'runner.quarantined': 'Maintenance',
};

export function eventsOf(lane: Lane, steps: readonly ReplayStep[], journal: Journal | undefined): StoryEvent[] {
  const events: StoryEvent[] = [];
  for (const [at, { event, from, to, context, now, taken }] of steps.entries()) {
    const before = steps[at - 1]?.context as object | undefined;
    // The first state of a replay has the time of the event after it.
    const time = now ?? steps[at + 1]?.now;
    if (time === undefined) continue;
    events.push({
      lane,
      result: taken ? 'taken' : 'refused',
      type: event?.type ?? 'as it was',
      now: time,
      from,
      to,
      event,
      before: event === undefined ? undefined : before,
      after: context as object,
      times: 1,
      detail: undefined,
    });
  }
  for (const { event, state, context, now, times } of journal?.refused ?? [])
    events.push({
      lane,
      result: 'refused',
      type: event.type,
      now,
      from: state,
      to: state,
      event,
      before: context,
      after: context,
      times,
      detail: undefined,
    });
  // The first state that is received live is the latest after the notes.
  const liveFrom = steps.find((it) => it.now !== undefined)?.now ?? Infinity;
  for (const { type, now, detail } of journal?.notes ?? []) {
    if (lane.kind === 'runner' && now > liveFrom) continue;
    const to = AFTER_FACT[type];
    events.push({
      lane,
      result: 'note',
      type: NOTE_NAMES[type] ?? type.replace(/^\w+\./, '').replaceAll('-', ' '),
      now,
      from: undefined,
      to,
      event: undefined,
      before: undefined,
      after: undefined,
      times: 1,
      detail,
    });
  }
  return events;
}

const NOTE_NAMES: Readonly<Record<string, string>> = {
  restart: 'restarted by the supervisor',
  forget: 'forgotten by the supervisor',
};

/** The lanes' events in the order of their times; those of one instant in the order of the lanes. */
export const merged = (...lanes: readonly StoryEvent[][]): StoryEvent[] => lanes.flat().sort((a, b) => a.now - b.now);

export const sameLane = (a: Lane, b: Lane): boolean => a.kind === b.kind && a.id === b.id;

/** The latest event at or before a position that says the state of a lane; undefined: its state is not known there. */
export function stateAt(events: readonly StoryEvent[], at: number, lane: Lane): StoryEvent | undefined {
  return events.slice(0, at + 1).findLast((it) => it.to !== undefined && sameLane(it.lane, lane));
}

/** The latest context of a lane at or before a position. */
export const contextAt = (events: readonly StoryEvent[], at: number, lane: Lane): StoryEvent | undefined =>
  events.slice(0, at + 1).findLast((it) => it.after !== undefined && sameLane(it.lane, lane));

const ERRORS = new Set(['FAIL', 'TIME_LIMIT', 'RUNNER_LOST', 'FAULT', 'ACTOR_FAILED', 'WRITE_FAILED']);

export const isError = (it: StoryEvent): boolean =>
  it.result === 'refused' || ERRORS.has(it.type) || it.type.endsWith('by the supervisor') || it.type === 'lost';

/** The position of the next error after a position, from the start again after the last; undefined: there is none. */
export function nextError(events: readonly StoryEvent[], at: number): number | undefined {
  const after = events.findIndex((it, index) => index > at && isError(it));
  const found = after === -1 ? events.findIndex(isError) : after;
  return found === -1 ? undefined : found;
}

/**
 * The position that the page opens at: the end of the attempt; or the last failure that was taken; or the latest event of the
 * subject, not that of another lane; or the latest of all.
 */
export function opening(events: readonly StoryEvent[], attempt: number | undefined, subject: Lane | undefined): number {
  const ofAttempt = events.findLastIndex(
    (it) => it.result === 'taken' && it.event !== undefined && (it.event as { attempt?: number }).attempt === attempt,
  );
  if (attempt !== undefined && ofAttempt !== -1) return ofAttempt;
  const failure = events.findLastIndex((it) => it.result === 'taken' && isError(it));
  if (failure !== -1) return failure;
  const own = subject === undefined ? -1 : events.findLastIndex((it) => sameLane(it.lane, subject));
  return own === -1 ? events.length - 1 : own;
}

/** A row of the log: one event, or equal ones in a row. */
export interface LogRow {
  /** The position of the latest of them. */
  at: number;
  event: StoryEvent;
  times: number;
}

const FOLDED = new Set(['HEARTBEAT', 'TICK']);

/** The rows of the log, heartbeats and ticks in a row as one; `shows` selects events. */
export function logRows(events: readonly StoryEvent[], shows: (it: StoryEvent) => boolean): LogRow[] {
  const rows: LogRow[] = [];
  for (const [at, event] of events.entries()) {
    if (!shows(event)) continue;
    const last = rows.at(-1);
    const folds = FOLDED.has(event.type) && event.result === 'taken' && event.from === event.to;
    if (
      folds &&
      last?.event.type === event.type &&
      sameLane(last.event.lane, event.lane) &&
      last.event.result === 'taken'
    )
      rows[rows.length - 1] = { at, event, times: last.times + 1 };
    else rows.push({ at, event, times: event.times });
  }
  return rows;
}

/** The time until the next step is played: the time between the events, faster, within what an eye can follow. */
export const delayMs = (gapMs: number, speed: number): number => Math.min(2_000, Math.max(80, gapMs / speed));
