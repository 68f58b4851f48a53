/** The pure parts of the Kubernetes engine: faults and mismatch of a queue, the manifest, states of Jobs and pods, places of faults. */
import { expect } from 'chai';
import type { DemandGroup } from '../../../../src/contract/types.ts';
import { faultsOf } from '../../../../src/launcher/engines/kubernetes/faults.ts';
import { jobOf, secretOf } from '../../../../src/launcher/engines/kubernetes/job.ts';
import { kubernetesEngine } from '../../../../src/launcher/engines/kubernetes/kubernetes.ts';
import { mismatchOf, type KubernetesSection } from '../../../../src/launcher/engines/kubernetes/section.ts';
import { allocationsOf } from '../../../../src/launcher/engines/kubernetes/states.ts';
import { allocationRequest } from '../../support.ts';
import { kubernetesQueue } from './queue.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
const manifest = (section: Partial<KubernetesSection>, given = {}): any =>
  jobOf('lab', kubernetesQueue(section), allocationRequest(given));
const need = (given: Partial<DemandGroup>): DemandGroup => ({ image: 'sims/rocket:1', ...given }) as DemandGroup;

describe('launcher/engines/kubernetes/parts', () => {
  it('finds the faults of a section', () => {
    const runner = { program: ['simbatch', 'runner'], args: [], environment: {}, slots: undefined };
    const faults = kubernetesEngine.faults(
      kubernetesQueue({ termination_grace: 'soon', kit_image: 'kit:1' }, { runner }),
    );
    expect(faults.map((it) => it.pointer)).to.deep.equal(['/termination_grace', '/kit_image']);
    expect(kubernetesEngine.faults(kubernetesQueue({ kit_image: 'kit:1' }))).to.deep.equal([]);
  });

  it('lets a study narrow the queue, and names what does not fit', () => {
    const section = { cluster_name: 'lab-1', node_selectors: { pool: 'sim' } };
    const place = (kubernetes: object) => need({ kubernetes: { namespace: '', cluster_name: '', ...kubernetes } });
    const rows: [DemandGroup, Partial<KubernetesSection>, string | undefined][] = [
      [need({}), {}, undefined],
      [place({ namespace: 'sims', cluster_name: 'lab-1', node_selectors: { gpu: 'yes', pool: 'sim' } }), {}, undefined],
      [place({ namespace: 'kube-system' }), {}, "its namespace is kube-system, the queue's is sims"],
      [place({ cluster_name: 'prod' }), {}, 'its cluster is prod, the queue has lab-1'],
      [
        place({ cluster_name: 'prod' }),
        { cluster_name: undefined },
        'its cluster is prod, the queue has no cluster_name',
      ],
      [place({ node_selectors: { pool: 'other' } }), {}, "its node selector pool is other, the queue's is sim"],
      [need({ image: 'none' }), {}, undefined],
      [need({ image: 'evil:1' }), {}, 'its image is evil:1, and the queue executes sims/rocket:1, none'],
      [need({ image: 'sims/rocket:2' }), { images: ['sims/*'] }, undefined],
      [
        need({ image: 'xsims/rocket' }),
        { images: ['sims/*'] },
        'its image is xsims/rocket, and the queue executes sims/*',
      ],
    ];
    for (const [wanted, more, why] of rows) {
      expect(mismatchOf(kubernetesQueue({ ...section, ...more }), wanted), JSON.stringify(wanted)).to.equal(why);
    }
  });

  it('makes a Job of one pod that is never started again, with the size of the queue', () => {
    const { metadata, spec } = manifest({});
    expect(metadata).to.deep.include({ name: 'simbatch-a1b2c3d4e5f6', namespace: 'sims' });
    expect(metadata.labels).to.deep.equal(spec.template.metadata.labels);
    expect(spec).to.include({ backoffLimit: 0, completions: 1, parallelism: 1, ttlSecondsAfterFinished: 600 });
    const pod = spec.template.spec;
    expect(pod).to.include({ restartPolicy: 'Never', activeDeadlineSeconds: 3600, terminationGracePeriodSeconds: 90 });
    expect(pod.automountServiceAccountToken).to.equal(false);
    expect(pod.containers[0].resources).to.deep.equal({ requests: { cpu: '4', memory: '2048Mi' } });
    expect(pod.containers[0].command[0]).to.equal('simbatch-runner');
    expect(spec).not.to.have.property('suspend');
  });

  it('takes node selectors and tolerations of the study as they are, beside those of the queue', () => {
    const kubernetes = {
      namespace: 'sims',
      cluster_name: '',
      node_selectors: { gpu: 'yes' },
      tolerations: [
        { key: 'dedicated', operator: 'Equal', value: 'sim', effect: 'NoSchedule' },
        { key: 'b', operator: 'Exists', effect: '', value: null },
      ],
    };
    const own = { node_selectors: { pool: 'sim' }, tolerations: [{ key: 'own', operator: 'Exists' }] };
    const pod = manifest(own, { need: need({ kubernetes }) }).spec.template.spec;
    expect(pod.nodeSelector).to.deep.equal({ gpu: 'yes', pool: 'sim' });
    expect(pod.tolerations).to.deep.equal([
      { key: 'own', operator: 'Exists' },
      { key: 'dedicated', operator: 'Equal', value: 'sim', effect: 'NoSchedule' },
      { key: 'b', operator: 'Exists' },
    ]);
  });

  it('multiplies the limits of a run by the runs at once, and never goes below the requests', () => {
    const runner = { program: undefined, args: ['--max-concurrent-jobs', '4'], environment: {} };
    const limits = (given: Partial<DemandGroup>): unknown =>
      manifest({}, { runner, need: need(given) }).spec.template.spec.containers[0].resources.limits;
    expect(limits({ cpu_cores: 1, cpu_limit_cores: 2, memory_limit_gb: 1.5 })).to.deep.equal({
      cpu: '8000m',
      memory: '6144Mi',
    });
    expect(limits({ cpu_cores: 2, cpu_limit_cores: 3 })).to.deep.equal({ cpu: '6000m' });
    expect(limits({ cpu_cores: 0.1, cpu_limit_cores: 0.2, memory_limit_gb: 0.1 })).to.deep.equal({
      cpu: '4000m',
      memory: '2048Mi',
    });
    expect(limits({})).to.equal(undefined);
  });

  it('brings the kit by an init container, and the token by a Secret that ends with the Job', () => {
    const { spec } = manifest(
      { kit_image: 'kit:1', volumes: [{ name: 'data' }], volume_mounts: [{ name: 'data', mountPath: '/d' }] },
      { token: 'sbt_secret' },
    );
    expect(spec.suspend).to.equal(true);
    const pod = spec.template.spec;
    expect(pod.initContainers[0]).to.include({ image: 'kit:1' });
    const [container] = pod.containers;
    expect(container.command[0]).to.equal('/simbatch/simbatch-runner');
    expect(container.env.at(-1)).to.deep.equal({
      name: 'SVC_TOKEN',
      valueFrom: { secretKeyRef: { name: 'simbatch-a1b2c3d4e5f6', key: 'token' } },
    });
    expect(container.volumeMounts.map((it: { mountPath: string }) => it.mountPath)).to.deep.equal(['/d', '/simbatch']);
    expect(JSON.stringify(spec)).not.to.contain('sbt_secret');
    const secret = secretOf('lab', kubernetesQueue({}), allocationRequest({ token: 'sbt_secret' }), 'uid-1');
    expect(secret).to.have.nested.property('metadata.ownerReferences[0].uid', 'uid-1');
    expect(secret).to.have.nested.property('stringData.token', 'sbt_secret');
  });

  it('reads states from Jobs and pods', () => {
    const SERVER_MS = Date.parse('2026-03-01T12:00:00Z');
    const labels = { 'simbatch.dev/allocation': 'a', 'simbatch.dev/queue': 'main' };
    const at = (secs: number): string => new Date(SERVER_MS + secs * 1_000).toISOString();
    const job = (status: object, more: object = {}, spec: object = {}) => ({
      metadata: { labels, creationTimestamp: at(-10), ...more },
      spec,
      status,
    });
    const pod = (status: object, more: object = {}, spec: object = {}) => ({
      metadata: { labels, creationTimestamp: at(-9), ...more },
      spec: { activeDeadlineSeconds: 60, ...spec },
      status,
    });
    const failed = {
      conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'limit' }],
    };
    const waiting = (reason: string) => ({
      phase: 'Pending',
      containerStatuses: [{ state: { waiting: { reason, message: 'm' } } }],
    });
    const ended = (exitCode: number, reason = 'Error') => ({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode, reason } } }],
    });
    const disrupted = (reason: string, more = {}) => ({
      phase: 'Failed',
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason, message: 'm' }],
      ...more,
    });
    const evicted = (message: string) => ({ phase: 'Failed', reason: 'Evicted', message });
    const limited = { containers: [{ resources: { limits: { memory: '1Gi' } } }] };
    const byPolicy = {
      conditions: [
        {
          type: 'Failed',
          status: 'True',
          reason: 'PodFailurePolicy',
          message: 'Pod a/b has condition DisruptionTarget',
        },
      ],
    };
    const rows: [string, object | undefined, object | undefined, string, object?][] = [
      ['no pod yet', job({}), undefined, 'queued'],
      ['suspended', job({}, {}, { suspend: true }), undefined, 'queued'],
      [
        'suspended for long',
        job({}, { creationTimestamp: at(-91) }, { suspend: true }),
        undefined,
        'ended',
        { kind: 'unknown' },
      ],
      [
        'unschedulable',
        job({}),
        pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] }),
        'queued',
      ],
      [
        'starting',
        job({}),
        pod({ ...waiting('ContainerCreating'), conditions: [{ type: 'PodScheduled', status: 'True' }] }),
        'running',
      ],
      ['running', job({}), pod({ phase: 'Running', startTime: at(-5) }), 'running'],
      ['image', job({}), pod(waiting('ImagePullBackOff')), 'ended', { kind: 'failed' }],
      [
        'image, deleted',
        job({}, { deletionTimestamp: at(0) }),
        pod(waiting('ErrImagePull')),
        'ended',
        { kind: 'failed' },
      ],
      ['deleted', job({}, { deletionTimestamp: at(0) }), pod({ phase: 'Running' }), 'stopping'],
      ['drained', job({}), pod({ phase: 'Running' }, { deletionTimestamp: at(0) }), 'stopping'],
      ['pod alone', undefined, pod({ phase: 'Running' }), 'stopping'],
      [
        'complete',
        job({ conditions: [{ type: 'Complete', status: 'True' }] }),
        undefined,
        'ended',
        { kind: 'completed', exitCode: 0 },
      ],
      ['exit', job(failed), pod(ended(3)), 'ended', { kind: 'failed', exitCode: 3 }],
      [
        'its own memory limit',
        job(failed),
        pod(ended(137, 'OOMKilled'), {}, limited),
        'ended',
        { kind: 'out-of-memory', exitCode: 137 },
      ],
      [
        'memory of the node',
        job(failed),
        pod(ended(137, 'OOMKilled'), {}, { containers: [{ resources: { requests: { memory: '1Gi' } } }] }),
        'ended',
        { kind: 'node-failure', exitCode: 137 },
      ],
      ['evicted', job(failed), pod(evicted('The node was low on resource: memory.')), 'ended', { kind: 'evicted' }],
      [
        'evicted, by the kubelet',
        job(failed),
        pod(disrupted('TerminationByKubelet', evicted('The node was low on resource: memory.'))),
        'ended',
        { kind: 'evicted' },
      ],
      ['evicted, by a person', job(failed), pod(disrupted('EvictionByEvictionAPI')), 'ended', { kind: 'evicted' }],
      [
        'its own storage limit',
        job(failed),
        pod(evicted('Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.')),
        'ended',
        { kind: 'failed' },
      ],
      [
        'node shut down',
        job(failed),
        pod(disrupted('TerminationByKubelet', { reason: 'Terminated', message: 'm' })),
        'ended',
        { kind: 'node-failure' },
      ],
      [
        'preempted by the kubelet',
        job(failed),
        pod({ phase: 'Failed', reason: 'Preempting' }),
        'ended',
        { kind: 'preempted' },
      ],
      ['preempted, pod removed', job(byPolicy), undefined, 'ended', { kind: 'preempted' }],
      ['late', job(failed), pod({ ...ended(0), reason: 'DeadlineExceeded' }), 'ended', { kind: 'timeout' }],
      ['preempted', job(failed), pod(disrupted('PreemptionByScheduler')), 'ended', { kind: 'preempted' }],
      ['node lost', job(failed), pod(disrupted('DeletionByTaintManager')), 'ended', { kind: 'node-failure' }],
      ['stale pod', job(failed), pod({ phase: 'Running' }), 'stopping'],
      ['pod removed', job(failed), undefined, 'ended', { kind: 'unknown' }],
    ];
    for (const [name, aJob, aPod, state, end] of rows) {
      const jobs = aJob === undefined ? [] : [aJob as Record<string, unknown>];
      const pods = aPod === undefined ? [] : [aPod as Record<string, unknown>];
      const [found] = allocationsOf(jobs, pods, { serverMs: SERVER_MS, nowMs: SERVER_MS + 60_000 });
      expect({ state: found?.allocation.state, end: found?.allocation.end }, name).to.deep.equal({ state, end });
      expect(found?.isHopeless, name).to.equal(name.startsWith('image') || name === 'suspended for long');
    }
    // The clock of the server is a minute slow.
    const [running] = allocationsOf([job({})], [pod({ phase: 'Running', startTime: at(-5) })], {
      serverMs: SERVER_MS,
      nowMs: SERVER_MS + 60_000,
    });
    expect(running?.allocation).to.include({ startedAtMs: SERVER_MS + 55_000, endsAtMs: SERVER_MS + 115_000 });
  });

  it('names the place of every fault', () => {
    const queue = kubernetesQueue({ tolerations: [{}] });
    const request = { need: need({ kubernetes: { namespace: '', cluster_name: '', node_selectors: { a: 'b' } } }) };
    const place = (field: string): string =>
      faultsOf(
        { status: 422, body: { message: 'm', details: { causes: [{ field, message: 'why' }] } } },
        queue,
        request,
      ).join();
    const spec = 'spec.template.spec';
    expect(place(`${spec}.tolerations[0].key`)).to.equal(
      'launcher.yaml /queues/main/kubernetes/tolerations/0/key: why',
    );
    expect(place(`${spec}.tolerations[2].effect`)).to.equal(
      'study /config/compute/kubernetes/tolerations/1/effect: why',
    );
    expect(place(`${spec}.nodeSelector`)).to.equal('study /config/compute/kubernetes/node_selectors: why');
    expect(place(`${spec}.containers[0].resources.limits[memory]`)).to.equal(
      'study /config/compute/container/memory_limit: why',
    );
    expect(place(`${spec}.containers[0].resources.requests[cpu]`)).to.equal(
      'launcher.yaml /queues/main/size/cores: why',
    );
    expect(place(`${spec}.containers[0].image`)).to.equal('launcher.yaml /queues/main/kubernetes/image: why');
    expect(place('spec.other')).to.equal('spec.other: why');
    expect(faultsOf({ status: 403, body: { message: 'exceeded quota: small' } }, queue, request)).to.deep.equal([
      'exceeded quota: small',
    ]);
  });
});
