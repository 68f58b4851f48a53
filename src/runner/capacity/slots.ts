/**
 * How many simulations this machine executes at once: its slots, cores and memory. A slot whose run left something on the
 * machine that cannot be ended (a process that survives SIGKILL, a file system that does not answer) is lost until it is gone:
 * the next run would be one too many, or would end the same way.
 */
import { fits, freeCapacityOf, minus, type FreeCapacity, type ResourceRequest } from '../../domain/scheduling.ts';
import { amountOf, GPU, less, type Counts } from '../../domain/counted/counts.ts';
import type { Log } from '../log.ts';
import { Devices } from '../processes/devices.ts';

/** Remains of an attempt on the machine. */
export interface Remains {
  what: string;
  gone: Promise<void>;
}

/** A slot of one run. Each method takes effect once. */
export interface Slot {
  /** The GPUs that are its own; undefined: the runner pins none. */
  readonly devices?: readonly string[] | undefined;
  /** The processes of the run have ended: the next run may start. The outcome may still be in the making. */
  free(): void;
  /** The attempt is over. A slot with remains is lost until they are gone. */
  close(left: Remains | undefined, about: Record<string, unknown>): void;
}

/** A run that asks for a slot. */
export interface SlotRequest extends ResourceRequest {
  /** Priority of the study; a higher one is served first. */
  priority: number;
}

interface WaitingRequest extends SlotRequest {
  resolve: () => void;
}

/** Attempts beyond the slots whose outcomes may be in the making while the next runs execute. */
const CONCLUDING_PER_SLOT = 1;
const CONCLUDING_AT_LEAST = 4;

export interface SlotOptions {
  slots: number;
  /** Cores and memory in GiB; 0: no limit. */
  cpuCores: number;
  memoryGb: number;
  /** Counted resources, and the GPUs among them; undefined: none. */
  resources?: Counts | undefined;
  devices?: readonly string[] | undefined;
  log: Log;
  onChange: () => void;
}

export class Slots {
  /** Number of slots that are lost now. */
  lost = 0;
  readonly #options: SlotOptions;
  #capacity: FreeCapacity;
  #executing = 0;
  /** Attempts from their slot to their outcome. */
  #open = 0;
  readonly #mostOpen: number;
  readonly #devices: Devices | undefined;
  readonly #waiting: WaitingRequest[] = [];

  constructor(options: SlotOptions) {
    this.#options = options;
    const { slots, cpuCores, memoryGb, resources, devices } = options;
    this.#devices = devices && new Devices(devices);
    this.#mostOpen = slots + Math.max(CONCLUDING_AT_LEAST, slots * CONCLUDING_PER_SLOT);
    this.#capacity = freeCapacityOf(
      {
        max_concurrent_jobs: slots,
        cpu_cores: cpuCores,
        memory_gb: memoryGb,
        gpu_available: false,
        supported_simulation_types: [],
        ...(resources === undefined ? {} : { resources: { ...resources } }),
      },
      [],
    );
  }

  /** How many there are, with those that are lost. */
  get count(): number {
    return this.#options.slots;
  }

  /** How many runs wait for a slot. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** True when such a run could start now. */
  hasRoom(request: SlotRequest): boolean {
    return this.#waiting.length === 0 && this.#mayStart(request);
  }

  /** Resolves when a simulation may start. None overtakes an earlier one of the same priority. */
  async take(request: SlotRequest): Promise<Slot> {
    if (this.#waiting.length === 0 && this.#mayStart(request)) this.#begin(request);
    else {
      await new Promise<void>((resolve) => {
        const at = this.#waiting.findLastIndex((it) => it.priority >= request.priority) + 1;
        this.#waiting.splice(at, 0, { ...request, resolve });
      });
    }
    return this.#slotOf(request);
  }

  #slotOf(request: SlotRequest): Slot {
    let isExecuting = true;
    let isOpen = true;
    const devices = this.#devices?.take(amountOf(request.resources, GPU));
    const end = (): void => {
      // Before the next run is started, which may need them.
      if (devices !== undefined) this.#devices?.giveBack(devices);
      this.#end(request);
    };
    return {
      devices,
      free: () => {
        if (!isExecuting) return;
        isExecuting = false;
        end();
        this.#serve();
      },
      close: (left, about) => {
        if (!isOpen) return;
        isOpen = false;
        if (left === undefined) {
          if (isExecuting) end();
          this.#open -= 1;
          this.#serve();
          return;
        }
        // The next run may have the slot already; then one slot more is taken until the remains are gone.
        const kept = isExecuting ? devices : undefined;
        if (!isExecuting) this.#take(request);
        isExecuting = false;
        this.#lose(left, about, request, kept);
      },
    };
  }

  /** With nothing executing, every run may start whose devices are here: the coordinator has decided that this machine can execute it. */
  #mayStart(request: SlotRequest): boolean {
    if (this.#open >= this.#mostOpen || this.#capacity.slots <= 0) return false;
    return (this.#executing === 0 && request.resources === undefined) || fits(request, this.#capacity);
  }

  #begin(request: SlotRequest): void {
    this.#open += 1;
    this.#take(request);
  }

  #take(request: SlotRequest): void {
    this.#executing += 1;
    this.#capacity = minus(this.#capacity, request);
  }

  #end({ cpuMilli, memoryBytes, resources }: SlotRequest): void {
    this.#executing -= 1;
    const { slots, ...left } = this.#capacity;
    this.#capacity = {
      slots: slots + 1,
      cpuMilli: left.cpuMilli + cpuMilli,
      memoryBytes: left.memoryBytes + memoryBytes,
      resources: less(left.resources, resources, -1),
    };
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#mayStart(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#begin(next);
      next.resolve();
    }
  }

  #lose({ what, gone }: Remains, about: Record<string, unknown>, request: SlotRequest, devices: Slot['devices']): void {
    const { slots, log, onChange } = this.#options;
    this.lost += 1;
    log.error(`a slot is lost, ${String(this.lost)} of ${String(slots)} now: ${what}`, about);
    onChange();
    void gone.then(() => {
      this.lost -= 1;
      if (devices !== undefined) this.#devices?.giveBack(devices);
      this.#end(request);
      this.#open -= 1;
      this.#serve();
      log.info(`a slot is back, ${String(this.lost)} of ${String(slots)} are lost now`, about);
      onChange();
    });
  }
}
