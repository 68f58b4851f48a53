/** The audit log over real HTTP: each action with its client and outcome, refusals counted, and no action while the log cannot be written. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TokenScope } from '../../../../src/contract/types.ts';
import { changeTokens, newToken, Tokens } from '../../../../src/coordinator/kernel/storage/tokens.ts';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { Audit } from '../../../../src/http/security/audit/audit.ts';
import type { AuditEntry } from '../../../../src/http/security/audit/lines.ts';
import { Access } from '../../../../src/http/security/auth.ts';
import { listen, type TestServer } from '../../../support/http.ts';
import { Scene } from '../../../support/scene.ts';
import { study } from '../../../support/studies.ts';

const SCOPES: Record<string, TokenScope[]> = { ann: ['read', 'submit'], bob: ['read', 'submit'], reader: ['read'] };

describe('http/security/audit', () => {
  let folder: string;
  let scene: Scene;
  let server: TestServer;
  let entries: AuditEntry[];
  let isFull: boolean;
  let audit: Audit;
  const secrets: Record<string, string> = {};

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-audit-'));
    await changeTokens(folder, () =>
      Object.entries(SCOPES).map(([name, scopes]) => {
        const made = newToken({ name, scopes, runnerId: undefined, expiresAtMs: undefined }, 0, randomBytes);
        secrets[name] = made.token;
        return made.record;
      }),
    );
    scene = await Scene.open();
    entries = [];
    isFull = false;
    const now = () => scene.world.now();
    const access = new Access({ tokens: new Tokens(folder, now, () => {}), isOpenWithoutTokens: false, now });
    const lines = {
      append: async (entry: AuditEntry) => {
        if (isFull) throw new SimbatchError('unavailable', 'the action is refused: the audit log is full');
        entries.push(JSON.parse(JSON.stringify(entry)) as AuditEntry);
      },
      close: async () => {},
    };
    audit = new Audit({ lines, clock: scene.world, log: { info: () => {} }, isOn: () => true });
    server = await listen({ coordinator: scene.api, access, audit });
  });
  afterEach(async () => {
    scene.api.releaseWaiting();
    await server.close(0);
    await scene.api.close();
    await rm(folder, { recursive: true });
  });

  const ask = (method: string, path: string, by: string, body?: unknown, more: Record<string, string> = {}) =>
    fetch(server.url + path, {
      method,
      headers: {
        'x-request-id': 'r1',
        ...(by !== '' && { authorization: `Bearer ${secrets[by] ?? by}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const submitted = async (by: string, more: Record<string, string> = {}): Promise<string> => {
    const answer = await ask('POST', '/jobs', by, study(), more);
    return ((await answer.json()) as { batch_id: string }).batch_id;
  };

  it('has two lines of each action: who, what, on what, from where, and the outcome', async () => {
    const id = await submitted('ann');
    await (await ask('POST', `/batches/${id}/cancel`, 'ann')).text();
    await (await ask('POST', `/batches/${id}/pause`, 'ann')).text();
    await (await ask('GET', `/batches/${id}`, 'ann')).text();
    const noted = entries.map(({ event, actor, operation, on, outcome, made }) => [
      event,
      actor,
      operation,
      on,
      outcome,
      made,
    ]);
    expect(noted).to.deep.equal([
      ['begun', 'ann', 'submitBatch', undefined, undefined, undefined],
      ['ended', 'ann', 'submitBatch', undefined, 'done', id],
      ['begun', 'ann', 'cancelBatch', id, undefined, undefined],
      ['ended', 'ann', 'cancelBatch', id, 'done', undefined],
      ['begun', 'ann', 'pauseBatch', id, undefined, undefined],
      ['ended', 'ann', 'pauseBatch', id, 'illegal-transition', undefined],
    ]);
    expect(entries.every(({ request }) => request === 'r1')).to.equal(true);
    expect(entries[0]!.from).to.match(/127\.0\.0\.1$/);
    expect(entries[0]!.token).to.match(/^[0-9a-f]{8}$/);
  });

  it('counts refused requests by their reason', async () => {
    const id = await submitted('ann');
    entries.length = 0;
    for (let n = 0; n < 3; n++) await (await ask('POST', `/batches/${id}/cancel`, 'bob')).text();
    await (await ask('POST', `/batches/${id}/cancel`, 'reader')).text();
    for (let n = 0; n < 2; n++) await (await ask('GET', '/batches', '')).text();
    await audit.close();
    const noted = entries.map(({ event, status, operation, count }) => [event, status, operation, count]);
    expect(noted).to.deep.equal([
      ['refused', 403, 'cancelBatch', 1],
      ['refused', 403, 'cancelBatch', 1],
      ['refused', 401, 'listBatches', 1],
      ['refused', 403, 'cancelBatch', 2],
      ['refused', 401, 'listBatches', 1],
    ]);
    expect(entries[0]!.why).to.contain(id).and.to.contain('"bob"').and.to.contain('"ann"');
  });

  it('does nothing while the log cannot be written, and says so', async () => {
    const id = await submitted('ann');
    isFull = true;
    const answer = await ask('POST', `/batches/${id}/cancel`, 'ann');
    expect(answer.status).to.equal(503);
    expect(await answer.text()).to.contain('the audit log is full');
    isFull = false;
    expect(await (await ask('GET', `/batches/${id}`, 'ann')).text()).to.contain('"status":"Pending"');
  });

  it('gives each client idempotency keys of its own', async () => {
    const key = { 'idempotency-key': 'k' };
    const first = await submitted('ann', key);
    expect(await submitted('ann', key)).to.equal(first);
    const other = await submitted('bob', key);
    expect(other).not.to.equal(first);
    expect(await submitted('bob', key)).to.equal(other);
  });
});
