import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SimbatchError } from '../../../../src/domain/errors.ts';
import {
  changeTokens,
  newToken,
  readTokens,
  refuseLostTokens,
  Tokens,
  tokensPath,
  type TokenRequest,
} from '../../../../src/coordinator/kernel/storage/tokens.ts';

const request: TokenRequest = { name: 'me', scopes: ['read'], runnerId: undefined, expiresAtMs: undefined };
const make = (changes: Partial<TokenRequest> = {}) => newToken({ ...request, ...changes }, 0, randomBytes);

import { MemoryStore } from '../../../support/memory-store.ts';

describe('coordinator/kernel/storage/tokens', () => {
  let folder: string;
  let now = 0;
  let troubles: SimbatchError[];
  const open = () =>
    new Tokens(
      folder,
      () => now,
      (error) => troubles.push(error),
    );
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-tokens-'));
    troubles = [];
    now = 0;
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('are 256 random bits with an id; the file has only their hash and is readable by its owner only', async () => {
    const { token, record } = make();
    expect(token).to.match(/^sbt_[0-9a-f]{8}_[A-Za-z0-9_-]{43}$/);
    await changeTokens(folder, () => [record]);
    const text = await readFile(tokensPath(folder), 'utf8');
    expect(text).to.contain(record.hash);
    expect(text).not.to.contain(token.slice(13));
    expect((await stat(tokensPath(folder))).mode & 0o777).to.equal(0o600);
  });

  it('are required once one was made, also when all are revoked', async () => {
    const tokens = open();
    expect(tokens.areRequired).to.equal(false);
    await changeTokens(folder, () => []);
    now += 1_000;
    expect(tokens.areRequired).to.equal(true);
  });

  it('are compared whole: a token whose hash agrees in part is refused', async () => {
    const { token, record } = make();
    await changeTokens(folder, () => [record]);
    const tokens = open();
    const hashOf = (it: string): string => createHash('sha256').update(it).digest('hex');
    for (const [from, to] of [
      [0, 4],
      [60, 64],
    ] as const) {
      let other = token;
      while (other === token || hashOf(other).slice(from, to) !== record.hash.slice(from, to)) {
        other = token.slice(0, 13) + randomBytes(32).toString('base64url');
      }
      expect(tokens.find(other)).to.equal(undefined);
    }
    expect(tokens.find(token)).to.deep.equal(record);
  });

  it('are required and all refused when the file is removed, and a later start is refused', async () => {
    const { token, record } = make();
    await changeTokens(folder, () => [record]);
    const tokens = open();
    const store = new MemoryStore();
    await refuseLostTokens(folder, store);
    await refuseLostTokens(folder, store);
    await rm(tokensPath(folder));
    now += 1_000;
    expect(tokens.areRequired).to.equal(true);
    expect(tokens.find(token)).to.equal(undefined);
    expect(troubles.map((it) => it.message).join()).to.match(/tokens.json is missing, and this coordinator has had/);
    const error = await refuseLostTokens(folder, store).catch((it: unknown) => it);
    expect((error as SimbatchError).code).to.equal('invalid-configuration');
    await refuseLostTokens(folder, new MemoryStore());
  });

  it('come and go without a restart', async () => {
    const tokens = open();
    const { token, record } = make();
    expect(tokens.find(token)).to.equal(undefined);
    await changeTokens(folder, () => [record]);
    now += 1_000;
    expect(tokens.find(token)).to.deep.equal(record);
    await changeTokens(folder, (all) => all.filter((it) => it.id !== record.id));
    now += 999;
    expect(tokens.find(token), 'within a second').to.deep.equal(record);
    now += 1;
    expect(tokens.find(token)).to.equal(undefined);
  });

  it('are found although the clock stepped back', async () => {
    now = 1e9;
    const tokens = open();
    const { token, record } = make();
    await changeTokens(folder, () => [record]);
    now = 5;
    expect(tokens.find(token)?.id).to.equal(record.id);
  });

  it('are not found for another secret with a known id, or for malformed text', async () => {
    const { token, record } = make();
    await changeTokens(folder, () => [record]);
    const tokens = open();
    const other = token.slice(0, 13) + make().token.slice(13);
    for (const wrong of [other, '', token.slice(1), `${token} `, token.toUpperCase(), '__proto__', record.hash]) {
      expect(tokens.find(wrong), wrong).to.equal(undefined);
    }
  });

  it('stay in force when the file becomes invalid, which is reported once; a start with it is refused', async () => {
    const { token, record } = make();
    await changeTokens(folder, () => [record]);
    const tokens = open();
    await writeFile(tokensPath(folder), '{"format":1,"tokens":[{"id":"zz"}]}');
    await utimes(tokensPath(folder), 5, 5);
    for (let look = 0; look < 3; look++) {
      now += 1_000;
      expect(tokens.find(token)?.id).to.equal(record.id);
    }
    expect(troubles.map((it) => it.code)).to.deep.equal(['invalid-configuration']);
    expect(open).to.throw(/not a list of tokens/);
  });

  it('two changes at the same time: one is refused, none is lost', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => changeTokens(folder, (all) => [...all, make().record])),
    );
    const done = outcomes.filter((it) => it.status === 'fulfilled').length;
    expect(done).to.be.greaterThan(0);
    expect(readTokens(folder)).to.have.length(done);
  });

  it('keep their file unchanged when a change throws, and leave no temporary file', async () => {
    await changeTokens(folder, () => [make().record]);
    const before = readTokens(folder);
    const failed = await changeTokens(folder, () => {
      throw new Error('no');
    }).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    expect(readTokens(folder)).to.deep.equal(before);
    await changeTokens(folder, (all) => all);
  });
});
