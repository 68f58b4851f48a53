/** The division of the event loop between requests and long work, on a loop whose time passes only by the work in it. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { EventLoopShare, REQUESTS_WEIGHT, SHORT_SLICE_MS, SLICE_MS } from '../../src/base/event-loop-share.ts';

/** Time of one step of a request. */
const STEP_MS = 0.1;
const ITERATIONS = 400;

/** The phases of an iteration as Node has them: timers, input, then the actions that were due soon, each with its promises. */
class SimulatedLoop {
  nowMs = 0;
  #soon: (() => void)[] = [];
  readonly #timers = new Map<object, { atMs: number; action: () => void }>();

  monotonicMs(): number {
    return this.nowMs;
  }

  soon(action: () => void): void {
    this.#soon.push(action);
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = {};
    this.#timers.set(timer, { atMs: this.nowMs + delayMs, action });
    return () => this.#timers.delete(timer);
  }

  async iterate(input: () => void): Promise<void> {
    for (const [timer, { atMs, action }] of this.#timers) {
      if (atMs > this.nowMs) continue;
      this.#timers.delete(timer);
      action();
    }
    input();
    for (const action of this.#soon.splice(0)) {
      action();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

interface Slice {
  reader: number;
  fromMs: number;
  toMs: number;
}

/** Readers that always have work, in pieces of a length of their own. */
class Readers {
  readonly slices: Slice[] = [];
  #isOver = false;
  readonly #done: Promise<unknown>;

  constructor(loop: SimulatedLoop, share: EventLoopShare, pieces: readonly number[]) {
    const read = async (reader: number, pieceMs: number): Promise<void> => {
      while (!this.#isOver) {
        const later = share.slice();
        if (later !== undefined) await later;
        if (later !== undefined) this.slices.push({ reader, fromMs: loop.nowMs, toMs: loop.nowMs });
        loop.nowMs += pieceMs;
        this.slices.at(-1)!.toMs = loop.nowMs;
      }
    };
    this.#done = Promise.all(pieces.map((pieceMs, reader) => read(reader, pieceMs)));
  }

  get heldMs(): number {
    return this.slices.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  }

  /** Ends all of them. */
  async end(loop: SimulatedLoop): Promise<void> {
    this.#isOver = true;
    let isDone = false;
    void this.#done.then(() => (isDone = true));
    for (let at = 0; !isDone; at += 1) {
      expect(at, 'iterations until the readers end').to.be.below(ITERATIONS);
      await loop.iterate(() => (loop.nowMs += 1));
    }
  }
}

/** Readers with pieces of these lengths, after many iterations in which requests never cease. */
async function besideRequests(of: readonly number[]): Promise<{ loop: SimulatedLoop; readers: Readers }> {
  const loop = new SimulatedLoop();
  const share = new EventLoopShare(loop);
  const readers = new Readers(loop, share, of);
  for (let at = 0; at < ITERATIONS; at += 1) {
    await loop.iterate(() => {
      share.requestsWait(true);
      loop.nowMs += STEP_MS;
    });
  }
  return { loop, readers };
}

const pieces = fc.array(fc.double({ min: 0.05, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 });

describe('base/event-loop-share: requests beside readers', () => {
  it('gives readers a third of the loop at least, and each of them its turn, while requests never cease', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (of) => {
        const { loop, readers } = await besideRequests(of);
        // A slice and its reservation may be in progress, and each slice begins up to two steps of requests late.
        const steps = readers.slices.length * 2 * STEP_MS;
        const least = (loop.nowMs - steps) / (1 + REQUESTS_WEIGHT) - SLICE_MS;
        expect(readers.heldMs).to.be.at.least(least);
        const counts = of.map((_, reader) => readers.slices.filter((it) => it.reader === reader).length);
        expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
        await readers.end(loop);
      }),
      { numRuns: 20 },
    );
  });

  it('leaves waiting requests the loop for twice as long as each millisecond of slices, which are short', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (of) => {
        const { loop, readers } = await besideRequests(of);
        const longestPieceMs = Math.max(...of);
        const epsilon = 1e-6;
        expect(readers.slices.length).to.be.at.least(2);
        let heldMs = 0;
        for (const [at, { fromMs, toMs }] of readers.slices.slice(0, -1).entries()) {
          expect(toMs - fromMs).to.be.at.most(SHORT_SLICE_MS + longestPieceMs + epsilon);
          heldMs += toMs - fromMs;
          if (heldMs < SHORT_SLICE_MS) continue;
          expect(readers.slices[at + 1]!.fromMs - toMs).to.be.at.least(REQUESTS_WEIGHT * heldMs - epsilon);
          heldMs = 0;
        }
        await readers.end(loop);
      }),
      { numRuns: 20 },
    );
  });

  it('gives readers the loop as soon as the last request is answered', async () => {
    const loop = new SimulatedLoop();
    const share = new EventLoopShare(loop);
    const readers = new Readers(loop, share, [1]);
    await loop.iterate(() => share.requestsWait(true));
    expect(readers.slices).to.have.length(1);
    await loop.iterate(() => {});
    expect(readers.slices, 'reserved for the request').to.have.length(1);
    await loop.iterate(() => share.requestsWait(false));
    expect(readers.slices, 'in the iteration of the answer').to.have.length(2);
    await readers.end(loop);
  });

  it('gives a reader a slice of full length in each iteration without requests', async () => {
    const loop = new SimulatedLoop();
    const share = new EventLoopShare(loop);
    const readers = new Readers(loop, share, [0.5]);
    const iterations = 50;
    for (let at = 0; at < iterations; at += 1) await loop.iterate(() => {});
    expect(readers.slices).to.have.length(iterations);
    expect(readers.heldMs).to.equal(iterations * SLICE_MS);
    expect(loop.nowMs).to.equal(iterations * SLICE_MS);
    await readers.end(loop);
  });

  it('counts a slice that was interrupted for long as one of full length', async () => {
    const loop = new SimulatedLoop();
    const share = new EventLoopShare(loop);
    const readers = new Readers(loop, share, [1_000]);
    await loop.iterate(() => share.requestsWait(true));
    for (let waitedMs = 0; readers.slices.length === 1; waitedMs += STEP_MS) {
      expect(waitedMs).to.be.at.most(REQUESTS_WEIGHT * SLICE_MS + 2 * STEP_MS);
      await loop.iterate(() => (loop.nowMs += STEP_MS));
    }
    await readers.end(loop);
  });
});
