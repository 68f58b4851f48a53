/** The Kubernetes engine: one allocation is one Job of one pod, found again by labels, ended by its deletion. */
import {
  EngineRefused,
  EngineUnreachable,
  errorLine,
  type AllocationRequest,
  type CheckResult,
  type Engine,
  type EngineAllocation,
  type EngineContext,
  type EngineModule,
  type EngineView,
  type Submitted,
} from '../../engine.ts';
import type { QueueConfig } from '../../settings.ts';
import { stringify } from 'yaml';
import { KubernetesApi, reasonOf, type ApiAnswer } from './api.ts';
import { faultsOf } from './faults.ts';
import { jobName, jobOf, LABELS, secretOf } from './job.ts';
import { KubernetesSection, mismatchOf, sectionFaults } from './section.ts';
import { allocationsOf } from './states.ts';

/** A call of 30 s, and the minute that the server gives a request at most. */
const SETTLE_MS = 100_000;
/** Time to leave for pods that are to end at once. */
const NOW_SECS = 5;
const BACKGROUND = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };

export const kubernetesEngine: EngineModule<typeof KubernetesSection> = {
  name: 'kubernetes',
  section: KubernetesSection,
  faults: (queue) => sectionFaults(queue),
  mismatch: (queue, need) => mismatchOf(queue, need),
  open: (context) => new KubernetesEngine(context),
};

type Queue = QueueConfig<KubernetesSection>;

/** A namespace of a cluster, with the queues that use it. */
interface Part {
  api: KubernetesApi;
  namespace: string;
  queues: Queue[];
}

class KubernetesEngine implements Engine {
  readonly settleMs = SETTLE_MS;
  readonly #context: EngineContext<KubernetesSection>;
  readonly #parts: readonly Part[];

  constructor(context: EngineContext<KubernetesSection>) {
    this.#context = context;
    const { clock, env, baseDirectory } = context;
    const apis = new Map<string, KubernetesApi>();
    const parts = new Map<string, Part>();
    for (const queue of context.queues) {
      const { kubeconfig, context: name, namespace } = queue.section;
      const way = JSON.stringify([kubeconfig, name]);
      const api = apis.get(way) ?? new KubernetesApi({ env, baseDirectory, kubeconfig, context: name }, clock);
      apis.set(way, api);
      const key = JSON.stringify([way, namespace]);
      const part = parts.get(key) ?? { api, namespace, queues: [] };
      part.queues.push(queue);
      parts.set(key, part);
    }
    this.#parts = [...parts.values()];
  }

  async list(): Promise<EngineView> {
    const views = await Promise.all(this.#parts.map((part) => this.#view(part)));
    return { allocations: views.flatMap((it) => it.allocations), silent: views.flatMap((it) => it.silent) };
  }

  async submit(request: AllocationRequest): Promise<Submitted> {
    const { part, queue } = this.#of(request.queue);
    const { api } = part;
    const name = jobName(request.id);
    const job = await this.#createJob(part, queue, request);
    if (request.token === undefined) return { handle: name };
    try {
      const { uid } = (job['metadata'] ?? {}) as { uid?: string };
      const secret = secretOf(this.#context.launcher, queue, request, uid);
      const made = await api.request('POST', core(part, 'secrets'), { body: secret });
      if (made.status >= 300 && made.status !== 409) throw this.#refused(made, queue, request);
      const options = { body: { spec: { suspend: false } }, type: 'application/merge-patch+json' };
      const resumed = await api.request('PATCH', `${batch(part)}/${name}`, options);
      if (resumed.status >= 300) throw this.#refused(resumed, queue, request);
    } catch (error) {
      // A Job without its token must not stay.
      if (error instanceof EngineRefused) await this.#deleteJob(part, name);
      throw error;
    }
    return { handle: name };
  }

  async stop(allocations: readonly EngineAllocation[], now: boolean): Promise<void> {
    for (const part of this.#parts) {
      const names = new Set(part.queues.map((it) => it.name));
      const own = allocations.filter((it) => names.has(it.queue));
      for (const { id } of own) await this.#deleteJob(part, jobName(id));
      if (now && own.length > 0) await this.#deletePods(part, new Set(own.map((it) => it.id)));
    }
  }

  async check(requests: readonly AllocationRequest[]): Promise<CheckResult[]> {
    const results: CheckResult[] = [];
    for (const request of requests) {
      const { queue } = request;
      try {
        results.push(...(await this.#checkOne(request)));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        results.push({ queue, isFault: true, message: `the queue ${queue} cannot be checked: ${why}` });
      }
    }
    return results;
  }

  script(request: AllocationRequest): string {
    const { queue } = this.#of(request.queue);
    return stringify(jobOf(this.#context.launcher, queue, request), { lineWidth: 0, aliasDuplicateObjects: false });
  }

  async #view(part: Part): Promise<EngineView> {
    const { api, queues } = part;
    try {
      const query = { labelSelector: `${LABELS.launcher}=${this.#context.launcher}` };
      // The pods first: a Job that is made in between has no pod yet, and not a pod no Job.
      const pods = await api.list(core(part, 'pods'), query);
      const jobs = await api.list(batch(part), query);
      const nowMs = this.#context.clock.now();
      const found = allocationsOf(jobs.items, pods.items, { serverMs: jobs.serverMs ?? nowMs, nowMs });
      for (const { allocation, isHopeless } of found) {
        // A Job that has failed for good would hold its cores; the next round tries to delete it again.
        if (isHopeless) await this.#deleteJob(part, jobName(allocation.id)).catch(() => {});
      }
      return { allocations: found.map((it) => it.allocation), silent: [] };
    } catch (error) {
      const why = errorLine(error);
      return { allocations: [], silent: queues.map(({ name }) => ({ queue: name, why })) };
    }
  }

  /** The Job, new or of the same allocation. */
  async #createJob(part: Part, queue: Queue, request: AllocationRequest): Promise<Record<string, unknown>> {
    const body = jobOf(this.#context.launcher, queue, request);
    const made = await part.api.request('POST', batch(part), { body, query: { fieldValidation: 'Strict' } });
    if (made.status < 300) return made.body;
    if (made.status !== 409) throw this.#refused(made, queue, request);
    const known = await part.api.request('GET', `${batch(part)}/${jobName(request.id)}`);
    const { labels = {} } = (known.body['metadata'] ?? {}) as { labels?: Record<string, string> };
    if (known.status === 200 && labels[LABELS.allocation] === request.id) return known.body;
    throw known.status === 404 ? new EngineUnreachable(reasonOf(made)) : this.#refused(made, queue, request);
  }

  async #deleteJob(part: Part, name: string): Promise<void> {
    const answer = await part.api.request('DELETE', `${batch(part)}/${name}`, { body: BACKGROUND });
    if (answer.status === 409) return;
    throwUnlessGone(`the Job ${name}`, answer);
  }

  /** All that can be; @throws EngineUnreachable about one of the others */
  async #deletePods(part: Part, ids: ReadonlySet<string>): Promise<void> {
    const query = { labelSelector: `${LABELS.launcher}=${this.#context.launcher}` };
    const { items } = await part.api.list(core(part, 'pods'), query);
    const answers = new Map<string, ApiAnswer>();
    for (const { metadata } of items as { metadata?: { name?: string; labels?: Record<string, string> } }[]) {
      if (metadata?.name === undefined || !ids.has(metadata.labels?.[LABELS.allocation] ?? '')) continue;
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: NOW_SECS };
      answers.set(metadata.name, await part.api.request('DELETE', `${core(part, 'pods')}/${metadata.name}`, { body }));
    }
    for (const [name, answer] of answers) throwUnlessGone(`the pod ${name}`, answer);
  }

  async #checkOne(request: AllocationRequest): Promise<CheckResult[]> {
    const { part, queue } = this.#of(request.queue);
    const { api, namespace } = part;
    const query = { dryRun: 'All', fieldValidation: 'Strict' };
    const { launcher } = this.#context;
    const withToken = { ...request, token: 'checked' };
    const job = await api.request('POST', batch(part), { body: jobOf(launcher, queue, withToken), query });
    const secret = await api.request('POST', core(part, 'secrets'), {
      body: secretOf(launcher, queue, withToken, undefined),
      query,
    });
    const lists = await Promise.all(
      [batch(part), core(part, 'pods')].map((path) => api.request('GET', path, { query: { limit: '1' } })),
    );
    const faults = [
      ...(job.status >= 300 ? faultsOf(job, queue, request) : []),
      ...[secret, ...lists].filter((it) => it.status >= 300).map(reasonOf),
    ];
    const fault = (why: string): CheckResult => ({
      queue: queue.name,
      isFault: true,
      message: `the queue ${queue.name} cannot be used: ${why}`,
    });
    if (faults.length > 0) return [...new Set(faults)].map(fault);
    const version = await api.request('GET', '/version');
    const { gitVersion } = version.body as { gitVersion?: string };
    const message = `Kubernetes ${gitVersion ?? ''} accepts its Jobs in the namespace ${namespace}`;
    return [{ queue: queue.name, isFault: false, message }];
  }

  #refused(answer: ApiAnswer, queue: Queue, request: AllocationRequest): EngineRefused {
    return new EngineRefused(faultsOf(answer, queue, request).join('; '));
  }

  #of(name: string): { part: Part; queue: Queue } {
    for (const part of this.#parts) {
      const queue = part.queues.find((it) => it.name === name);
      if (queue !== undefined) return { part, queue };
    }
    throw new Error(`the Kubernetes engine has no queue ${name}`);
  }
}

const batch = ({ namespace }: Pick<Part, 'namespace'>): string => `/apis/batch/v1/namespaces/${namespace}/jobs`;
const core = ({ namespace }: Pick<Part, 'namespace'>, resource: string): string =>
  `/api/v1/namespaces/${namespace}/${resource}`;

/** @throws EngineUnreachable when the server refuses the deletion of an object that is there */
function throwUnlessGone(what: string, answer: ApiAnswer): void {
  if (answer.status >= 300 && answer.status !== 404)
    throw new EngineUnreachable(`${what} cannot be deleted: ${reasonOf(answer)}`);
}
