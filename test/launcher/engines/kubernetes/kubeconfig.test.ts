/** Connections of the Kubernetes engine: kubeconfig files, client certificates, exec plugins, the service account of a pod. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../../src/base/clock.ts';
import { EngineRefused, EngineUnreachable } from '../../../../src/launcher/engine.ts';
import { KubernetesApi } from '../../../../src/launcher/engines/kubernetes/api.ts';
import { readConnection } from '../../../../src/launcher/engines/kubernetes/kubeconfig.ts';
import { FakeKubernetes } from '../../../support/kubernetes/fake-api.ts';

describe('launcher/engines/kubernetes/kubeconfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-kubeconfig-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, content: object | string): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const config = (cluster: object, user: object, more: object = {}): object => ({
    'current-context': 'one',
    contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    ...more,
  });
  const read = (path: string | undefined, context?: string, env: Record<string, string> = {}) =>
    readConnection({ env, baseDirectory: folder, kubeconfig: path, context });
  const refusal = async (content: object | string): Promise<string> => {
    const error: unknown = await read(file('wrong', content)).catch((it: unknown) => it);
    expect(error).to.be.instanceOf(EngineRefused);
    return (error as Error).message;
  };

  it('reads tokens, certificates inline and in files beside it, and server names', async () => {
    file('ca.crt', 'CA');
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    const cluster = { 'certificate-authority': 'ca.crt', 'tls-server-name': 'api' };
    const user = { 'client-certificate-data': encoded('CERT'), 'client-key-data': encoded('KEY') };
    const found = await read(file('certificates', config(cluster, user)));
    expect(found.cluster).to.deep.include({ ca: Buffer.from('CA'), serverName: 'api' });
    expect(found.cluster.server.href).to.equal('https://10.0.0.1:6443/');
    expect(found.identity).to.deep.equal({ certificate: { cert: Buffer.from('CERT'), key: Buffer.from('KEY') } });
    expect((await read(file('token', config({}, { token: 't' })))).identity).to.deep.equal({ token: 't' });
    const { identity } = await read(file('file', config({}, { tokenFile: 'tok' })));
    expect(identity).to.deep.equal({ tokenFile: join(folder, 'tok') });
  });

  it('joins the files of KUBECONFIG, where the first entry of a name counts', async () => {
    const first = file('first', {
      'current-context': 'two',
      contexts: [{ name: 'two', context: { cluster: 'c', user: 'v' } }],
    });
    const second = file('second', config({}, { token: 'u' }, { users: [{ name: 'v', user: { token: 'v' } }] }));
    const { identity } = await read(undefined, undefined, { KUBECONFIG: `${first}:${second}` });
    expect(identity).to.deep.equal({ token: 'v' });
  });

  it('refuses what is not safe or not there, with the remedy', async () => {
    const rows: [object | string, RegExp][] = [
      ['a: [', /cannot be read: .*; name another in kubeconfig or KUBECONFIG$/],
      [{}, /has no current-context; name a context/],
      [config({}, {}, { 'current-context': 'three' }), /has no context "three"; name another$/],
      [
        config({ 'insecure-skip-tls-verify': true }, {}),
        /cluster c, which skips the verification .*; give it a certificate-authority/,
      ],
      [config({ server: 'http://10.0.0.1' }, {}), /cluster c, which is not reached by https/],
      [config({ 'certificate-authority': 'no.crt' }, {}), /names .*no.crt, which cannot be read; correct the path$/],
      [config({}, { username: 'a', password: 'b' }), /user u, which has a password; use a token/],
      [config({}, { 'auth-provider': {} }), /user u, which has an auth-provider/],
    ];
    for (const [content, message] of rows) expect(await refusal(content)).to.match(message);
  });

  it('asks an exec plugin once until its credential expires or is refused', async () => {
    const server = new FakeKubernetes();
    await server.start();
    try {
      const calls = join(folder, 'calls');
      const plugin = file(
        'plugin',
        `#!/bin/sh\necho "$1 $FLAVOUR $KUBERNETES_EXEC_INFO" >>${calls}\nn=$(wc -l <${calls})\nprintf '{"kind":"ExecCredential","status":{"token":"token-%d"}}' $n\n`,
      );
      chmodSync(plugin, 0o755);
      const exec = { command: './plugin', args: ['login'], env: [{ name: 'FLAVOUR', value: 'mint' }] };
      const path = file('exec', config({ server: server.url }, { exec }));
      const api = new KubernetesApi(
        { env: process.env, baseDirectory: folder, kubeconfig: path, context: undefined },
        systemClock,
      );
      server.token = 'token-1';
      expect((await api.request('GET', '/version')).status).to.equal(200);
      expect((await api.request('GET', '/version')).status).to.equal(200);
      expect(readFileSync(calls, 'utf8').split('\n')[0]).to.match(
        /^login mint \{"apiVersion":"client.authentication.k8s.io\/v1","kind":"ExecCredential"/,
      );
      // The server takes another credential only.
      server.token = 'token-2';
      expect((await api.request('GET', '/version')).status).to.equal(200);
      server.token = 'token-9';
      expect(await api.request('GET', '/version').catch((it: unknown) => it)).to.be.instanceOf(EngineUnreachable);
      expect(readFileSync(calls, 'utf8').trim().split('\n')).to.have.length(3);
      file('plugin', '#!/bin/sh\necho "no session" >&2; exit 1\n');
      const error: unknown = await api.request('GET', '/version').catch((it: unknown) => it);
      expect((error as Error).message).to.match(
        /^the exec plugin .*plugin of the kubeconfig gave no credential: no session$/,
      );
    } finally {
      server.stop();
    }
  });
});
