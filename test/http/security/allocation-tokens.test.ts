/** Tests of the tokens of allocations: what they allow, that they end, and that other tokens are left alone. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { ApiError, Client } from '../../../src/client/client.ts';
import {
  changeTokens,
  newToken,
  readTokens,
  Tokens,
  tokensPath,
} from '../../../src/coordinator/kernel/storage/tokens.ts';
import { AllocationTokens } from '../../../src/http/security/allocation-tokens.ts';
import { Access } from '../../../src/http/security/auth.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { fakeCoordinator, capabilities } from '../../support/fake-api.ts';
import { listen, type TestServer } from '../../support/http.ts';

const NAME = 'slurm/main/a1';

describe('http/security/allocation-tokens', () => {
  let folder: string;
  let server: TestServer;
  let launcher: Client;
  let now = 1_000_000;
  const clock = { ...systemClock, now: () => now };

  const start = async () => {
    const tokens = new Tokens(folder, clock.now, () => {});
    const access = new Access({ tokens, isOpenWithoutTokens: true, now: clock.now });
    const allocationTokens = new AllocationTokens(folder, tokens, clock);
    const runners = async () => ({ runners: [], active_runners: 0, offline_runners: 0, total_capacity: 0 });
    const runner = async () => {
      throw new SimbatchError('unknown-runner', 'new');
    };
    return listen({ coordinator: fakeCoordinator({ runner, runners }), access, allocationTokens });
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-allocations-'));
    const scopes = ['launch'] as const;
    const made = newToken({ name: 'l', scopes, runnerId: undefined, expiresAtMs: undefined }, 0, randomBytes);
    await changeTokens(folder, () => [made.record]);
    server = await start();
    launcher = new Client({ endpoint: server.url, token: made.token });
  });
  afterEach(async () => {
    await server.close(0);
    await rm(folder, { recursive: true });
  });

  const ask = (allocation: string, runner_id: string) => ({ allocation, runner_id, lifetime_secs: 60 });
  const register = (token: string | null | undefined, id: string, allocation = NAME) =>
    new Client({ endpoint: server.url, token: token ?? '' })
      .register({ id, instance: 'i', allocation, capabilities })
      .then(
        () => 'ok',
        (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
      );

  it('lets the runner of the allocation register at once, and no other', async () => {
    const { tokens } = await launcher.launching.makeTokens({
      allocations: [ask(NAME, 'r1'), ask('slurm/main/a2', 'r2')],
    });
    expect(tokens.map((it) => it.allocation)).to.deep.equal([NAME, 'slurm/main/a2']);
    expect(await register(tokens[0]?.token, 'r1')).to.equal('ok');
    expect(await register(tokens[0]?.token, 'r2')).to.equal('forbidden');
    expect(await register(tokens[1]?.token, 'r2', 'slurm/main/a2')).to.equal('ok');
  });

  it('refuses the token when the allocation has ended, has got another one, or its time is over', async () => {
    const make = async () => (await launcher.launching.makeTokens({ allocations: [ask(NAME, 'r1')] })).tokens[0]?.token;
    const first = await make();
    const second = await make();
    expect(await register(first, 'r1')).to.equal('unauthenticated');
    expect(await register(second, 'r1')).to.equal('ok');
    expect(await launcher.launching.revokeTokens({ allocations: [NAME, 'unknown'] })).to.deep.equal({ revoked: 1 });
    expect(await register(second, 'r1')).to.equal('unauthenticated');
    const third = await make();
    now += 61_000;
    expect(await register(third, 'r1')).to.equal('unauthenticated');
    // The expired record is deleted with the next change; the token of the launcher stays.
    await launcher.launching.makeTokens({ allocations: [ask('slurm/main/a3', 'r3')] });
    expect(readTokens(folder)?.map((it) => it.name)).to.deep.equal(['l', 'slurm/main/a3']);
  });

  it('waits for another program that changes the tokens', async () => {
    let release = (): void => {};
    const held = changeTokens(folder, (tokens) => tokens);
    await held;
    const { open, rm: remove } = await import('node:fs/promises');
    const lock = `${tokensPath(folder)}.new`;
    const file = await open(lock, 'wx');
    await file.close();
    const asked = launcher.launching.makeTokens({ allocations: [ask(NAME, 'r1')] });
    systemClock.after(120, () => void remove(lock).then(() => release()), { keepAlive: true });
    await new Promise<void>((resolve) => (release = resolve));
    expect((await asked).tokens).to.have.length(1);
  });

  it('makes none, and no file, while the coordinator needs no tokens', async () => {
    await server.close(0);
    await rm(tokensPath(folder));
    server = await start();
    const { tokens } = await new Client({ endpoint: server.url }).launching.makeTokens({
      allocations: [ask(NAME, 'r1')],
    });
    expect(tokens).to.deep.equal([{ allocation: NAME, token: null }]);
    expect(existsSync(tokensPath(folder))).to.equal(false);
  });
});
