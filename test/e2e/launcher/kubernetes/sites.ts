/** Clusters for tests of the Kubernetes engine: one in memory, and a real API server; each with a node that executes pods here. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../src/base/clock.ts';
import { KubernetesApi } from '../../../../src/launcher/engines/kubernetes/api.ts';
import { FakeKubernetes } from '../../../support/kubernetes/fake-api.ts';
import { Kubelet } from '../../../support/kubernetes/kubelet.ts';
import { kubernetesMissing, RealKubernetes } from '../../../support/kubernetes/real-api.ts';

export interface KubernetesSite {
  /** The kubeconfig of the launcher. */
  kubeconfig: string;
  node: Kubelet;
  /** With all rights. */
  api: KubernetesApi;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export class FakeSite implements KubernetesSite {
  readonly server = new FakeKubernetes();
  readonly #folder = mkdtempSync(join(tmpdir(), 'simbatch-kubeconfig-'));
  readonly kubeconfig = join(this.#folder, 'config');
  readonly api = new KubernetesApi(
    { env: {}, baseDirectory: '/', kubeconfig: this.kubeconfig, context: undefined },
    systemClock,
  );
  readonly node = new Kubelet('node-1', this.api);

  async start(): Promise<void> {
    await this.server.start();
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: this.server.url } }],
      users: [{ name: 'u', user: { token: this.server.token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    writeFileSync(this.kubeconfig, JSON.stringify(config));
    await this.node.start();
  }

  async stop(): Promise<void> {
    await this.node.stop();
    this.server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export class RealSite implements KubernetesSite {
  readonly server = new RealKubernetes();
  readonly kubeconfig = this.server.launcher;
  readonly api = this.server.api();
  readonly node = new Kubelet('node-1', this.api);

  async start(): Promise<void> {
    await this.server.start();
    await this.node.start();
  }

  async stop(): Promise<void> {
    await this.node.stop();
    await this.server.stop();
  }
}

/** The sites of tests that hold on both, each with why this machine cannot have it. */
export const SITES = [
  { name: 'an API server in memory', make: () => new FakeSite(), missing: (): string | undefined => undefined },
  { name: 'a real API server', make: () => new RealSite(), missing: kubernetesMissing },
] as const;

/** The gate installs etcd; the API server is there only where SIMBATCH_K8S_MINI names one. */
export const isRequired = (): boolean =>
  process.env['SIMBATCH_REQUIRE_ALL'] === '1' && (process.env['SIMBATCH_K8S_MINI'] ?? '') !== '';
