import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Access } from '../../../src/http/security/auth.ts';
import { FailedAttempts } from '../../../src/http/security/failed-attempts.ts';
import { routes } from '../../../src/http/routes/index.ts';
import { TOKEN_SCOPES } from '../../../src/contract/enums.ts';
import type { TokenScope } from '../../../src/contract/types.ts';
import { changeTokens, newToken, Tokens } from '../../../src/coordinator/kernel/storage/tokens.ts';
import { BODIES } from '../../support/bodies.ts';
import { BATCH_ID, fakeCoordinator, JOB_ID, result } from '../../support/fake-api.ts';
import { exampleQuery } from '../../support/example-query.ts';
import { listen, rawRequest, type TestServer } from '../../support/http.ts';

describe('http/security/auth', () => {
  let folder: string;
  let now = 0;
  let server: TestServer;
  let refusals: string[];
  const secrets = {} as Record<TokenScope | 'r1' | 'r2' | 'brief', string>;
  const coordinator = fakeCoordinator({ jobResult: async () => result });
  const access = (isOpenWithoutTokens: boolean) =>
    new Access({
      tokens: new Tokens(
        folder,
        () => now,
        () => {},
      ),
      isOpenWithoutTokens,
      now: () => now,
      refused: (_address, why) => refusals.push(why),
    });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-access-'));
    const wishes: [keyof typeof secrets, TokenScope, string?, number?][] = [
      ...TOKEN_SCOPES.map((scope): [TokenScope, TokenScope] => [scope, scope]),
      ['r1', 'runner', 'r1'],
      ['r2', 'runner', 'r2'],
      ['brief', 'read', undefined, 1_000],
    ];
    const records = wishes.map(([name, scope, runnerId, expiresAtMs]) => {
      const made = newToken({ name, scopes: [scope], runnerId, expiresAtMs }, 0, randomBytes);
      secrets[name] = made.token;
      return made.record;
    });
    await changeTokens(folder, () => records);
    server = await listen({ coordinator, access: access(true) });
  });
  beforeEach(() => (refusals = []));
  after(async () => {
    await server.close(0);
    await rm(folder, { recursive: true });
  });

  const ask = (method: string, path: string, secret: string | undefined, body?: unknown) =>
    fetch(server.url + path, {
      method,
      headers: {
        ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  for (const route of routes) {
    const path =
      route.path
        .replace('{job_id}', JOB_ID)
        .replace('{batch_id}', BATCH_ID)
        .replace('{runner_id}', 'r1')
        .replace('{round}', '0')
        .replace('{key}', 'a') + exampleQuery(route);
    it(`${route.method} ${route.path} is for ${route.scope === 'open' ? 'every client' : `the scope ${route.scope}`}`, async () => {
      for (const scope of TOKEN_SCOPES) {
        const response = await ask(route.method, path, secrets[scope], BODIES[route.operationId]);
        const isAllowed =
          route.scope === 'open' || route.scope === scope || (route.changes === 'steers' && scope === 'operate');
        expect(response.status, `${scope}: ${await response.clone().text()}`).to.equal(isAllowed ? 200 : 403);
        const text = await response.text();
        if (!isAllowed) expect(text).to.contain(`\`${route.scope}\``);
        expect(text).not.to.contain(secrets[scope].slice(13));
      }
      const without = await ask(route.method, path, undefined, BODIES[route.operationId]);
      expect(without.status).to.equal(route.scope === 'open' ? 200 : 401);
      if (route.scope !== 'open') expect(without.headers.get('www-authenticate')).to.equal('Bearer');
      await without.text();
    });

    // A reading speaks for no runner.
    if (route.scope !== 'runner' || route.method === 'GET') continue;
    it(`${route.method} ${route.path} restricts a runner's token to that runner`, async () => {
      const own = await ask(route.method, path, secrets.r1, BODIES[route.operationId]);
      const foreign = await ask(route.method, path, secrets.r2, BODIES[route.operationId]);
      expect([own.status, foreign.status]).to.deep.equal([200, 403]);
      expect(((await foreign.json()) as { detail: string }).detail)
        .to.contain('"r2"')
        .and.to.contain('"r1"');
    });
  }

  it('is checked before any other fault of the request is reported', async () => {
    const asked = coordinator.calls.length;
    expect((await ask('GET', '/jobs/nonsense?what=1', undefined)).status).to.equal(401);
    expect((await ask('POST', '/jobs', undefined, { wrong: true })).status).to.equal(401);
    expect(coordinator.calls.length).to.equal(asked);
  });

  it('accepts no other scheme, and no token in the address', async () => {
    for (const authorization of [`Basic ${secrets.read}`, secrets.read, 'Bearer', `Bearer ${secrets.read} x`]) {
      const answer = await rawRequest(`${server.url}/jobs`, 'GET', { authorization });
      expect(answer.status, authorization).to.equal(401);
    }
    expect((await fetch(`${server.url}/jobs?token=${secrets.read}`)).status).to.equal(401);
    expect(
      (await rawRequest(`${server.url}/jobs`, 'GET', { authorization: `bearer ${secrets.read}` })).status,
    ).to.equal(200);
  });

  it('ends when the token expires or is revoked', async () => {
    expect((await ask('GET', '/jobs', secrets.brief)).status).to.equal(200);
    now = 1_000;
    const expired = await ask('GET', '/jobs', secrets.brief);
    expect([expired.status, ((await expired.json()) as { detail: string }).detail]).to.deep.equal([
      401,
      `the token ${secrets.brief.slice(4, 12)} expired at 1970-01-01T00:00:01.000Z; use another one`,
    ]);
    await changeTokens(folder, (all) => all.filter((it) => it.id !== secrets.submit.slice(4, 12)));
    now = 2_000;
    expect((await ask('GET', '/jobs', secrets.submit)).status).to.equal(401);
    expect((await ask('GET', '/jobs', secrets.read)).status).to.equal(200);
  });

  it('limits wrong tokens per address, and valid ones never', async () => {
    now += 60_000;
    const wrong = `sbt_00000000_${'x'.repeat(43)}`;
    const statuses: number[] = [];
    for (let tries = 0; tries < 22; tries++) statuses.push((await ask('GET', '/jobs', wrong)).status);
    expect(statuses.filter((it) => it === 401)).to.have.length(20);
    const limited = await ask('GET', '/jobs', wrong);
    expect([limited.status, limited.headers.get('retry-after')]).to.deep.equal([429, '60']);
    expect(refusals).to.have.length(20);
    expect((await ask('GET', '/jobs', secrets.read)).status).to.equal(200);
    now += 60_000;
    expect((await ask('GET', '/jobs', wrong)).status).to.equal(401);
  });

  it('writes no secret to the log', () => {
    const received = JSON.stringify(server.received);
    for (const secret of Object.values(secrets)) expect(received).not.to.contain(secret.slice(13));
  });

  it('uses the same check for a WebSocket, from a header or the offered protocols', () => {
    const request = (headers: Record<string, string>) =>
      ({ headers, socket: { remoteAddress: '::1' } }) as unknown as IncomingMessage;
    const { read } = secrets;
    const mine = access(false);
    expect(mine.authorize(request({ authorization: `Bearer ${read}` }), 'read').tokenId).to.equal(read.slice(4, 12));
    const offered = { 'sec-websocket-protocol': `simbatch, simbatch.bearer.${read}` };
    expect(mine.authorize(request(offered), 'read').tokenId).to.equal(read.slice(4, 12));
    expect(() => mine.authorize(request({ 'sec-websocket-protocol': 'simbatch' }), 'read')).to.throw(/needs a token/);
    expect(() => mine.authorize(request(offered), 'operate')).to.throw(/`operate`/);
  });

  it('is open without tokens only on loopback or by option', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'simbatch-access-'));
    const request = { headers: {}, socket: {} } as IncomingMessage;
    const tokens = new Tokens(
      empty,
      () => now,
      () => {},
    );
    const open = new Access({ tokens, isOpenWithoutTokens: true, now: () => now });
    const shut = new Access({ tokens, isOpenWithoutTokens: false, now: () => now });
    expect(open.authorize(request, 'operate')).to.deep.equal({ tokenId: undefined, runnerId: undefined });
    expect(() => shut.authorize(request, 'read')).to.throw(/none was created yet/);
    await rm(empty, { recursive: true });
  });
});

describe('http/security/failed-attempts', () => {
  it('drops counts after their minute, after a clock step, and of the oldest of too many addresses', () => {
    let now = 0;
    const failed = new FailedAttempts(() => now);
    const tries = (address: string, count: number) => Array.from({ length: count }, () => failed.count(address)).at(-1);
    expect(tries('10.0.0.1', 20)).to.equal(0);
    expect(tries('10.0.0.1', 1)).to.equal(60_000);
    expect(tries('10.0.0.2', 1)).to.equal(0);
    now = -1e6;
    expect(tries('10.0.0.1', 1)).to.equal(0);
    expect(tries('2001:db8:1:2::5', 20)).to.equal(0);
    expect(tries('2001:db8:1:2:ffff::9', 1), 'the same network').to.equal(60_000);
    expect(tries('2001:db8:1:3::5', 1)).to.equal(0);
    for (let i = 0; i < 10_001; i++) failed.count(`192.168.${i >> 8}.${i & 255}`);
    expect(tries('2001:db8:1:2::5', 1)).to.equal(0);
  });
});
