/** The Kubernetes engine against an API server in memory and, where there is one, a real one, with a node that executes pods here. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DemandGroup } from '../../../../src/contract/types.ts';
import type { AllocationRequest, Engine, EngineAllocation } from '../../../../src/launcher/engine.ts';
import { EngineRefused, EngineUnreachable } from '../../../../src/launcher/engine.ts';
import { kubernetesEngine } from '../../../../src/launcher/engines/kubernetes/kubernetes.ts';
import type { KubernetesSection } from '../../../../src/launcher/engines/kubernetes/section.ts';
import { until as untilWithin } from '../../support.ts';
import { engineContract } from '../engine-contract.ts';
import { group } from '../../../launcher/decision/support.ts';
import { allocationRequest } from '../../../launcher/support.ts';
import { kubernetesContext, kubernetesQueue } from '../../../launcher/engines/kubernetes/queue.ts';
import { FakeSite, isRequired, SITES, type KubernetesSite } from './sites.ts';

/** In place of the runner: prints what it got, then does what its argument says. */
const PROGRAM = `trap 'echo leaving; exit 0' TERM
echo "note=$SVC_NOTE token=$SVC_TOKEN dollar=$2"
case $1 in fail) exit 7 ;; deaf) trap '' TERM ;; esac
case $1 in stay|deaf) while :; do sleep 0.1; done ;; esac`;

/** Other programs may use the machine at the same time. */
const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  untilWithin(condition, undefined, 120_000);

for (const { name, make, missing } of SITES) {
  describe(`launcher/engines/kubernetes with ${name}`, function () {
    let site: KubernetesSite;

    before(async function () {
      const why = missing();
      if (why !== undefined) {
        if (isRequired()) throw new Error(why);
        this.skip();
      }
      site = make();
      await site.start();
    });
    after(async () => {
      await site?.stop();
    });

    const open = (section: Partial<KubernetesSection> = {}): Engine =>
      kubernetesEngine.open(kubernetesContext([kubernetesQueue({ kubeconfig: site.kubeconfig, ...section })]));
    let count = 0;
    const request = (act: string, given: Partial<AllocationRequest> = {}): AllocationRequest => {
      const id = `a${String((count += 1)).padStart(11, '0')}`;
      const runner = {
        program: ['sh', '-c', PROGRAM, 'sh', act],
        args: ['$(SVC_TOKEN)'],
        environment: { SVC_NOTE: 'n$(HOME)' },
      };
      return allocationRequest({ id, runner, size: { cores: 1, memoryBytes: 64 * 2 ** 20, gpus: 0 }, ...given });
    };
    const find = async (engine: Engine, id: string): Promise<EngineAllocation | undefined> => {
      const { allocations, silent } = await engine.list();
      expect(silent).to.deep.equal([]);
      return allocations.find((it) => it.id === id);
    };
    const reaches = async (
      engine: Engine,
      id: string,
      state: string | undefined,
    ): Promise<EngineAllocation | undefined> => {
      let found: EngineAllocation | undefined;
      await until(async () => (found = await find(engine, id))?.state === state);
      return found;
    };
    const objects = async (path: string): Promise<string[]> =>
      (await site.api.list(path, {})).items.map((it) => (it['metadata'] as { name: string }).name);

    it('starts a pod with its token and variables, and ends it by SIGTERM; nothing stays', async () => {
      const engine = open();
      const wanted = request('stay', { token: 'sbt_secret' });
      const { handle } = await engine.submit(wanted);
      expect(handle).to.equal(`simbatch-${wanted.id}`);
      const found = await reaches(engine, wanted.id, 'running');
      await until(async () => (await find(engine, wanted.id))?.startedAtMs !== undefined);
      const running = (await find(engine, wanted.id)) as EngineAllocation;
      expect(running).to.include({ queue: 'main', handle });
      expect((running.endsAtMs ?? 0) - (running.startedAtMs ?? 0)).to.equal(3_600_000);
      await until(() => site.node.log(wanted.id).includes('token'));
      expect(site.node.log(wanted.id)).to.equal('note=n$(HOME) token=sbt_secret dollar=$(SVC_TOKEN)\n');
      await engine.stop([found as EngineAllocation], false);
      await reaches(engine, wanted.id, undefined);
      expect(site.node.log(wanted.id)).to.contain('leaving');
      const left = async (): Promise<string[]> => [
        ...(await objects('/apis/batch/v1/namespaces/sims/jobs')),
        ...(await objects('/api/v1/namespaces/sims/pods')),
      ];
      await until(async () => (await left()).length === 0);
      expect(site.node.running).to.equal(0);
      if (site instanceof FakeSite)
        expect([...site.server.objects.keys()].filter((it) => it.startsWith('secrets'))).to.deep.equal([]);
    });

    it('submits an id once, also when it is submitted again', async () => {
      const engine = open();
      const wanted = request('stay', { token: 'sbt_once' });
      const all = await Promise.all([engine.submit(wanted), open().submit(wanted)]);
      expect(new Set(all.map((it) => it.handle)).size).to.equal(1);
      await reaches(engine, wanted.id, 'running');
      await engine.submit(wanted);
      const pods = await objects('/api/v1/namespaces/sims/pods');
      expect(pods.filter((it) => it.includes(wanted.id))).to.have.length(1);
      await engine.stop([(await find(engine, wanted.id)) as EngineAllocation], true);
      await reaches(engine, wanted.id, undefined);
    });

    it('reports how pods end', async () => {
      const engine = open();
      const [failing, done, late] = [request('fail'), request('end'), request('stay', { lifetimeSecs: 1 })];
      for (const it of [failing, done, late]) await engine.submit(it);
      expect((await reaches(engine, failing.id, 'ended'))?.end).to.deep.equal({ kind: 'failed', exitCode: 7 });
      expect((await reaches(engine, done.id, 'ended'))?.end).to.deep.equal({ kind: 'completed', exitCode: 0 });
      expect((await reaches(engine, late.id, 'ended'))?.end?.kind).to.equal('timeout');
      await engine.stop((await engine.list()).allocations, false);
      for (const { id } of [failing, done, late]) await reaches(engine, id, undefined);
    });

    it('reports pods that the cluster takes away, and pods that exceed their own memory limit', async () => {
      const engine = open();
      const limited = { need: group({ memory_limit_gb: 0.0625 }) };
      const [evicted, greedy, whole] = [request('stay'), request('stay', limited), request('stay')];
      for (const it of [evicted, greedy, whole]) await engine.submit(it);
      for (const { id } of [evicted, greedy, whole]) await until(() => site.node.runs(id));
      site.node.end(evicted.id, 'evicted');
      site.node.end(greedy.id, 'out of memory');
      site.node.end(whole.id, 'out of memory');
      const endOf = async (id: string): Promise<EngineAllocation | undefined> => await reaches(engine, id, 'ended');
      expect(await endOf(evicted.id)).to.deep.include({
        end: { kind: 'evicted' },
        reason: 'Evicted: The node was low on resource: memory.',
      });
      expect(await endOf(greedy.id)).to.deep.include({
        end: { kind: 'out-of-memory', exitCode: 137 },
        reason: 'OOMKilled',
      });
      // A pod without a limit of its own has met that of its node.
      expect((await endOf(whole.id))?.end).to.deep.equal({ kind: 'node-failure', exitCode: 137 });
      await engine.stop((await engine.list()).allocations, true);
      for (const { id } of [evicted, greedy, whole]) await reaches(engine, id, undefined);
    });

    it('reports a pod that the cluster has evicted and removed', async function () {
      // The failure policy of Jobs is the work of a real controller.
      if (site instanceof FakeSite) return this.skip();
      const engine = open();
      const wanted = request('deaf');
      await engine.submit(wanted);
      await until(() => site.node.runs(wanted.id));
      const pods = '/api/v1/namespaces/sims/pods';
      const pod = (await objects(pods)).find((it) => it.includes(wanted.id)) ?? '';
      const eviction = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: pod, namespace: 'sims' },
        deleteOptions: { gracePeriodSeconds: 1 },
      };
      await site.api.request('POST', `${pods}/${pod}/eviction`, { body: eviction });
      await until(async () => !(await objects(pods)).includes(pod));
      const ended = await reaches(engine, wanted.id, 'ended');
      expect(ended?.end).to.deep.equal({ kind: 'preempted' });
      expect(ended?.reason).to.match(/PodFailurePolicy: .*DisruptionTarget/);
      await engine.stop([ended as EngineAllocation], true);
      await reaches(engine, wanted.id, undefined);
    });

    it('stops a pod whose image cannot be pulled, with the reason', async () => {
      const engine = open({ image: 'sims/missing:1' });
      const wanted = request('stay', { token: 'sbt_x' });
      await engine.submit(wanted);
      const found = await reaches(engine, wanted.id, 'ended');
      expect(found).to.deep.include({
        end: { kind: 'failed' },
        reason: 'ErrImagePull: pull access denied for sims/missing:1',
      });
      await reaches(engine, wanted.id, undefined);
    });

    it('adopts what another process of the same launcher has submitted, and nothing of others', async () => {
      const wanted = request('stay');
      await open().submit(wanted);
      const queue = kubernetesQueue({ kubeconfig: site.kubeconfig });
      const other = kubernetesEngine.open(kubernetesContext([queue], { launcher: 'other' }));
      const again = open();
      const found = await reaches(again, wanted.id, 'running');
      expect((await other.list()).allocations).to.deep.equal([]);
      await again.stop([found as EngineAllocation], true);
      await reaches(again, wanted.id, undefined);
    });

    it('confirms a queue that the cluster accepts, and submits nothing', async () => {
      const [result, ...others] = await open().check([request('stay')]);
      expect(others).to.deep.equal([]);
      expect(result?.message).to.match(/^Kubernetes v\S+ accepts its Jobs in the namespace sims$/);
      expect(result?.isFault).to.equal(false);
      expect(await objects('/apis/batch/v1/namespaces/sims/jobs')).to.deep.equal([]);
    });

    it('names the namespace that the cluster does not give', async () => {
      const engine = open({ namespace: 'elsewhere' });
      const [result] = await engine.check([request('stay')]);
      expect(result).to.include({ isFault: true });
      expect(result?.message).to.match(/elsewhere/);
      // The role of the real launcher is that of deploy/kubernetes/rbac.yaml, for one namespace.
      if (!(site instanceof FakeSite)) {
        expect(result?.message).to.match(
          /cannot create resource "jobs".*; give the launcher the role of deploy\/kubernetes/,
        );
      }
      const error: unknown = await engine.submit(request('stay')).catch((it: unknown) => it);
      expect(error).to.be.instanceOf(EngineRefused).and.have.property('message').that.contains('elsewhere');
    });
  });
}

for (const { name, make, missing } of SITES) {
  describe(`launcher/engines/kubernetes, the contract of engines with ${name}`, function () {
    before(function () {
      if (missing() !== undefined && !isRequired()) this.skip();
    });
    engineContract(async () => {
      const site = make();
      await site.start();
      const folder = mkdtempSync(join(tmpdir(), 'simbatch-contract-'));
      const queue = kubernetesQueue({ kubeconfig: site.kubeconfig });
      const open = (launcher: string): Engine => kubernetesEngine.open(kubernetesContext([queue], { launcher }));
      const kubernetes = { namespace: 'sims', cluster_name: '', node_selectors: { 'not a label': 'x' } };
      const close = async (): Promise<void> => {
        await site.stop();
        rmSync(folder, { recursive: true, force: true });
      };
      const engines = { engine: open('lab'), other: open('other') };
      // The server in memory checks nothing.
      const refused = site instanceof FakeSite ? {} : { refused: { need: { kubernetes } as unknown as DemandGroup } };
      return { ...engines, folder, close, ...refused };
    });
  });
}

describe('launcher/engines/kubernetes, strict validation of a real API server', function () {
  const [, real] = SITES;
  let site: KubernetesSite;

  before(async function () {
    const why = real.missing();
    if (why !== undefined) {
      if (isRequired()) throw new Error(why);
      this.skip();
    }
    site = real.make();
    await site.start();
  });
  after(async () => {
    await site?.stop();
  });

  it('maps each fault to its place in launcher.yaml or in the study', async () => {
    const kubernetes = {
      namespace: 'sims',
      cluster_name: '',
      node_selectors: { 'bad key!': 'x' },
      tolerations: [
        { key: 'a', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'b', operator: 'Sometimes', effect: 'NoSchedule' },
      ],
    };
    const section = {
      kubeconfig: site.kubeconfig,
      tolerations: [{ key: 'own', operator: 'Exists', colour: 'red' }],
      volumes: [{ name: 'UPPER', emptyDir: {} }],
    };
    const messages = async (given: Partial<KubernetesSection>, need: Partial<DemandGroup>): Promise<string[]> => {
      const engine = kubernetesEngine.open(kubernetesContext([kubernetesQueue({ ...section, ...given })]));
      const results = await engine.check([allocationRequest({ need: need as DemandGroup })]);
      expect(results.every((it) => it.isFault)).to.equal(true);
      return results.map((it) => it.message.replace(/^the queue main cannot be used: /, ''));
    };
    const [unknown] = await messages({}, { kubernetes });
    expect(unknown).to.match(/^launcher.yaml \/queues\/main\/kubernetes\/tolerations\/0\/colour: unknown field/);
    const found = await messages({ tolerations: [{ key: 'own', operator: 'Exists' }] }, { kubernetes });
    for (const start of [
      'study /config/compute/kubernetes/node_selectors: ',
      'study /config/compute/kubernetes/tolerations/1/operator: ',
      'launcher.yaml /queues/main/kubernetes/volumes: ',
    ]) {
      expect(
        found.some((it) => it.startsWith(start)),
        `${start}: ${found.join(' | ')}`,
      ).to.equal(true);
    }
    const engine = kubernetesEngine.open(kubernetesContext([kubernetesQueue(section)]));
    const error: unknown = await engine.submit(allocationRequest()).catch((it: unknown) => it);
    expect(error).to.be.instanceOf(EngineRefused).and.have.property('message').that.contains('tolerations/0/colour');
  });

  it('reports why a pod waits for a node', async () => {
    const engine = kubernetesEngine.open(
      kubernetesContext([kubernetesQueue({ kubeconfig: site.kubeconfig, node_selectors: { pool: 'none' } })]),
    );
    await engine.submit(allocationRequest());
    let found: EngineAllocation | undefined;
    await until(
      async () => (found = (await engine.list()).allocations[0])?.reason?.startsWith('Unschedulable') === true,
    );
    expect(found?.state).to.equal('queued');
    await engine.stop([found as EngineAllocation], false);
    await until(async () => (await engine.list()).allocations.length === 0);
  });
});

describe('launcher/engines/kubernetes, a server that fails', () => {
  let site: FakeSite;
  let engine: Engine;
  beforeEach(async () => {
    site = new FakeSite();
    await site.start();
    engine = kubernetesEngine.open(kubernetesContext([kubernetesQueue({ kubeconfig: site.kubeconfig })]));
  });
  afterEach(() => site.stop());
  const failure = async (step: Promise<unknown>): Promise<unknown> => step.catch((it: unknown) => it);

  it('lists in two requests for each page of all allocations, whatever their number', async () => {
    for (let at = 0; at < 300; at++) {
      await engine.submit(
        allocationRequest({
          id: `b${String(at).padStart(11, '0')}`,
          runner: { program: ['true'], args: [], environment: {} },
        }),
      );
    }
    site.server.requests.length = 0;
    const { allocations } = await engine.list();
    expect(allocations).to.have.length(300);
    const own = site.server.requests.filter((it) => it.includes('labelSelector'));
    expect(own).to.have.length(4);
  });

  it('calls a busy server and a broken connection unreachable, and freezes its allocations', async () => {
    for (const status of [500, 503, 429, 401]) {
      site.server.next.push(status);
      expect(await failure(engine.submit(allocationRequest())), String(status)).to.be.instanceOf(EngineUnreachable);
    }
    await site.node.stop();
    site.server.next.push(503);
    const { allocations, silent } = await engine.list();
    expect({ allocations, silent }).to.deep.equal({
      allocations: [],
      silent: [{ queue: 'main', why: 'the Kubernetes API answers 503: it is busy' }],
    });
    site.server.stop();
    expect((await engine.list()).silent[0]?.why).to.match(/^the Kubernetes API cannot be reached: /);
  });

  it('says that a pod was not ended now when the server refuses that, so that it is asked again', async () => {
    await site.node.stop();
    const wanted = allocationRequest();
    await engine.submit(wanted);
    const { allocations } = await engine.list();
    // The deletion of the Job and the list of its pods are answered.
    site.server.next.push(-1, -1, 409);
    const error = await failure(engine.stop(allocations, true));
    expect(error).to.be.instanceOf(EngineUnreachable);
    expect(String(error)).to.match(/the pod \S+ cannot be deleted: .*it is busy/);
  });

  it('finds a Job again that was made although the answer was lost, and submits no second', async () => {
    await site.node.stop();
    site.server.next.push(0);
    const wanted = allocationRequest();
    expect(await failure(engine.submit(wanted))).to.be.instanceOf(EngineUnreachable);
    expect((await engine.list()).allocations.map((it) => it.id)).to.deep.equal([wanted.id]);
    await engine.submit(wanted);
    expect([...site.server.objects.keys()].filter((it) => it.startsWith('jobs/'))).to.have.length(1);
  });

  it('removes a Job whose submission was interrupted before its token was there, after a while', async () => {
    await site.node.stop();
    site.server.broken = /POST .*secrets/;
    const wanted = allocationRequest({ token: 'sbt_x' });
    expect(await failure(engine.submit(wanted))).to.be.instanceOf(EngineUnreachable);
    const job = site.server.objects.get(`jobs/simbatch-${wanted.id}`) as { metadata: { creationTimestamp: string } };
    expect((await engine.list()).allocations[0]).to.include({
      state: 'queued',
      reason: 'suspended until its token is there',
    });
    job.metadata.creationTimestamp = new Date(Date.now() - 100_000).toISOString();
    expect((await engine.list()).allocations[0]).to.deep.include({ state: 'ended', end: { kind: 'unknown' } });
    expect((await engine.list()).allocations).to.deep.equal([]);
  });
});
