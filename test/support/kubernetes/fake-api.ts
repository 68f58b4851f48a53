/**
 * A Kubernetes API server for tests, in memory and without validation: Jobs, pods, Secrets and nodes of one namespace. It binds each
 * pod to `node-1`, and follows pods with their Jobs as the controllers of a cluster do.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Resource = any;

export class FakeKubernetes {
  readonly namespace = 'sims';
  /** `METHOD path?query`, in order. */
  readonly requests: string[] = [];
  /** Answers of the next requests of the launcher in place of the real ones; 0 breaks the connection after the effect, -1 leaves the real answer. */
  readonly next: number[] = [];
  /** Requests whose connection breaks before they have an effect. */
  broken: RegExp | undefined;
  token = 'admin-token';
  #server: Server | undefined;
  readonly objects = new Map<string, Resource>();

  get url(): string {
    const { port } = (this.#server as Server).address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}`;
  }

  async start(port = 0): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response)).listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const body = await text(request);
    this.requests.push(`${method} ${url}`);
    const isKnown = request.headers.authorization === `Bearer ${this.token}`;
    if (this.broken?.test(`${method} ${url}`) === true) return void request.socket.destroy();
    const isOfNode = /fieldSelector|\/status|\/nodes/.test(url);
    const forced = isOfNode ? undefined : this.next.shift();
    const [status, value] =
      forced !== undefined && forced > 0
        ? [forced, refusal('it is busy')]
        : isKnown
          ? this.#handle(method, new URL(url, 'http://x'), body === '' ? {} : JSON.parse(body))
          : [401, refusal('Unauthorized')];
    if (forced === 0) return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }

  #handle(method: string, { pathname, searchParams }: URL, body: Resource): [number, unknown] {
    if (pathname === '/version') return [200, { gitVersion: 'v0-fake' }];
    const [, namespace, kind = '', name, isStatus] =
      /^\/(?:apis\/batch\/v1|api\/v1)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(\/status)?$/.exec(pathname) ??
      [];
    if (namespace !== undefined && namespace !== this.namespace)
      return [404, refusal(`namespaces "${namespace}" not found`)];
    const key = `${kind}/${name ?? body.metadata?.name ?? ''}`;
    const known = this.objects.get(key);
    if (method === 'GET' && name === undefined) return [200, this.#list(kind, searchParams)];
    if (method === 'POST') {
      if (known !== undefined) return [409, refusal(`${kind} "${String(body.metadata.name)}" already exists`)];
      if (searchParams.get('dryRun') !== 'All') this.#create(key, body);
      return [201, body];
    }
    if (known === undefined) return [404, refusal(`${kind} "${name ?? ''}" not found`)];
    if (method === 'PATCH') {
      const part = isStatus === undefined ? 'spec' : 'status';
      Object.assign((known[part] ??= {}), body[part]);
    }
    if (method === 'DELETE') this.#delete(key, known, body.gracePeriodSeconds as number | undefined);
    this.#control();
    return [200, known];
  }

  #create(key: string, body: Resource): void {
    body.metadata = { ...body.metadata, uid: randomUUID(), creationTimestamp: new Date().toISOString() };
    if (body.kind === 'Secret') {
      body.data = Object.fromEntries(
        Object.entries(body.stringData as Record<string, string>).map(([name, it]) => [
          name,
          Buffer.from(it).toString('base64'),
        ]),
      );
    }
    this.objects.set(key, body);
    this.#control();
  }

  #delete(key: string, known: Resource, grace: number | undefined): void {
    if (known.kind !== 'Pod' || grace === 0) this.objects.delete(key);
    else {
      known.metadata.deletionTimestamp = new Date().toISOString();
      known.metadata.deletionGracePeriodSeconds = grace ?? known.spec.terminationGracePeriodSeconds;
    }
  }

  /** Makes the pods of Jobs, ends Jobs with their pods, and removes the possessions of deleted Jobs. */
  #control(): void {
    for (const job of this.#all('jobs')) {
      const key = `pods/${String(job.metadata.name)}-abcde`;
      const pod = this.objects.get(key);
      job.status ??= {};
      if (pod === undefined && job.spec.suspend !== true && job.status.conditions === undefined) {
        const { metadata, spec } = structuredClone(job.spec.template);
        const owner = { uid: job.metadata.uid };
        metadata.ownerReferences = [owner];
        const full = { ...metadata, name: key.slice(5), namespace: this.namespace, uid: randomUUID() };
        const status = { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] };
        this.objects.set(key, { kind: 'Pod', metadata: full, spec: { ...spec, nodeName: 'node-1' }, status });
      }
      if (pod?.status.phase === 'Succeeded') job.status.conditions = [{ type: 'Complete', status: 'True' }];
      if (pod?.status.phase === 'Failed')
        job.status.conditions = [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }];
    }
    const uids = new Set(this.#all('jobs').map((it) => it.metadata.uid as string));
    for (const [key, it] of this.objects) {
      const owner = it.metadata.ownerReferences?.[0]?.uid as string | undefined;
      if (owner !== undefined && !uids.has(owner) && it.metadata.deletionTimestamp === undefined)
        this.#delete(key, it, undefined);
    }
  }

  #all(kind: string): Resource[] {
    return [...this.objects].filter(([key]) => key.startsWith(`${kind}/`)).map(([, it]) => it);
  }

  #list(kind: string, query: URLSearchParams): object {
    const [label = '', value] = (query.get('labelSelector') ?? '').split('=');
    const node = query.get('fieldSelector')?.split('=')[1];
    const all = this.#all(kind).filter(
      (it) =>
        (label === '' || it.metadata.labels?.[label] === value) && (node === undefined || it.spec.nodeName === node),
    );
    const from = Number(query.get('continue') ?? 0);
    const to = from + Number(query.get('limit') ?? all.length);
    return { items: all.slice(from, to), metadata: to < all.length ? { continue: String(to) } : {} };
  }
}

const refusal = (message: string): object => ({ kind: 'Status', status: 'Failure', message });
