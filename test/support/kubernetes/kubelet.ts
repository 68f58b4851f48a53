/**
 * A kubelet for tests: registers a node, executes the commands of the pods bound to it as local processes, and reports their
 * status. No images, no isolation. An image whose name contains `missing` is ErrImagePull.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesApi } from '../../../src/launcher/engines/kubernetes/api.ts';

interface Pod {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    deletionTimestamp?: string;
    deletionGracePeriodSeconds?: number;
  };
  spec: { activeDeadlineSeconds?: number; containers: [Container] };
  status: { phase?: string };
}
interface Container {
  name: string;
  image: string;
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
}
interface Running {
  /** Of its allocation. */
  id: string;
  child?: ChildProcess;
  startTime: string;
  isOver?: boolean;
  /** The time that its deletion leaves it; absent: it is not deleted. */
  graceSecs?: number;
  timers: NodeJS.Timeout[];
  isLate?: boolean;
  /** How the node ends it. */
  fate?: Fate;
}
type Fate = 'evicted' | 'out of memory';

/** The status of a pod that a node evicts. */
const EVICTED = {
  reason: 'Evicted',
  message: 'The node was low on resource: memory.',
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: 'evicted' }],
};

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
const pathOf = ({ metadata: { namespace, name } }: Pod): string => `/api/v1/namespaces/${namespace}/pods/${name}`;
const MERGE = 'application/strategic-merge-patch+json';

export class Kubelet {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-node-'));
  readonly #name: string;
  readonly #api: KubernetesApi;
  readonly #pods = new Map<string, Running>();
  #isStopped = false;
  /** Pods that are given to this node wait, as for room. */
  isFull = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(name: string, api: KubernetesApi) {
    this.#name = name;
    this.#api = api;
  }

  /** Processes of pods that have not ended. */
  get running(): number {
    return [...this.#pods.values()].filter((it) => it.child !== undefined && it.isOver !== true).length;
  }

  async start({ cpu = '8', memory = '8Gi', labels = {}, taints = [] as object[] } = {}): Promise<void> {
    const metadata = { name: this.#name, labels: { 'kubernetes.io/hostname': this.#name, ...labels } };
    await this.#api.request('POST', '/api/v1/nodes', {
      body: { apiVersion: 'v1', kind: 'Node', metadata, spec: { taints } },
    });
    const amount = { cpu, memory, pods: '110' };
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      lastHeartbeatTime: now(),
      lastTransitionTime: now(),
    };
    const status = { capacity: amount, allocatable: amount, conditions: [ready] };
    await this.#api.request('PATCH', `/api/v1/nodes/${this.#name}/status`, { body: { status }, type: MERGE });
    this.#loop = this.#work();
  }

  /** The output of a pod, by the id of its allocation. */
  log(id: string): string {
    return readFileSync(join(this.folder, `${id}.log`), 'utf8');
  }

  /** Whether the process of a pod runs, by the id of its allocation. */
  runs(id: string): boolean {
    return [...this.#pods.values()].some((it) => it.id === id && it.child?.pid !== undefined && it.isOver !== true);
  }

  /** Ends the processes of a pod as a node short of memory does, or as the kernel at the limit of the pod, by the id of its allocation. */
  end(id: string, fate: Fate): void {
    const mine = [...this.#pods.values()].find((it) => it.id === id);
    if (mine?.child?.pid === undefined) throw new Error(`the pod of ${id} does not run`);
    mine.fate = fate;
    kill(-mine.child.pid, 'SIGKILL');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#loop;
    for (const { child, timers } of this.#pods.values()) {
      for (const timer of timers) clearTimeout(timer);
      if (child?.pid !== undefined && child.exitCode === null) kill(-child.pid, 'SIGKILL');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #work(): Promise<void> {
    const query = { fieldSelector: `spec.nodeName=${this.#name}` };
    while (!this.#isStopped) {
      try {
        const { items } = await this.#api.list('/api/v1/pods', query);
        for (const pod of items) await this.#see(pod as unknown as Pod);
        const uids = new Set(items.map((it) => (it as unknown as Pod).metadata.uid));
        for (const [uid, { child, isOver }] of this.#pods) {
          if (!uids.has(uid) && child?.pid !== undefined && isOver !== true) kill(-child.pid, 'SIGKILL');
        }
      } catch {
        // The server does not answer; the next round asks again.
      }
      await sleep(100);
    }
  }

  async #see(pod: Pod): Promise<void> {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds: grace = 30 } = pod.metadata;
    const mine = this.#pods.get(uid);
    if (deletionTimestamp === undefined) {
      if (mine === undefined && !this.isFull && !['Succeeded', 'Failed'].includes(pod.status.phase ?? ''))
        await this.#run(pod);
      return;
    }
    const { child } = mine ?? {};
    if (mine === undefined || mine.isOver === true || child === undefined) await this.#remove(pod);
    else if (grace < (mine.graceSecs ?? Infinity)) {
      // A second deletion may leave it less time than the first one.
      if (mine.graceSecs === undefined) child.kill('SIGTERM');
      mine.graceSecs = grace;
      mine.timers.push(setTimeout(() => kill(-(child.pid ?? 0), 'SIGKILL'), grace * 1_000));
    }
  }

  async #run(pod: Pod): Promise<void> {
    const [container] = pod.spec.containers;
    const id = pod.metadata.name.replace(/^simbatch-([0-9a-z]+)-.*$/, '$1');
    const mine: Running = { id, startTime: now(), timers: [] };
    this.#pods.set(pod.metadata.uid, mine);
    if (container.image.includes('missing')) {
      const message = `pull access denied for ${container.image}`;
      return this.#report(pod, 'Pending', { waiting: { reason: 'ErrImagePull', message } });
    }
    const env: Record<string, string | undefined> = { PATH: process.env['PATH'], HOME: this.folder };
    for (const { name, value, valueFrom } of container.env ?? []) {
      const { name: secret = '', key = '' } = valueFrom?.secretKeyRef ?? {};
      env[name] = secret === '' ? value : await this.#secret(pod, secret, key);
    }
    const log = openSync(join(this.folder, `${id}.log`), 'a');
    const expanded = (text: string): string =>
      text.replaceAll(/\$\$|\$\((\w+)\)/g, (all, variable?: string) =>
        variable === undefined ? '$' : (env[variable] ?? all),
      );
    for (const { name, value } of container.env ?? []) if (value !== undefined) env[name] = expanded(value);
    const [program = '', ...args] = (container.command ?? []).map(expanded);
    const child = spawn(program, args, { env, cwd: this.folder, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    mine.child = child;
    const startedAt = now();
    child.once('spawn', () => void this.#report(pod, 'Running', { running: { startedAt } }));
    const ended = (exitCode: number): void => {
      mine.isOver = true;
      for (const timer of mine.timers) clearTimeout(timer);
      const fault = mine.fate === 'out of memory' ? 'OOMKilled' : 'Error';
      const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : fault, startedAt, finishedAt: now() };
      const extra =
        mine.isLate === true
          ? { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the deadline' }
          : mine.fate === 'evicted'
            ? EVICTED
            : {};
      const phase = exitCode === 0 && mine.isLate !== true ? 'Succeeded' : 'Failed';
      void this.#report(pod, phase, { terminated }, extra).catch(() => {});
    };
    child.once('error', () => ended(128));
    child.once('exit', (code) => ended(code ?? 137));
    const { activeDeadlineSeconds: secs } = pod.spec;
    if (secs === undefined) return;
    const late = (): void => {
      mine.isLate = true;
      child.kill('SIGTERM');
    };
    mine.timers.push(setTimeout(late, secs * 1_000));
  }

  async #secret({ metadata }: Pod, name: string, key: string): Promise<string> {
    const { body } = await this.#api.request('GET', `/api/v1/namespaces/${metadata.namespace}/secrets/${name}`);
    return Buffer.from((body['data'] as Record<string, string>)[key] ?? '', 'base64').toString();
  }

  async #report(pod: Pod, phase: string, state: object, extra: object = {}): Promise<void> {
    const [{ name, image }] = pod.spec.containers;
    const startTime = this.#pods.get(pod.metadata.uid)?.startTime;
    const isReady = 'running' in state;
    const conditions = ['Initialized', 'Ready', 'ContainersReady'].map((type) => ({
      type,
      status: type === 'Initialized' || isReady ? 'True' : 'False',
      lastTransitionTime: now(),
    }));
    const container = { name, image, imageID: '', ready: isReady, restartCount: 0, state };
    const status = { phase, startTime, conditions, containerStatuses: [container], ...extra };
    await this.#api.request('PATCH', `${pathOf(pod)}/status`, { body: { status }, type: MERGE });
  }

  async #remove(pod: Pod): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: { uid: pod.metadata.uid },
    };
    await this.#api.request('DELETE', pathOf(pod), { body });
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
