/** The manifests of deploy/kubernetes on a real API server: strictly valid, taken by its admission of pods, and with the rights of the launcher alone. No kubelet starts their pods. */
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { kubernetesMissing, RealKubernetes } from '../../support/kubernetes/real-api.ts';
import { skipWithout } from '../support.ts';

const ACCOUNT = 'system:serviceaccount:simbatch:simbatch-launcher';
const MAY: readonly (readonly [verb: string, resource: string])[] = [
  ...['create', 'get', 'list', 'patch', 'delete'].map((verb) => [verb, 'batch/jobs'] as const),
  ['list', '/pods'],
  ['delete', '/pods'],
  ['create', '/secrets'],
];
const MUST_NOT: readonly (readonly [verb: string, resource: string, namespace: string])[] = [
  ...['get', 'list', 'watch', 'update', 'delete'].map((verb) => [verb, '/secrets', 'sims'] as const),
  ['create', '/pods', 'sims'],
  ['create', '/pods/exec', 'sims'],
  ['create', 'rbac.authorization.k8s.io/rolebindings', 'sims'],
  ['create', 'batch/jobs', 'simbatch'],
  ['get', '/secrets', 'simbatch'],
  ['delete', '/pods', 'simbatch'],
  ['list', '/pods', ''],
  ['list', '/nodes', ''],
];

describe('deploy/kubernetes', function () {
  let cluster: RealKubernetes | undefined;
  before(async function () {
    skipWithout(this, process.env['SIMBATCH_K8S_MINI'] === undefined ? undefined : kubernetesMissing());
    if (kubernetesMissing() !== undefined) this.skip();
    cluster = new RealKubernetes();
    await cluster.start();
  });
  after(() => cluster?.stop());

  async function object(path: string): Promise<Record<string, unknown>> {
    const { status, body } = await cluster!.api().request('GET', path);
    expect(status, path).to.equal(200);
    return body;
  }

  it('are all taken with strict validation', async () => {
    // rbac.yaml is there already: every test of the launcher has its rights.
    expect(readdirSync(join(packageRoot, 'deploy/kubernetes'))).to.have.members([
      'coordinator.yaml',
      'launcher.yaml',
      'rbac.yaml',
    ]);
    for (const name of ['coordinator', 'launcher']) await cluster!.apply(`deploy/kubernetes/${name}.yaml`);
    await object('/apis/apps/v1/namespaces/simbatch/statefulsets/simbatch');
  });

  const TEMPLATES = [
    ['statefulsets/simbatch', 'coordinator'],
    ['deployments/simbatch-launcher', 'launcher'],
  ] as const;
  for (const [path, what] of TEMPLATES)
    it(`have a pod of the ${what} that the restricted standard of its namespace admits`, async () => {
      const { spec } = await object(`/apis/apps/v1/namespaces/simbatch/${path}`);
      const { template } = spec as { template: { spec: { securityContext: object; serviceAccountName?: string } } };
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: what, namespace: 'simbatch' },
        spec: template.spec,
      };
      const create = { body: pod, query: { dryRun: 'All', fieldValidation: 'Strict' } };
      // The controller that fills claims of a StatefulSet does not take part.
      const volumes = (template.spec as unknown as { volumes: object[] }).volumes;
      if (what === 'coordinator')
        volumes.push({ name: 'data', persistentVolumeClaim: { claimName: 'data-simbatch-0' } });
      const { status, body } = await cluster!.api().request('POST', '/api/v1/namespaces/simbatch/pods', create);
      expect(status, JSON.stringify(body)).to.equal(201);

      template.spec.securityContext = { runAsUser: 0 };
      const asRoot = await cluster!.api().request('POST', '/api/v1/namespaces/simbatch/pods', create);
      expect([asRoot.status, JSON.stringify(asRoot.body)].join(' ')).to.match(/^403 .*violates PodSecurity/);
    });

  /** The answer of the API server to `kubectl auth can-i`, for the account of the launcher. */
  async function may(verb: string, name: string, namespace: string): Promise<boolean> {
    const [group, resource, subresource] = name.split('/');
    const resourceAttributes = { verb, group, resource, subresource, namespace };
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: ACCOUNT, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes },
    };
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const { status, body: answer } = await cluster!.api().request('POST', path, { body });
    expect(status, JSON.stringify(answer)).to.equal(201);
    return (answer['status'] as { allowed: boolean }).allowed;
  }

  it('give the launcher the rights that it uses', async () => {
    for (const [verb, resource] of MAY) expect(await may(verb, resource, 'sims'), `${verb} ${resource}`).to.equal(true);
  });

  it('give the launcher no others', async () => {
    for (const [verb, resource, namespace] of MUST_NOT)
      expect(await may(verb, resource, namespace), `${verb} ${resource} in ${namespace}`).to.equal(false);
  });
});
