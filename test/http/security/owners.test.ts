/** Permissions as one table, on a real coordinator over real HTTP: each action on a study, by each set of scopes, of its owner and of others. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Batch, TokenScope } from '../../../src/contract/types.ts';
import { changeTokens, newToken, Tokens } from '../../../src/coordinator/kernel/storage/tokens.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { Access } from '../../../src/http/security/auth.ts';
import { trustedProxy } from '../../../src/http/security/proxy-user.ts';
import { routes } from '../../../src/http/routes/index.ts';
import { BODIES } from '../../support/bodies.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

type Actor = 'ann' | 'bob' | 'reader' | 'boss' | 'both';
const SCOPES: Record<Actor, TokenScope[]> = {
  ann: ['read', 'submit'],
  bob: ['read', 'submit'],
  reader: ['read'],
  boss: ['read', 'operate'],
  both: ['read', 'submit', 'operate'],
};
const ACTORS = Object.keys(SCOPES) as Actor[];

/**
 * The clients that an action on a study admits, and the scope that each other one lacks. `own`: the study of `ann`; `other`: that of `else`;
 * `none`: one without an owner.
 */
const STEERS = {
  own: { ann: '', bob: 'operate', reader: 'submit', boss: '', both: '' },
  other: { ann: 'operate', bob: 'operate', reader: 'submit', boss: '', both: '' },
};
const GROWS = {
  own: { ann: '', bob: 'operate', reader: 'submit', boss: 'submit', both: '' },
  other: { ann: 'operate', bob: 'operate', reader: 'submit', boss: 'submit', both: '' },
};
const SHARED = { ann: '', bob: '', reader: 'submit', boss: 'submit', both: '' };
const OPERATES = { ann: 'operate', bob: 'operate', reader: 'operate', boss: '', both: '' };
const TABLE: Record<string, Record<'own' | 'other' | 'none', Record<Actor, string>>> = {
  ...Object.fromEntries(
    ['cancelBatch', 'pauseBatch', 'resumeBatch', 'releaseBatch', 'amendJudgement', 'closeBatch', 'cancelJob'].map(
      (it) => [it, { ...STEERS, none: STEERS.other }],
    ),
  ),
  ...Object.fromEntries(
    ['extendBatch', 'rerunBatch', 'auditBatch', 'extractBatch', 'appendRound', 'evaluatePoints'].map((it) => [
      it,
      { ...GROWS, none: GROWS.other },
    ]),
  ),
  keepView: { own: SHARED, other: SHARED, none: SHARED },
  removeView: { own: SHARED, other: SHARED, none: SHARED },
  deleteBatch: { own: OPERATES, other: OPERATES, none: OPERATES },
};

describe('http/security/permissions', () => {
  let folder: string;
  let scene: Scene;
  let server: TestServer;
  let tokens: Tokens;
  const secrets = {} as Record<Actor | 'else' | 'proxy', string>;
  const studies = {} as Record<'own' | 'other' | 'none', string>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-owners-'));
    const all = { ...SCOPES, else: SCOPES.ann, proxy: SCOPES.ann };
    await changeTokens(folder, () =>
      Object.entries(all).map(([name, scopes]) => {
        const made = newToken({ name, scopes, runnerId: undefined, expiresAtMs: undefined }, 0, randomBytes);
        secrets[name as Actor] = made.token;
        return made.record;
      }),
    );
  });
  beforeEach(async () => {
    scene = await Scene.open();
    const now = () => scene.world.now();
    tokens = new Tokens(folder, now, () => {});
    const proxy = trustedProxy('X-Forwarded-User', ['127.0.0.0/8']);
    const access = new Access({ tokens, isOpenWithoutTokens: false, now, proxy });
    server = await listen({ coordinator: scene.api, access });
    studies.own = await submitted('ann');
    studies.other = await submitted('else');
    studies.none = (await scene.api.submit(study())).batch_id;
  });
  afterEach(async () => {
    scene.api.releaseWaiting();
    await server.close(0);
    await scene.api.close();
  });
  after(() => rm(folder, { recursive: true }));

  const ask = (method: string, path: string, by: keyof typeof secrets, body?: unknown, user?: string) =>
    fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${secrets[by]}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(user === undefined ? {} : { 'X-Forwarded-User': user }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const submitted = async (by: keyof typeof secrets, user?: string): Promise<string> => {
    const answer = await ask('POST', '/jobs', by, study(), user);
    return ((await answer.json()) as { batch_id: string }).batch_id;
  };
  const read = async (batchId: string): Promise<string> => (await ask('GET', `/batches/${batchId}`, 'ann')).text();
  const batchOf = async (batchId: string): Promise<Batch> =>
    (JSON.parse(await read(batchId)) as { batch: Batch }).batch;
  const detailOf = async (answer: Response): Promise<string> => ((await answer.json()) as { detail: string }).detail;

  it('has a row for each action that changes a study', () => {
    const changing = routes.filter(
      ({ method, path, scope }) => method !== 'GET' && /batch_id|job_id/.test(path) && scope !== 'runner',
    );
    expect(changing.map((it) => it.operationId).sort()).to.deep.equal(Object.keys(TABLE).sort());
  });

  for (const [operationId, row] of Object.entries(TABLE)) {
    const { method, path } = routes.find((it) => it.operationId === operationId)!;
    for (const whose of ['own', 'other', 'none'] as const) {
      it(`${operationId}, study ${whose}: ${JSON.stringify(row[whose])}`, async () => {
        const id = studies[whose];
        const before = await read(id);
        // The clients that are refused come first, so that the study is as it was.
        const inOrder = [...ACTORS].sort((a, b) => Number(row[whose][a] === '') - Number(row[whose][b] === ''));
        for (const actor of inOrder) {
          const missing = row[whose][actor];
          const address = path.replace('{batch_id}', id).replace('{job_id}', jobId(id, 0));
          const query = operationId === 'removeView' ? '?name=a' : '';
          const answer = await ask(method, address + query, actor, BODIES[operationId]);
          if (missing === '') {
            // Whatever the state of the study says to it: the client may ask.
            expect([401, 403], actor).not.to.include(answer.status);
            await answer.text();
            continue;
          }
          expect(answer.status, actor).to.equal(403);
          const detail = await detailOf(answer);
          expect(detail).to.contain(`\`${missing}\``);
          if (missing === 'operate' && operationId !== 'deleteBatch') {
            const owner = { own: '"ann"', other: '"else"', none: 'no owner' }[whose];
            expect(detail).to.contain(owner).and.to.contain(`"${actor}"`).and.to.contain(id);
          }
          expect(await read(id), `${actor} changed it`).to.equal(before);
        }
      });
    }
  }

  it('names the owner of a study, and the client of each change in its history', async () => {
    expect((await batchOf(studies.own)).owner).to.equal('ann');
    expect(await batchOf(studies.none)).not.to.have.property('owner');
    await (await ask('POST', `/batches/${studies.own}/pause`, 'ann', { reason: 'lunch' })).text();
    await (await ask('POST', `/batches/${studies.own}/judgement`, 'both', { labels: { a: 'b' } })).text();
    await (await ask('POST', `/batches/${studies.own}/cancel`, 'boss', { reason: 'maintenance' })).text();
    const answer = await ask('GET', `/batches/${studies.own}/history`, 'reader');
    const { events } = (await answer.json()) as { events: { type: string; by?: string }[] };
    expect(events.map(({ type, by }) => [type, by])).to.deep.equal([
      ['submitted', 'ann'],
      ['paused', 'ann'],
      ['amended', 'both'],
      ['cancelled', 'boss'],
      ['ended', undefined],
    ]);
  });

  it('gives an extension to the owner of the study, and another study to the client that makes it', async () => {
    const extended = await ask('POST', `/batches/${studies.own}/extend`, 'both', { runs: 20 });
    const { batch_id: extension } = (await extended.json()) as { batch_id: string };
    expect((await batchOf(extension)).owner).to.equal('ann');
    const rerun = await ask('POST', `/batches/${studies.own}/rerun`, 'both', { select: { run_ids: '0' } });
    const { batch_id: again } = (await rerun.json()) as { batch_id: string };
    expect((await batchOf(again)).owner).to.equal('both');
  });

  it('lists the studies of an owner, and of the client that asks', async () => {
    const listed = async (query: string, by: Actor) => {
      const answer = await ask('GET', `/batches?${query}`, by);
      return ((await answer.json()) as Batch[]).map((it) => it.id);
    };
    expect(await listed('owner=ann&owner=else', 'reader')).to.deep.equal([studies.own, studies.other]);
    expect(await listed('mine=true', 'ann')).to.deep.equal([studies.own]);
    expect(await listed('mine=true', 'bob')).to.deep.equal([]);
  });

  it('continues the studies of the client alone', async () => {
    const continued = async (by: Actor) => {
      const answer = await ask('POST', '/jobs?continue=true', by, study());
      return ((await answer.json()) as { batch_id: string }).batch_id;
    };
    expect(await continued('ann')).to.equal(studies.own);
    const fresh = await continued('bob');
    expect(Object.values(studies)).not.to.include(fresh);
    expect((await batchOf(fresh)).owner).to.equal('bob');
    expect(await continued('bob')).to.equal(fresh);
  });

  it('takes the name of the user from a trusted proxy, and the scopes from its token', async () => {
    const id = await submitted('proxy', 'eve@example.org');
    expect((await batchOf(id)).owner).to.equal('eve@example.org');
    expect((await ask('POST', `/batches/${id}/pause`, 'proxy', {}, 'mallory')).status).to.equal(403);
    expect((await ask('POST', `/batches/${id}/pause`, 'proxy', {})).status).to.equal(403);
    expect((await ask('POST', `/batches/${id}/pause`, 'proxy', {}, 'eve@example.org')).status).to.equal(200);
    expect((await ask('DELETE', `/batches/${id}`, 'proxy', undefined, 'boss')).status, 'no scope').to.equal(403);
    for (const name of ['eve, ann', ' ', 'a'.repeat(201)]) {
      const answer = await ask('GET', '/batches', 'proxy', undefined, name);
      expect(answer.status, name).to.equal(403);
      expect(await detailOf(answer)).to.contain('not one name');
    }
  });

  it('refuses the header of the user from any other address', async () => {
    const now = () => scene.world.now();
    const proxy = trustedProxy('X-Forwarded-User', ['10.0.0.0/8', '::1']);
    const access = new Access({ tokens, isOpenWithoutTokens: false, now, proxy });
    const other = await listen({ coordinator: scene.api, access });
    const headers = { authorization: `Bearer ${secrets.both}`, 'x-forwarded-user': 'ann' };
    const answer = await fetch(`${other.url}/batches`, { headers });
    expect([answer.status, await detailOf(answer)]).to.deep.equal([
      403,
      'the header x-forwarded-user is refused: 127.0.0.1 is not a trusted proxy; leave the header out, or start the coordinator with --trusted-proxy for this address',
    ]);
    await other.close(0);
  });

  it('changes nothing without tokens: studies have no owner, and every client may do everything', async () => {
    const open = await listen({ coordinator: scene.api });
    for (const id of Object.values(studies)) {
      const answer = await fetch(`${open.url}/batches/${id}/cancel`, { method: 'POST' });
      expect(answer.status).to.equal(200);
    }
    const history = (await (await fetch(`${open.url}/batches/${studies.none}/history`)).json()) as {
      events: { by?: string }[];
    };
    expect(history.events.some((it) => it.by !== undefined)).to.equal(false);
    expect((await fetch(`${open.url}/batches?mine=true`)).status).to.equal(400);
    await open.close(0);
  });
});

describe('http/security/proxy-user', () => {
  for (const [range, address, is] of [
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['127.0.0.1', '127.0.0.2', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', '10.1.2.3', false],
    ['0.0.0.0/0', 'no address', false],
  ] as const) {
    it(`${is ? 'trusts' : 'does not trust'} ${address} for ${range}`, () => {
      expect(trustedProxy('X-User', [range]).isTrusted(address)).to.equal(is);
    });
  }
  for (const range of ['10.0.0.0/33', 'example.org', '', '10.0.0', 'fd00::/129'])
    it(`refuses the range ${JSON.stringify(range)}`, () => {
      expect(() => trustedProxy('X-User', [range])).to.throw(/--trusted-proxy/);
    });
  for (const header of ['Authorization', 'Host', 'X User', ''])
    it(`refuses the header ${JSON.stringify(header)}`, () => {
      expect(() => trustedProxy(header, [])).to.throw(/--trust-user-header/);
    });
});
