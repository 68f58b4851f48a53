/** Variables of the environment under both of their names, in the real program. */
import { expect } from 'chai';
import { FakeCoordinator } from '../../support/fake-coordinator.ts';
import { simbatch } from '../../support/program.ts';

describe('cli: variables', () => {
  it('reads a setting under either name', async () => {
    for (const name of ['SIMBATCH_ENDPOINT', 'SVC_ENDPOINT']) {
      const { stderr } = await simbatch(['status'], { [name]: 'http://127.0.0.1:9' });
      expect(stderr).to.contain('cannot reach the coordinator at http://127.0.0.1:9');
    }
  });

  it('refuses two names with different values, without the values', async () => {
    const given = { SIMBATCH_TOKEN: 'one-secret', SVC_TOKEN: 'other-secret' };
    const { code, stderr } = await simbatch(['status'], given);
    expect(code).to.equal(64);
    expect(stderr)
      .to.contain('SIMBATCH_TOKEN and SVC_TOKEN are two names of one setting')
      .and.to.contain('unset one of them');
    expect(stderr).not.to.contain('secret-').and.not.to.contain('-secret');
    const problem = JSON.parse((await simbatch(['runs', '-o', 'json'], given)).stderr) as { exit_code: number };
    expect(problem.exit_code).to.equal(64);
  });

  it('names both where the value of one is wrong', async () => {
    const { code, stderr } = await simbatch(['serve'], { SIMBATCH_PORT: 'x' });
    expect(code).to.equal(64);
    expect(stderr).to.contain('SIMBATCH_PORT or SVC_PORT');
  });

  it('asks by the proxy of the environment where Node does', async function () {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    if (major < 24 || (major === 24 && minor < 5)) this.skip();
    const seen: (string | undefined)[] = [];
    const proxy = await FakeCoordinator.start();
    proxy.script = (request, response) => {
      seen.push(request.url);
      response.end('{"runners":[]}');
    };
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, NO_PROXY: '' };
    const { stderr } = await simbatch(['runners', '--endpoint', 'http://lab.invalid/simbatch'], env);
    await proxy.stop();
    expect(seen[0], stderr).to.match(/^http:\/\/lab\.invalid\/simbatch\/runners/);
  });
});
