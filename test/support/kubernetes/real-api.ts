/**
 * A real Kubernetes API server, scheduler and Job controller on loopback, with etcd: from one program that SIMBATCH_K8S_MINI names
 * (`kube-apiserver`, `kube-scheduler` and `controllers` are its commands; a file that ends in .xz is unpacked).
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../../src/base/package.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { KubernetesApi } from '../../../src/launcher/engines/kubernetes/api.ts';
import { freePorts } from '../ports.ts';

const PROGRAM = process.env['SIMBATCH_K8S_MINI'];

/** Why this machine cannot have one; undefined when it can. */
export function kubernetesMissing(): string | undefined {
  if (PROGRAM === undefined || PROGRAM === '') return 'SIMBATCH_K8S_MINI names no Kubernetes API server';
  if (!existsSync(PROGRAM)) return `SIMBATCH_K8S_MINI names ${PROGRAM}, which is not there`;
  return spawnSync('etcd', ['--version']).status === 0 ? undefined : 'there is no etcd';
}

export class RealKubernetes {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-kubernetes-'));
  readonly #processes: ChildProcess[] = [];

  /** A kubeconfig of the cluster's administrator, and one with the rights of deploy/kubernetes/rbac.yaml. */
  get admin(): string {
    return join(this.folder, 'admin.yaml');
  }

  get launcher(): string {
    return join(this.folder, 'launcher.yaml');
  }

  async start(): Promise<void> {
    const { folder } = this;
    for (const name of ['pki', 'log']) mkdirSync(join(folder, name));
    const program = unpacked(PROGRAM ?? '');
    const [port, etcd, peer, scheduler] = (await freePorts(4)) as [number, number, number, number];
    const pki = (name: string): string => join(folder, 'pki', name);
    execFileSync('openssl', ['genrsa', '-out', pki('sa.key'), '2048'], { stdio: 'pipe' });
    execFileSync('openssl', ['rsa', '-in', pki('sa.key'), '-pubout', '-out', pki('sa.pub')], { stdio: 'pipe' });
    const [admin, launcher] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    const rows = [
      `${admin},admin,admin,system:masters`,
      `${launcher},system:serviceaccount:simbatch:simbatch-launcher,launcher`,
    ];
    writeFileSync(pki('tokens.csv'), `${rows.join('\n')}\n`, { mode: 0o600 });
    const local = (at: number): string => `http://127.0.0.1:${String(at)}`;
    this.#spawn('etcd', 'etcd', [
      '--name=t',
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${local(etcd)}`,
      `--advertise-client-urls=${local(etcd)}`,
      `--listen-peer-urls=${local(peer)}`,
      `--initial-advertise-peer-urls=${local(peer)}`,
      `--initial-cluster=t=${local(peer)}`,
      '--unsafe-no-fsync',
    ]);
    this.#spawn('apiserver', program, [
      'kube-apiserver',
      `--etcd-servers=${local(etcd)}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${String(port)}`,
      `--cert-dir=${join(folder, 'pki')}`,
      `--service-account-key-file=${pki('sa.pub')}`,
      `--service-account-signing-key-file=${pki('sa.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-cluster-ip-range=10.0.0.0/24',
      `--token-auth-file=${pki('tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition',
      '--enable-priority-and-fairness=false',
    ]);
    this.#kubeconfig(this.admin, port, admin);
    this.#kubeconfig(this.launcher, port, launcher);
    await this.#ready();
    const files = [`--kubeconfig=${this.admin}`];
    this.#spawn('scheduler', program, [
      'kube-scheduler',
      ...files,
      `--authentication-kubeconfig=${this.admin}`,
      `--authorization-kubeconfig=${this.admin}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${String(scheduler)}`,
      `--cert-dir=${pki('scheduler')}`,
    ]);
    this.#spawn('controllers', program, ['controllers', ...files]);
    await this.#prepare();
  }

  /** The API of the cluster's administrator. */
  api(): KubernetesApi {
    const sources = { env: {}, baseDirectory: this.folder, kubeconfig: this.admin, context: undefined };
    return new KubernetesApi(sources, systemClock);
  }

  async stop(): Promise<void> {
    for (const child of this.#processes.toReversed()) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    for (const end = Date.now() + 240_000; Date.now() < end; await sleep(100)) {
      const answer = await this.api()
        .request('GET', '/readyz')
        .catch(() => undefined);
      if (answer?.status === 200) return;
    }
    throw new Error(
      `kube-apiserver is not ready: ${readFileSync(join(this.folder, 'log/apiserver'), 'utf8').slice(-2_000)}`,
    );
  }

  async #prepare(): Promise<void> {
    await this.apply('deploy/kubernetes/rbac.yaml');
  }

  /** Creates the objects of a file, with strict validation. */
  async apply(file: string): Promise<void> {
    for (const document of parseAllDocuments(readFileSync(join(packageRoot, file), 'utf8'), { merge: true })) {
      const body = document.toJS() as { apiVersion: string; kind: string; metadata: { namespace?: string } };
      const { namespace } = body.metadata;
      const group = body.apiVersion.includes('/') ? `/apis/${body.apiVersion}` : `/api/${body.apiVersion}`;
      const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
      const path = `${group}${within}/${body.kind.toLowerCase()}s`;
      const { status, body: said } = await this.api().request('POST', path, {
        body,
        query: { fieldValidation: 'Strict' },
      });
      if (status >= 300) throw new Error(`${path}: ${JSON.stringify(said)}`);
    }
  }

  #spawn(name: string, program: string, args: readonly string[]): void {
    const log = openSync(join(this.folder, 'log', name), 'a');
    this.#processes.push(spawn(program, args, { stdio: ['ignore', log, log] }));
    closeSync(log);
  }

  #kubeconfig(path: string, port: number, token: string): void {
    const cluster = { server: `https://127.0.0.1:${String(port)}`, 'certificate-authority': 'pki/apiserver.crt' };
    const config = {
      'current-context': 'local',
      clusters: [{ name: 'local', cluster }],
      users: [{ name: 'me', user: { token } }],
      contexts: [{ name: 'local', context: { cluster: 'local', user: 'me' } }],
    };
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  }
}

/** Unpacked once for all runs of the tests. */
function unpacked(file: string): string {
  if (!file.endsWith('.xz')) return file;
  const folder = join(packageRoot, 'node_modules', '.cache', 'simbatch');
  const program = join(folder, `k8s-mini-${String(statSync(file).mtimeMs)}`);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const part = `${program}.${String(process.pid)}`;
  const out = openSync(part, 'w');
  execFileSync('xz', ['-dkc', file], { stdio: ['ignore', out, 'inherit'] });
  closeSync(out);
  chmodSync(part, 0o755);
  renameSync(part, program);
  return program;
}
