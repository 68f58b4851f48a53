/** Slices of the event loop that are granted one by one, and counted: work that does not wait for its slice has two of them. */
import type { EventLoopShare } from '../../src/base/event-loop-share.ts';

export class CountedSlices {
  /** Slices that were asked for. */
  asked = 0;
  /** Slices that were asked for and not granted yet, and the most at a time. */
  pending = 0;
  mostPending = 0;

  /** Takes the place of the slices of this share. */
  constructor(share: EventLoopShare) {
    share.slice = () => {
      this.asked += 1;
      this.pending += 1;
      this.mostPending = Math.max(this.mostPending, this.pending);
      return new Promise((resolve) => {
        setImmediate(() => {
          this.pending -= 1;
          resolve();
        });
      });
    };
  }
}
