/** Studies that carry a function, over HTTP: taken, read by runners alone, kept by studies that come of them. */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { changeTokens, newToken, Tokens } from '../../src/coordinator/kernel/storage/tokens.ts';
import { codeDigest } from '../../src/domain/study/function-code.ts';
import { Access } from '../../src/http/security/auth.ts';
import { capabilities, submission } from '../support/fake-api.ts';
import { listen, post, type TestServer } from '../support/http.ts';

const NAME = 'python-functions-3.11';
const CODE = Buffer.alloc(1_048_576, 'x').toString('base64');

describe('http: studies that carry a function', () => {
  let folder = '';
  let coordinator: Coordinator;
  let server: TestServer;
  let id = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-functions-'));
    coordinator = await openCoordinator(await openStore(folder), systemClock);
    server = await listen({ coordinator });
    const answer = await post(`${server.url}/jobs`, study(CODE));
    id = ((await answer.json()) as { batch_id: string }).batch_id;
  });
  after(async () => {
    coordinator.releaseWaiting();
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  function study(code: string, sha256 = codeDigest(code)): object {
    const { config } = submission;
    const simulation = { ...config.simulation, name: NAME, code: { sha256, python: '3.11' } };
    const monteCarlo = { ...config.monte_carlo, sampling_method: 'monte_carlo' };
    return { ...submission, config: { ...config, simulation, monte_carlo: monteCarlo }, code };
  }
  const get = async (path: string): Promise<{ status: number; body: any }> => {
    const response = await fetch(server.url + path);
    return { status: response.status, body: await response.json() };
  };

  it('are returned with their function, by the submission and by its own address', async () => {
    expect((await get(`/batches/${id}/code`)).body).to.deep.equal({ data: CODE });
    expect((await get(`/batches/${id}/submission`)).body.code).to.equal(CODE);
    const plain = (await (await post(`${server.url}/jobs`, submission)).json()) as { batch_id: string };
    const { status, body } = await get(`/batches/${plain.batch_id}/code`);
    expect([status, body.code]).to.deep.equal([404, 'not-found']);
  });

  it('are not sent with a claim, and go only to a runner that names functions', async () => {
    for (const [runner, types] of [
      ['any', ['*']],
      ['own', ['*', NAME]],
    ] as const) {
      const own = { ...capabilities, supported_simulation_types: types, max_concurrent_jobs: 1 };
      await post(`${server.url}/runners`, { id: runner, instance: 'i', capabilities: own });
      const claim = await post(`${server.url}/runners/${runner}/claims`, { instance: 'i', max_jobs: 1 });
      const { batches } = (await claim.json()) as { batches: Record<string, object> };
      expect(Object.keys(batches).includes(id), runner).to.equal(runner === 'own');
      expect(JSON.stringify(batches).length).to.be.lessThan(10_000);
    }
  });

  it("show it to a runner's token only while that runner holds a run of the study", async () => {
    const places = await mkdtemp(join(tmpdir(), 'simbatch-tokens-'));
    const tokens = ['own', 'any', undefined].map((runnerId) =>
      newToken({ name: runnerId ?? 'pool', scopes: ['runner'], runnerId, expiresAtMs: undefined }, 0, randomBytes),
    );
    await changeTokens(places, () => tokens.map((it) => it.record));
    const now = (): number => systemClock.now();
    const access = new Access({ tokens: new Tokens(places, now, () => {}), isOpenWithoutTokens: false, now });
    const closed = await listen({ coordinator, access });
    const reading = async (at: number): Promise<unknown> => {
      const headers = { authorization: `Bearer ${tokens[at]!.token}` };
      const response = await fetch(`${closed.url}/batches/${id}/code`, { headers });
      const body = (await response.json()) as { code?: string; detail?: string };
      return body.code ?? response.status;
    };
    try {
      // `own` has claimed a run of the study above, and `any` one of another study.
      expect([await reading(0), await reading(1), await reading(2)]).to.deep.equal([200, 'forbidden', 200]);
      const { current_jobs: jobs } = (await get('/runners/own')).body as { current_jobs: string[] };
      const [job = ''] = jobs;
      const attempt = { runner_id: 'own', attempt: 1 };
      const failed = { ...attempt, reason: 'exit', error_message: 'exit code 1' };
      expect((await post(`${server.url}/jobs/${job}/start`, attempt)).status).to.equal(200);
      expect((await post(`${server.url}/jobs/${job}/fail`, failed)).status).to.equal(200);
      expect(await reading(0)).to.equal('forbidden');
    } finally {
      await closed.close(0);
      await rm(places, { recursive: true });
    }
  });

  it('keep it in a study that extends them', async () => {
    const extended = await post(`${server.url}/batches/${id}/extend`, { runs: 10 });
    expect(extended.status, await extended.clone().text()).to.equal(200);
    const { batch_id: grown } = (await extended.json()) as { batch_id: string };
    expect((await get(`/batches/${grown}/code`)).body.data).to.equal(CODE);
  });

  it('are refused when the function is too large, is not base64 or is another one than the digest says', async () => {
    const refused: [object, string][] = [
      [study(Buffer.alloc(1_048_579, 'x').toString('base64')), '/code'],
      [study('not base64!'), '/code'],
      [study('AAAA', '0'.repeat(64)), '/config/simulation/code/sha256'],
      [{ ...submission, code: 'AAAA' }, '/code'],
    ];
    for (const [body, pointer] of refused) {
      const response = await post(`${server.url}/jobs`, body);
      expect(response.status).to.equal(422);
      const { errors } = (await response.json()) as { errors: { pointer: string; detail: string }[] };
      expect(errors.map((it) => it.pointer)).to.include(pointer);
      expect(Math.max(...errors.map((it) => it.detail.length))).to.be.lessThan(1_000);
    }
  });
});
