// Client library for simulations in Node: parameters of the run, telemetry, and results.
// Nothing but Node. The types and their meaning are in index.d.ts.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isUnread, NotedParameters, RunConfigError, variable } from './parameters.js';
import { connectTelemetry } from './telemetry.js';

export { RunConfigError };

const BY_HAND =
  'SVC_RUN_CONFIG is not set, so there is no run configuration: this program is started by a simbatch runner. To try it by ' +
  'hand, use `simbatch run-one RUN_CONFIG.json --entrypoint ...`, or set SVC_RUN_CONFIG and SVC_OUTPUT_DIR, or give values ' +
  'to try with: simbatch.run({ defaults: {...} })';

class Run {
  #telemetryUrl;
  #telemetryToken;
  #sender;
  #results;

  constructor(config, parameters, outputDir, telemetryUrl, telemetryToken) {
    this.runId = config.run_id;
    this.parameters = parameters;
    this.metadata = config.metadata;
    this.outputDir = outputDir;
    this.#telemetryUrl = telemetryUrl;
    this.#telemetryToken = telemetryToken;
  }

  get randomSeed() {
    const digest = createHash('sha256')
      .update(`${this.metadata.seed ?? 0}/${this.metadata.sample ?? this.runId}`)
      .digest();
    return digest.readUIntBE(0, 6);
  }

  get droppedSamples() {
    return this.#sender?.dropped ?? 0;
  }

  telemetry(values, { t, timestampNs } = {}) {
    // The connection is made at the first sample: a simulation without telemetry pays nothing for it.
    this.#sender ??= connectTelemetry(this.#telemetryUrl, this.#telemetryToken);
    try {
      this.#sender.send(timestampNs ?? (t === undefined ? now() : nanoseconds(t)), values);
    } catch {
      // E.g. t is NaN, or a value is not a number.
      this.#sender.lose(1);
    }
  }

  result(outputs) {
    this.#write(plain(outputs));
  }

  history(name, values) {
    if (typeof name !== 'string') throw new TypeError('the name of a history is a text');
    const { histories } = this.#written();
    this.#write({ histories: { ...(isObject(histories) ? histories : {}), [name]: historyValues(name, values) } });
  }

  #written() {
    return (this.#results ??= existing(join(this.outputDir, 'metadata.json')));
  }

  #write(members) {
    const path = join(this.outputDir, 'metadata.json');
    const results = { ...this.#written(), ...members };
    const part = join(this.outputDir, `.metadata.json.${process.pid}`);
    writeFileSync(part, `${JSON.stringify(results, null, 2)}\n`);
    // Replaced atomically, so that a concurrent reader never finds a part.
    renameSync(part, path);
    this.#results = results;
  }

  close() {
    this.#sender?.close();
  }
}

let current;

export function run({ defaults } = {}) {
  if (current) return current;
  const path = variable('RUN_CONFIG');
  if (!path && !defaults) throw new RunConfigError(BY_HAND);
  const isFirst = path !== undefined && isUnread(path);
  const config = path ? readRunConfig(path) : { run_id: 0, parameters: {}, metadata: {} };
  const given = Object.keys(config.parameters);
  if (defaults) config.parameters = withDefaults(config.parameters, defaults);
  const outputDir = resolve(variable('OUTPUT_DIR') || 'output');
  mkdirSync(outputDir, { recursive: true });
  const parameters = new NotedParameters(config.parameters, given);
  if (isFirst) parameters.watch(path, outputDir);
  current = new Run(config, parameters.values, outputDir, variable('TELEMETRY_URL'), variable('TELEMETRY_TOKEN'));
  return current;
}

function readRunConfig(path) {
  let config;
  try {
    config = parseExact(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new RunConfigError(`the run configuration ${path} (SVC_RUN_CONFIG) cannot be read: ${error.message}`, {
      cause: error,
    });
  }
  if (!isObject(config)) throw new RunConfigError(`${path}: a run configuration is a JSON object`);
  const { run_id: runId, parameters, metadata = {} } = config;
  if (!Number.isInteger(runId) || runId < 0) throw new RunConfigError(`${path}: run_id must be an integer from 0`);
  if (!isObject(parameters)) throw new RunConfigError(`${path}: parameters must be an object, name -> number`);
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'bigint') parameters[name] = Number(value);
    else if (typeof value !== 'number') throw new RunConfigError(`${path}: parameter ${name} must be a number`);
  }
  if (!isObject(metadata)) throw new RunConfigError(`${path}: metadata must be an object`);
  return { run_id: runId, parameters, metadata };
}

/** JSON whose integers beyond 2^53 become bigint: a seed has up to 63 bits, and none may be lost. */
function parseExact(text) {
  const mark = '\u0000integer:';
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, (found) =>
    found.startsWith('"') ? found : JSON.stringify(mark + found),
  );
  return JSON.parse(marked, (_, value) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const exact = BigInt(value.slice(mark.length));
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  });
}

function withDefaults(parameters, defaults) {
  for (const name of Object.keys(parameters)) {
    if (!Object.hasOwn(defaults, name)) {
      throw new RunConfigError(
        `the study disperses ${name}, which this simulation does not know; it knows: ${Object.keys(defaults).join(', ')}`,
      );
    }
  }
  return { ...defaults, ...parameters };
}

/** Returns the metadata that the simulation wrote itself, which is extended. */
function existing(path) {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8'));
    return isObject(found) ? found : {};
  } catch {
    return {};
  }
}

/** The values of a history in JSON's own types. */
function historyValues(name, values) {
  if (!Array.isArray(values) && !(ArrayBuffer.isView(values) && 'length' in values))
    throw new TypeError(`the history ${name} is a list of numbers`);
  return Array.from(values, (value, index) => {
    if (value === null || Number.isNaN(value)) return null;
    if (typeof value !== 'number')
      throw new TypeError(`${name}[${index}]: a value of a history is a number or null, not ${typeof value}`);
    if (!Number.isFinite(value))
      throw new RangeError(`${name}[${index}]: a value of a history is finite, or NaN where there is none`);
    return value;
  });
}

/** The outputs in JSON's own types. */
function plain(outputs) {
  if (!isObject(outputs)) throw new TypeError('a result is an object, name -> value');
  return JSON.parse(
    JSON.stringify(outputs, (name, value) => {
      if (ArrayBuffer.isView(value) && 'length' in value) return Array.from(value);
      if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value);
      if (value === undefined || ['bigint', 'function', 'symbol'].includes(typeof value)) {
        throw new TypeError(`${name}: a result is a number, a text, a list or an object of them, not ${typeof value}`);
      }
      return value;
    }),
  );
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const now = () => BigInt(Date.now()) * 1_000_000n;

/** Seconds to nanoseconds: a number where that is exact, else a bigint. Throws for what is not finite. */
function nanoseconds(seconds) {
  const rounded = Math.round(seconds * 1e9);
  return Number.isSafeInteger(rounded) ? rounded : BigInt(rounded);
}
