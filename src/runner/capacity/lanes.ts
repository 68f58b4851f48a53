/**
 * Slots of runs that share processes. A lane is one slot of the runner that runs of one kind take one after the other, with a few
 * more that are started at the coordinator while the one before them executes: a run of a millisecond would otherwise wait longer
 * for its start than it takes.
 */
import type { Clock } from '../../base/clock.ts';
import type { Remains, Slot, SlotRequest, Slots } from './slots.ts';

/** Runs that would execute within this time are started ahead; within a twentieth of their time limit if that is less. */
const AHEAD_MS = 800;
const MOST_AHEAD = 256;
/** The same for all lanes together, where that is more than `AHEAD_AT_LEAST` each: every run has a port for its telemetry. */
const MOST_AHEAD_IN_ALL = 512;
const AHEAD_AT_LEAST = 80;
/** A run of this length waits for its own slot. */
const LONG_MS = 100;
/** A lane that has had its slot for this long gives it to others that wait for one. */
const TURN_MS = 250;
/** The weight of the latest run in the mean. */
const WEIGHT = 0.1;

/** A slot of a run in a lane. */
export interface LaneSlot extends Slot {
  lane: number;
  /** Takes the duration of the run. */
  note: (ms: number) => void;
  /** Mean duration of runs of this kind: of their execution, since the time between two ends is also that of a runner that waits. */
  meanMs: () => number;
}

interface Lane {
  number: number;
  key: string;
  slot: Slot;
  sinceMs: number;
  /** Runs that have not ended. */
  size: number;
  /** Runs are started together: a lane that is full takes more when half of them have ended. */
  isFilling: boolean;
}

interface Waiting {
  request: SlotRequest;
  resolve: (slot: LaneSlot) => void;
}

interface Kind {
  lanes: Set<Lane>;
  waiting: Waiting[];
  /** Requests for slots that are not granted yet. */
  asked: number;
  aheadMs: number;
  meanMs: number | undefined;
}

export class Lanes {
  readonly #slots: Slots;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #mostAhead: number;
  readonly #kinds = new Map<string, Kind>();
  #lastNumber = 0;

  constructor(slots: Slots, clock: Pick<Clock, 'monotonicMs'>) {
    this.#slots = slots;
    this.#clock = clock;
    this.#mostAhead = Math.max(AHEAD_AT_LEAST, Math.min(MOST_AHEAD, Math.floor(MOST_AHEAD_IN_ALL / slots.count)));
  }

  /** How many runs wait for a place in a lane. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#kinds.values()) count += waiting.length;
    return count;
  }

  /** Resolves when the run may be started. `key`: runs with the same one share lanes. `timeLimitMs`: 0 for none. */
  take(key: string, request: SlotRequest, timeLimitMs: number): Promise<LaneSlot> {
    const aheadMs = timeLimitMs > 0 ? Math.min(AHEAD_MS, timeLimitMs / 20) : AHEAD_MS;
    const kind = this.#kinds.get(key) ?? { lanes: new Set(), waiting: [], asked: 0, aheadMs, meanMs: undefined };
    this.#kinds.set(key, kind);
    return new Promise((resolve) => {
      kind.waiting.push({ request, resolve });
      this.#serve(key, kind);
    });
  }

  /** How many runs a lane may have: one until it is known how long they take, and while they are long. */
  #depth({ meanMs, aheadMs }: Kind): number {
    if (meanMs === undefined || meanMs > Math.min(LONG_MS, aheadMs)) return 1;
    return Math.min(this.#mostAhead, 1 + Math.ceil(aheadMs / Math.max(meanMs, 0.1)));
  }

  #serve(key: string, kind: Kind): void {
    const depth = this.#depth(kind);
    // A place in a lane that is there, else a lane more, as far as there are slots.
    for (let next = kind.waiting[0]; next !== undefined; next = kind.waiting[0]) {
      const lane = this.#shortest(kind, depth);
      if (lane === undefined || (lane.size > 0 && kind.asked === 0 && this.#slots.hasRoom(next.request))) break;
      kind.waiting.shift();
      next.resolve(this.#slotOf(lane, kind));
    }
    const [first] = kind.waiting;
    if (first === undefined || kind.asked > 0) return;
    kind.asked += 1;
    void this.#slots.take(first.request).then((slot) => {
      kind.asked -= 1;
      const nowMs = this.#clock.monotonicMs();
      const lane = {
        number: (this.#lastNumber += 1),
        key,
        slot,
        sinceMs: nowMs,
        size: 0,
        isFilling: true,
      };
      kind.lanes.add(lane);
      this.#serve(key, kind);
      this.#endIfEmpty(lane, kind);
    });
  }

  #shortest(kind: Kind, depth: number): Lane | undefined {
    let best: Lane | undefined;
    for (const lane of kind.lanes) {
      if (lane.size >= depth) lane.isFilling = false;
      else if (lane.size * 2 <= depth) lane.isFilling = true;
      if (!lane.isFilling || this.#mustYield(lane, kind)) continue;
      if (best === undefined || lane.size < best.size) best = lane;
    }
    return best;
  }

  /** True when others wait for a slot and the lane has had its turn. */
  #mustYield(lane: Lane, kind: Kind): boolean {
    return this.#slots.waiting > kind.asked && this.#clock.monotonicMs() - lane.sinceMs > TURN_MS;
  }

  #slotOf(lane: Lane, kind: Kind): LaneSlot {
    lane.size += 1;
    let isExecuting = true;
    let isOpen = true;
    const end = (): void => {
      isExecuting = false;
      lane.size -= 1;
      this.#serve(lane.key, kind);
      this.#endIfEmpty(lane, kind);
    };
    return {
      devices: lane.slot.devices,
      lane: lane.number,
      note: (ms) => {
        kind.meanMs = kind.meanMs === undefined ? ms : kind.meanMs + WEIGHT * (ms - kind.meanMs);
      },
      meanMs: () => kind.meanMs ?? 0,
      free: () => {
        if (isExecuting) end();
      },
      close: (left, about) => {
        if (!isOpen) return;
        isOpen = false;
        if (left !== undefined) this.#lose(lane, kind, left, about);
        if (isExecuting) end();
      },
    };
  }

  /** The slot has remains of a run: it is lost until they are gone, and the other runs of the lane end without it. */
  #lose(lane: Lane, kind: Kind, left: Remains, about: Record<string, unknown>): void {
    if (kind.lanes.delete(lane)) lane.slot.close(left, about);
  }

  #endIfEmpty(lane: Lane, kind: Kind): void {
    if (lane.size > 0 || !kind.lanes.delete(lane)) return;
    lane.slot.close(undefined, {});
    if (kind.lanes.size === 0 && kind.waiting.length === 0 && kind.asked === 0) this.#kinds.delete(lane.key);
    // Runs that wait ask for a slot after the others.
    else this.#serve(lane.key, kind);
  }
}
