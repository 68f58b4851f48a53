/**
 * Credentials from the exec plugin of a kubeconfig, kept until they expire. Source: Kubernetes, client.authentication.k8s.io/v1,
 * ExecCredential.
 */
import type { Clock } from '../../../base/clock.ts';
import { EngineUnreachable, oneLine } from '../../engine.ts';
import { ProgramFailed, runProgram } from '../../../base/programs.ts';

export interface ExecPlugin {
  apiVersion?: string;
  command: string;
  args?: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface Credential {
  token?: string;
  certificate?: { cert: Buffer; key: Buffer };
  /** Milliseconds since the epoch; undefined: as long as the server accepts it. */
  expiresAtMs?: number;
}

const PLUGIN_MS = 30_000;
/** An expired credential is replaced a little before its end. */
const EARLY_MS = 30_000;

export class ExecCredentials {
  readonly #plugin: ExecPlugin;
  readonly #clock: Clock;
  readonly #env: Readonly<Record<string, string | undefined>>;
  #known: Promise<Credential> | undefined;

  constructor(plugin: ExecPlugin, clock: Clock, env: Readonly<Record<string, string | undefined>>) {
    this.#plugin = plugin;
    this.#clock = clock;
    this.#env = env;
  }

  /** @throws EngineUnreachable when the plugin gives none */
  async get(): Promise<Credential> {
    const known = await this.#known?.catch(() => undefined);
    const isValid = known !== undefined && (known.expiresAtMs ?? Infinity) - EARLY_MS > this.#clock.now();
    if (isValid) return known;
    this.#known = this.#run();
    return this.#known;
  }

  /** The server has refused it. */
  forget(): void {
    this.#known = undefined;
  }

  async #run(): Promise<Credential> {
    const { command, args = [], env, apiVersion = 'client.authentication.k8s.io/v1' } = this.#plugin;
    const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
    const failed = (why: string): EngineUnreachable =>
      new EngineUnreachable(`the exec plugin ${command} of the kubeconfig gave no credential: ${why}`);
    let printed: string;
    try {
      const result = await runProgram(this.#clock, {
        command: [command, ...args],
        env: { ...this.#env, ...env, KUBERNETES_EXEC_INFO: info },
        timeoutMs: PLUGIN_MS,
      });
      if (result.code !== 0) throw failed(oneLine(result.stderr) || `exit code ${String(result.code)}`);
      printed = result.stdout;
    } catch (error) {
      throw error instanceof ProgramFailed ? failed(error.message) : error;
    }
    return (
      credentialOf(printed) ?? Promise.reject(failed('its answer is not an ExecCredential with a token or certificate'))
    );
  }
}

function credentialOf(text: string): Credential | undefined {
  try {
    const { kind, status = {} } = JSON.parse(text) as { kind?: string; status?: Record<string, string | undefined> };
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp: expires } = status;
    if (kind !== 'ExecCredential') return undefined;
    const credential: Credential = {};
    if (token !== undefined) credential.token = token;
    if (cert !== undefined && key !== undefined)
      credential.certificate = { cert: Buffer.from(cert), key: Buffer.from(key) };
    const expiresAtMs = expires === undefined ? NaN : Date.parse(expires);
    if (!Number.isNaN(expiresAtMs)) credential.expiresAtMs = expiresAtMs;
    return credential.token === undefined && credential.certificate === undefined ? undefined : credential;
  } catch {
    return undefined;
  }
}
