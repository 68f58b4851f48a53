/**
 * Early termination: a batch's conditions, parsed once and judged over every sample of a job. It says that a condition
 * is met and which; killing the process is the caller's.
 */
import { meets, parseCondition, type ParsedCondition } from '../../domain/study/condition.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { EarlyTerminationConfig, Termination } from '../../contract/types.ts';

/** The highest frequency of checks, and the one meant by a `check_frequency_hz` of 0 (as often as can be). */
export const MAX_CHECK_FREQUENCY_HZ = 1000;

/** The first sample that met a condition. */
export interface ConditionHit {
  /** The condition as submitted, e.g. `< 0`. */
  condition: string;
  variable: string;
  value: number;
  /** Telemetry time of the sample. */
  timestampNs: bigint;
  description: string;
}

/** Passes one value of the probe's variable to the watchdog. Only a hit reads the time. */
export type Probe = (value: number, at: { readonly timestampNs: bigint }) => void;

/** The part of the runner's world a watchdog needs. */
export interface Ticker {
  every(ms: number, action: () => void): () => void;
}

interface Rule extends ParsedCondition {
  text: string;
  description: string;
}

/**
 * Evaluates each value when it arrives, at the cost of a comparison, and reports at the next check: so no dip between
 * two checks is missed, however low the frequency. The first hit in order of arrival wins (within one sample, the
 * order of its values, then of the conditions), and it is reported once.
 */
export class Watchdog {
  readonly #rules = new Map<string, Rule[]>();
  readonly #periodMs: number;
  readonly #onHit: (hit: ConditionHit) => void;
  #stop: (() => void) | undefined;
  readonly #seen = new Set<string>();
  /** True when a hit is recorded and nothing is killed for it. */
  readonly shadow: boolean;
  #hit: ConditionHit | undefined;
  #reported = false;

  /**
   * A configuration with `enabled: false` evaluates no condition. A frequency of 0, below 0, above MAX_CHECK_FREQUENCY_HZ or not finite
   * is taken as MAX_CHECK_FREQUENCY_HZ. Throws `invalid-configuration` for a condition that cannot be read: the
   * coordinator refuses those at submission, so a runner meets one only from elsewhere.
   */
  constructor(config: EarlyTerminationConfig, onHit: (hit: ConditionHit) => void) {
    const frequencyHz = config.check_frequency_hz;
    const usable = frequencyHz > 0 && frequencyHz <= MAX_CHECK_FREQUENCY_HZ;
    this.#periodMs = 1000 / (usable ? frequencyHz : MAX_CHECK_FREQUENCY_HZ);
    this.#onHit = onHit;
    this.shadow = config.shadow === true;
    if (!config.enabled) return;
    for (const [index, { variable, condition, description }] of config.conditions.entries()) {
      const parsed = parseCondition(condition);
      if (typeof parsed === 'string') {
        const pointer = `/early_termination/conditions/${index}/condition`;
        throw new SimbatchError('invalid-configuration', `The condition on ${JSON.stringify(variable)} ${parsed}`, {
          faults: [{ pointer, detail: parsed }],
        });
      }
      const rules = this.#rules.get(variable) ?? [];
      rules.push({ ...parsed, text: condition.trim(), description });
      this.#rules.set(variable, rules);
    }
  }

  /** The variables that conditions name; none when early termination is off. */
  get variables(): Iterable<string> {
    return this.#rules.keys();
  }

  /** The first hit so far, reported or not. */
  get hit(): ConditionHit | undefined {
    return this.#hit;
  }

  /** The variables of conditions of which at least one number (not NaN) has come: those that were really judged. */
  get seen(): Iterable<string> {
    return this.#seen;
  }

  /** Returns the function to call with every value of `variable`; undefined when no condition names it. */
  probe(variable: string): Probe | undefined {
    const rules = this.#rules.get(variable);
    if (rules === undefined) return undefined;
    let seen = false;
    return (value, at) => {
      // NaN meets no condition: a variable that is always NaN was never judged.
      if (!seen && !Number.isNaN(value)) {
        seen = true;
        this.#seen.add(variable);
      }
      if (this.#hit !== undefined) return;
      const met = rules.find((rule) => meets(rule, value));
      if (met === undefined) return;
      const { text: condition, description } = met;
      this.#hit = { condition, variable, value, timestampNs: at.timestampNs, description };
    };
  }

  /** Begins to check. Without conditions there is nothing to check and no timer. */
  start(ticker: Ticker): void {
    if (this.#rules.size === 0 || this.#stop !== undefined) return;
    this.#stop = ticker.every(this.#periodMs, () => {
      this.check();
    });
  }

  /** Reports a hit that has not been reported; then there is nothing more to watch. */
  check(): void {
    if (this.#hit === undefined || this.#reported) return;
    this.#reported = true;
    this.stop();
    if (!this.shadow) this.#onHit(this.#hit);
  }

  /** Ends the checks at their times. A last `check()` is the caller's, so that how a run ends does not hang on a tick. */
  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}

const NS_PER_S = 1_000_000_000n;

/** A hit as it is reported: `terminated_by` or, with `shadow`, `would_terminate`. */
export function terminationOf(hit: ConditionHit): Termination {
  const { condition, variable, value, timestampNs, description } = hit;
  // JSON has no infinity; the error message names it.
  return {
    condition,
    variable,
    value: Number.isFinite(value) ? value : null,
    time_s: Number(timestampNs) / Number(NS_PER_S),
    description,
  };
}

/** The `error_message` of a job killed for this hit. */
export function describeHit(hit: ConditionHit): string {
  const because = hit.description.trim() === '' ? '' : `${hit.description.trim()}: `;
  return (
    `terminated early: ${because}${hit.variable} ${hit.condition} was met by ${hit.variable} = ${hit.value} ` +
    `at telemetry time ${seconds(hit.timestampNs)} s (${hit.timestampNs} ns)`
  );
}

/** Nanoseconds as decimal seconds, exactly and without trailing zeros. */
function seconds(timestampNs: bigint): string {
  const size = timestampNs < 0n ? -timestampNs : timestampNs;
  const fraction = (size % NS_PER_S).toString().padStart(9, '0').replace(/0+$/, '');
  return `${timestampNs < 0n ? '-' : ''}${size / NS_PER_S}${fraction === '' ? '' : `.${fraction}`}`;
}
