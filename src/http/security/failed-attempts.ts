/** Counts refused credentials per address in bounded memory and without a timer. */

/** Refusals per minute; beyond it the address must wait until the minute is over. */
const ALLOWED = 20;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

interface Window {
  endsAtMs: number;
  failures: number;
}

export class FailedAttempts {
  readonly #now: () => number;
  readonly #windows = new Map<string, Window>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts one refusal. Returns 0, or the ms to wait when there were too many. */
  count(address: string): number {
    const now = this.#now();
    const place = neighbourhood(address);
    let window = this.#windows.get(place);
    if (window === undefined || now >= window.endsAtMs || window.endsAtMs - now > WINDOW_MS) {
      this.#windows.delete(place);
      // A Map iterates in insertion order: the first window ends soonest.
      if (this.#windows.size >= MAX_ADDRESSES) this.#windows.delete(this.#windows.keys().next().value as string);
      window = { endsAtMs: now + WINDOW_MS, failures: 0 };
      this.#windows.set(place, window);
    }
    window.failures += 1;
    return window.failures > ALLOWED ? window.endsAtMs - now : 0;
  }
}

/** One machine owns a whole /64 of IPv6 addresses. */
function neighbourhood(address: string): string {
  const isIpv6 = address.includes(':') && !address.includes('.');
  return isIpv6 ? address.split(':').slice(0, 4).join(':') : address;
}
