/**
 * The variables of one job: which names are stored and in which column, which are watched, which are refused. Names come
 * from the simulation, so they are looked up as bytes and never become keys of an object.
 */
import { isUtf8 } from 'node:buffer';
import type { Probe } from './early-termination.ts';
import type { TelemetryLimits } from './limits.ts';
import type { LiveSeries } from './live/series.ts';

/** The column of times; a variable cannot have its name. */
export const TIMESTAMP_COLUMN = 'timestamp_ns';

export interface Variable {
  name: string;
  bytes: Uint8Array;
  /** Index of its column, or -1 when it is not stored. */
  column: number;
  /** Judges a value, when a condition names this variable. */
  probe: Probe | undefined;
  /** Its number for histories and derived outputs, or -1 when they do not need it. */
  wanted: number;
  /** True once a value of it has come. */
  seen: boolean;
  /** Values of the variable in the live view; null: the view has no place for them; undefined: no value has arrived. */
  live: LiveSeries | null | undefined;
  /** The tick of its last value, that value and its time, and whether it waits to be stored (see reduction.ts). */
  tick: number;
  distance: number;
  high: number;
  low: number;
  value: number;
  waits: boolean;
}

function newVariable(name: string, bytes: Uint8Array, probe: Probe | undefined): Variable {
  const held = { tick: -Infinity, distance: 0, high: 0, low: 0, value: 0, waits: false };
  return { name, bytes, column: -1, probe, wanted: -1, seen: false, live: undefined, ...held };
}

/** A name the batch does not want: neither stored nor watched, and not counted against any limit. */
const UNWANTED: Variable = newVariable('', new Uint8Array(), undefined);

export class VariableTable {
  /** The stored names, in order of their columns. Grows as variables appear. */
  readonly columns: string[] = [];
  readonly #known = new Map<string, Variable>();
  readonly #limits: TelemetryLimits;
  readonly #open: boolean;
  readonly #probeOf: (name: string) => Probe | undefined;

  /**
   * `selected` are the batch's `telemetry.variables` (empty: all that appear, up to the limit). Watched variables are
   * known from the start, so that no flood of other names can keep a condition from seeing its values. So are those that
   * histories and derived outputs want, with their numbers.
   */
  constructor(
    selected: readonly string[],
    watched: Iterable<string>,
    probeOf: (name: string) => Probe | undefined,
    limits: TelemetryLimits,
    wanted: ReadonlyMap<string, number> = new Map(),
  ) {
    this.#limits = limits;
    this.#open = selected.length === 0;
    this.#probeOf = probeOf;
    for (const name of new Set(selected)) if (name !== '' && name !== TIMESTAMP_COLUMN) this.#add(name, true);
    for (const name of watched) if (!this.#known.has(latin1(name))) this.#add(name, false);
    for (const [name, number] of wanted) {
      const known = this.#known.get(latin1(name)) ?? this.#add(name, false);
      known.wanted = number;
    }
  }

  /** The names of which a value has come, in order of first mention: at most `limit`, conditions' variables not among them. */
  seen(limit: number): string[] {
    const names: string[] = [];
    for (const { name, seen, probe } of this.#known.values()) {
      if (names.length === limit) break;
      if (seen && probe === undefined) names.push(name);
    }
    return names;
  }

  /** The variable with the name in `bytes[start, end)`, or why there is none, as a sentence. Marks it as seen. */
  find(bytes: Buffer, start: number, end: number): Variable | string {
    const found = this.#find(bytes, start, end);
    if (typeof found !== 'string') found.seen = true;
    return found;
  }

  #find(bytes: Buffer, start: number, end: number): Variable | string {
    const size = end - start;
    if (size > this.#limits.maxNameBytes) return `a name of ${size} bytes: the limit is ${this.#limits.maxNameBytes}`;
    const known = this.#known.get(bytes.toString('latin1', start, end));
    if (known !== undefined && (known.column >= 0 || !this.#open)) return known;
    if (!this.#open) return UNWANTED;
    if (size === 0) return 'a value without a name';
    if (!isUtf8(bytes.subarray(start, end))) return 'a name that is not UTF-8';
    const name = bytes.toString('utf8', start, end);
    if (name === TIMESTAMP_COLUMN) return `the name ${TIMESTAMP_COLUMN} is reserved for the time`;
    if (this.columns.length >= this.#limits.maxVariables) {
      return known ?? `one variable too many: the limit is ${this.#limits.maxVariables}`;
    }
    return this.#add(name, true);
  }

  #add(name: string, stored: boolean): Variable {
    const key = latin1(name);
    const bytes = Buffer.from(name, 'utf8');
    const variable = this.#known.get(key) ?? newVariable(name, bytes, this.#probeOf(name));
    if (stored && variable.column < 0) variable.column = this.columns.push(name) - 1;
    this.#known.set(key, variable);
    return variable;
  }
}

/** One character per byte: the same key as the bytes of a message give, without decoding them. */
function latin1(name: string): string {
  return Buffer.from(name, 'utf8').toString('latin1');
}
