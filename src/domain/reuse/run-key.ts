/**
 * The key of a run: equal for two runs that would compute the same result. docs/code.md describes each byte. Pure.
 */
import { createHash, type Hash } from 'node:crypto';
import type { BatchConfig, CodeIdentity } from '../../contract/types.ts';
import { historyName, pointsOf } from '../histories/points.ts';

/** The members of a study that the keys of its runs contain. */
export type KeyedConfig = Pick<BatchConfig, 'simulation' | 'early_termination' | 'histories' | 'derived'> & {
  compute: { container: Pick<BatchConfig['compute']['container'], 'environment'> };
  telemetry: Pick<BatchConfig['telemetry'], 'sampling_rate_hz' | 'variables'>;
};

/** The members of a key that differ from run to run. */
export interface KeyedRun {
  /** SHA-256 of the code that executes it, 64 hex digits, and the image that it is executed in. */
  code: Pick<CodeIdentity, 'digest' | 'image'>;
  parameters: Readonly<Record<string, number>>;
  /** In [0, 2^48); the seed of the study and the number of the run follow from it. */
  randomSeed: number;
  /** Of an adaptive study: the run whose random draw it has. */
  draw?: number | undefined;
  /** Of a study with scenarios: the levels of its cell, which the simulation can read. */
  scenario?: Readonly<Record<string, string>> | undefined;
}

/** Returns the key of a run, 64 hex digits. */
export function runKey(config: KeyedConfig, { code, parameters, randomSeed, draw, scenario }: KeyedRun): string {
  const key = new KeyWriter(`simbatch-run-key/${versionOf(config)}`);
  key.study(config);
  key.bytes(Buffer.from(code.digest, 'hex'));
  key.text(code.image ?? '');
  const names = sorted(Object.keys(parameters));
  key.count(names.length);
  for (const name of names) {
    key.text(name);
    key.double(parameters[name]!);
  }
  key.double(randomSeed);
  key.double(draw ?? -1);
  if (scenario !== undefined) {
    const axes = sorted(Object.keys(scenario));
    key.count(axes.length);
    for (const axis of axes) {
      key.text(axis);
      key.text(scenario[axis]!);
    }
  }
  return key.digest();
}

/**
 * Returns the digest of the members of a key that all runs of a study share, with its seed: runs of studies with other digests have other
 * keys. 64 hex digits.
 * @param seed the seed in use, in decimal digits.
 */
export function keyGroup(config: KeyedConfig, seed: string): string {
  const key = new KeyWriter(`simbatch-key-group/${versionOf(config)}`);
  key.study(config);
  key.text(seed);
  return key.digest();
}

/** 2 for a study with histories or derived outputs, whose keys contain them. */
const versionOf = ({ histories, derived }: KeyedConfig): 1 | 2 =>
  (histories?.length ?? 0) + (derived?.length ?? 0) === 0 ? 1 : 2;

/** Writes the members of a key: a text as its length and its UTF-8 bytes, numbers in little-endian order. */
class KeyWriter {
  readonly #hash: Hash;

  constructor(format: string) {
    this.#hash = createHash('sha256').update(`${format}\0`, 'latin1');
  }

  study(config: KeyedConfig): void {
    const { simulation, compute, early_termination: rules, telemetry } = config;
    this.text(simulation.name);
    this.text(simulation.version);
    this.double(simulation.duration_minutes);
    const environment = compute.container.environment ?? {};
    const names = sorted(Object.keys(environment));
    this.count(names.length);
    for (const name of names) {
      this.text(name);
      this.text(environment[name]!);
    }
    // Rules that are not evaluated have no effect.
    const conditions = rules.enabled ? rules.conditions : [];
    this.count(conditions.length);
    for (const { variable, condition, description } of conditions) {
      this.text(variable);
      this.text(condition);
      this.text(description);
    }
    this.count(conditions.length > 0 && rules.shadow === true ? 1 : 0);
    this.double(telemetry.sampling_rate_hz);
    const variables = sorted(new Set(telemetry.variables));
    this.count(variables.length);
    for (const name of variables) this.text(name);
    if (versionOf(config) === 2) this.#histories(config);
  }

  #histories({ histories, derived }: KeyedConfig): void {
    this.count(histories?.length ?? 0);
    for (const history of histories ?? []) {
      const { variable, at, interpolation = 'linear', origin = '' } = history;
      for (const it of [historyName(history), variable, interpolation, origin]) this.text(it);
      this.doubles(pointsOf(at));
    }
    this.count(derived?.length ?? 0);
    for (const {
      name,
      take = '',
      telemetry = '',
      while: condition = '',
      at = '',
      band = [],
      expression = '',
    } of derived ?? []) {
      for (const it of [name, take, telemetry, condition, at, expression]) this.text(it);
      this.doubles(band);
    }
  }

  bytes(value: Uint8Array): void {
    this.#hash.update(value);
  }

  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8');
    this.count(bytes.length);
    this.#hash.update(bytes);
  }

  count(value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    this.#hash.update(bytes);
  }

  double(value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#hash.update(bytes);
  }

  doubles(values: ArrayLike<number>): void {
    this.count(values.length);
    for (let at = 0; at < values.length; at += 1) this.double(values[at]!);
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}

/** In the order of their UTF-8 bytes, which is the same in every language. */
const sorted = (texts: Iterable<string>): string[] =>
  [...texts].sort((a, b) => Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')));
