/** Finds the API server and the credential of a context: kubeconfig files, or the service account of the launcher's own pod. */
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { EngineRefused } from '../../engine.ts';
import type { ExecPlugin } from './exec-credential.ts';

/** An API server and how it is trusted. */
export interface Cluster {
  server: URL;
  /** PEM; undefined: the authorities of the system. */
  ca: Buffer | undefined;
  serverName: string | undefined;
}

/** How the launcher proves its identity. One of the members is given, or none. */
export interface Identity {
  token?: string;
  /** File of the token, read again before each use: the platform replaces it. */
  tokenFile?: string;
  certificate?: { cert: Buffer; key: Buffer };
  exec?: ExecPlugin;
}

export interface Connection {
  cluster: Cluster;
  identity: Identity;
}

interface Named<T> {
  name: string;
  value: T;
}
interface ClusterEntry {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
}
interface UserEntry {
  token?: string;
  tokenFile?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  exec?: Omit<ExecPlugin, 'env'> & { env?: { name: string; value: string }[] | null };
  username?: string;
  'auth-provider'?: unknown;
}
interface ContextEntry {
  cluster?: string;
  user?: string;
}

export interface Sources {
  env: Readonly<Record<string, string | undefined>>;
  /** Where a relative path of `kubeconfig` starts. */
  baseDirectory: string;
  kubeconfig: string | undefined;
  context: string | undefined;
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** @throws EngineRefused naming the file, the entry and the remedy */
export async function readConnection(sources: Sources): Promise<Connection> {
  const { env, baseDirectory, kubeconfig, context } = sources;
  const given = kubeconfig === undefined ? env['KUBECONFIG'] : resolve(baseDirectory, kubeconfig);
  if (given === undefined || given === '') {
    const own = await inCluster(env);
    if (own !== undefined && context === undefined) return own;
  }
  const files =
    given === undefined || given === ''
      ? [resolve(env['HOME'] ?? '/', '.kube/config')]
      : given.split(delimiter).filter((it) => it !== '');
  return new Files(await Promise.all(files.map(readYaml))).connection(context);
}

async function inCluster(env: Sources['env']): Promise<Connection | undefined> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined) return undefined;
  try {
    const server = new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`);
    const ca = await readFile(`${ACCOUNT}/ca.crt`);
    return { cluster: { server, ca, serverName: undefined }, identity: { tokenFile: `${ACCOUNT}/token` } };
  } catch {
    return undefined;
  }
}

interface ConfigFile {
  path: string;
  content: Record<string, unknown>;
}

async function readYaml(path: string): Promise<ConfigFile> {
  try {
    const content: unknown = parse(await readFile(path, 'utf8'));
    if (typeof content === 'object' && content !== null) return { path, content: content as Record<string, unknown> };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new EngineRefused(`the kubeconfig ${path} cannot be read: ${why}; name another in kubeconfig or KUBECONFIG`, {
      cause: error,
    });
  }
  throw new EngineRefused(`the kubeconfig ${path} cannot be read: it is not a mapping; name another`);
}

/** Files that complement each other; the first that has an entry counts. */
class Files {
  readonly #files: readonly ConfigFile[];

  constructor(files: readonly ConfigFile[]) {
    this.#files = files;
  }

  async connection(wanted: string | undefined): Promise<Connection> {
    const current = this.#files
      .map((it) => it.content['current-context'])
      .find((it) => typeof it === 'string' && it !== '');
    const name = wanted ?? (current as string | undefined);
    if (name === undefined) throw this.#refusal('has no current-context; name a context in the section `kubernetes`');
    const { value: context } = this.#entry<ContextEntry>('contexts', 'context', name);
    const cluster = this.#entry<ClusterEntry>('clusters', 'cluster', context.cluster ?? '');
    const user = this.#entry<UserEntry>('users', 'user', context.user ?? '');
    return { cluster: await this.#cluster(cluster), identity: await this.#identity(user) };
  }

  #entry<T>(list: string, member: string, name: string): Named<T> & { folder: string } {
    for (const { path, content } of this.#files) {
      const entries = (content[list] ?? []) as ({ name?: string } & Record<string, unknown>)[];
      const found = Array.isArray(entries) ? entries.find((it) => it.name === name) : undefined;
      if (found !== undefined) return { name, value: (found[member] ?? {}) as T, folder: dirname(path) };
    }
    throw this.#refusal(`has no ${member} ${JSON.stringify(name)}; name another`);
  }

  async #cluster({ name, value, folder }: Named<ClusterEntry> & { folder: string }): Promise<Cluster> {
    const unusable = (why: string): EngineRefused => this.#refusal(`has the cluster ${name}, which ${why}`);
    if (value['insecure-skip-tls-verify'] === true) {
      throw unusable('skips the verification of the server; give it a certificate-authority instead');
    }
    if (value['proxy-url'] !== undefined)
      throw unusable('is reached by a proxy; run the launcher where none is needed');
    if (value.server === undefined || !URL.canParse(value.server)) throw unusable('has no address; set its server');
    const server = new URL(value.server);
    const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(server.hostname);
    if (server.protocol !== 'https:' && !isLocal) throw unusable('is not reached by https; set an https address');
    return {
      server,
      ca: await this.#data(value['certificate-authority-data'], value['certificate-authority'], folder),
      serverName: value['tls-server-name'],
    };
  }

  async #identity({ name, value, folder }: Named<UserEntry> & { folder: string }): Promise<Identity> {
    const unusable = (why: string): EngineRefused => this.#refusal(`has the user ${name}, which ${why}`);
    if (value['auth-provider'] !== undefined) throw unusable('has an auth-provider; use its exec plugin instead');
    if (value.username !== undefined) throw unusable('has a password; use a token or a certificate instead');
    if (value.exec !== undefined) {
      const { exec } = value;
      if (typeof exec.command !== 'string') throw unusable('has an exec plugin without a command; correct it');
      const env = Object.fromEntries((exec.env ?? []).map((it) => [it.name, it.value]));
      // A command with a path is beside the file that names it.
      const command = exec.command.includes('/') ? resolve(folder, exec.command) : exec.command;
      return { exec: { ...exec, command, args: exec.args ?? [], env } };
    }
    const cert = await this.#data(value['client-certificate-data'], value['client-certificate'], folder);
    const key = await this.#data(value['client-key-data'], value['client-key'], folder);
    if (cert !== undefined && key !== undefined) return { certificate: { cert, key } };
    if (value.token !== undefined) return { token: value.token };
    return value.tokenFile === undefined ? {} : { tokenFile: resolve(folder, value.tokenFile) };
  }

  async #data(inline: string | undefined, path: string | undefined, folder: string): Promise<Buffer | undefined> {
    if (inline !== undefined) return Buffer.from(inline, 'base64');
    if (path === undefined) return undefined;
    try {
      return await readFile(resolve(folder, path));
    } catch (error) {
      throw this.#refusal(`names ${resolve(folder, path)}, which cannot be read; correct the path`, error);
    }
  }

  #refusal(why: string, cause?: unknown): EngineRefused {
    const names = this.#files.map((it) => it.path).join(', ');
    return new EngineRefused(`the kubeconfig ${names} ${why}`, { cause });
  }
}
