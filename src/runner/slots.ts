/**
 * How many simulations this machine executes at once. A slot whose run left something on the machine that cannot be ended
 * (a process that survives SIGKILL, a file system that does not answer) is lost until it is gone: the next run would be
 * one too many, or would end the same way.
 */
import type { Log } from './log.ts';

/** Remains of an attempt on the machine. */
export interface Remains {
  what: string;
  gone: Promise<void>;
}

export type ReleaseSlot = (left: Remains | undefined, about: Record<string, unknown>) => void;

export class Slots {
  /** How many are lost now. */
  lost = 0;
  readonly #size: number;
  readonly #log: Log;
  readonly #onChange: () => void;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number, log: Log, onChange: () => void) {
    this.#size = size;
    this.#log = log;
    this.#onChange = onChange;
  }

  /** Resolves when a simulation may start. Call the result when it has ended. */
  async take(): Promise<ReleaseSlot> {
    if (this.#taken < this.#size) this.#taken += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return (left, about) => {
      if (left === undefined) this.#release();
      else this.#lose(left, about);
    };
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }

  #lose({ what, gone }: Remains, about: Record<string, unknown>): void {
    this.lost += 1;
    this.#log.error(`a slot is lost, ${String(this.lost)} of ${String(this.#size)} now: ${what}`, about);
    this.#onChange();
    void gone.then(() => {
      this.lost -= 1;
      this.#release();
      this.#log.info(`a slot is back, ${String(this.lost)} of ${String(this.#size)} are lost now`, about);
      this.#onChange();
    });
  }
}
