/** Launch tokens and the runners and allocations of others, for which they may not speak. On a real coordinator. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiError, Client } from '../../../src/client/client.ts';
import type { LauncherReport, TokenRecord, TokenScope } from '../../../src/contract/types.ts';
import { changeTokens, newToken, readTokens, Tokens } from '../../../src/coordinator/kernel/storage/tokens.ts';
import { AllocationTokens } from '../../../src/http/security/allocation-tokens.ts';
import { Access } from '../../../src/http/security/auth.ts';
import { capabilities } from '../../support/fake-api.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { Scene } from '../../support/scene.ts';

const NAME = 'slurm/lab/a1';
const ask = (allocation: string, runner_id: string) => ({ allocation, runner_id, lifetime_secs: 60 });

describe('http/security: launch tokens', () => {
  let folder: string;
  let scene: Scene;
  let server: TestServer;
  let allocationTokens: AllocationTokens;
  let tokens: Tokens;
  const secrets = new Map<string, string>();

  /** Creates a token, and returns a client with it. */
  async function client(
    name: string,
    scopes: TokenScope[],
    more: { prefix?: string; runnerId?: string } = {},
  ): Promise<Client> {
    const request = { name, scopes, runnerId: more.runnerId, prefix: more.prefix, expiresAtMs: undefined };
    const made = newToken(request, 0, randomBytes);
    await changeTokens(folder, (all) => [...all, made.record]);
    tokens.readAgain();
    secrets.set(name, made.token);
    return new Client({ endpoint: server.url, token: made.token });
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-launch-'));
    await changeTokens(folder, () => []);
    scene = await Scene.open();
    const now = () => scene.world.now();
    tokens = new Tokens(folder, now, () => {});
    allocationTokens = new AllocationTokens(folder, tokens, scene.world);
    const access = new Access({ tokens, isOpenWithoutTokens: false, now });
    server = await listen({ coordinator: scene.api, access, allocationTokens });
  });
  afterEach(async () => {
    scene.api.releaseWaiting();
    await server.close(0);
    await scene.api.close();
    await rm(folder, { recursive: true });
  });

  /** The status and message of the refusal, or what was answered. */
  const outcome = (answer: Promise<unknown>): Promise<unknown> =>
    answer.catch((error: unknown) => {
      if (error instanceof ApiError) return `${String(error.status)} ${error.message}`;
      throw error;
    });
  const make = async (launcher: Client, allocation: string, id: string): Promise<string> => {
    const made = await outcome(launcher.launching.makeTokens({ allocations: [ask(allocation, id)] }));
    return typeof made === 'string' ? made : 'made';
  };
  const secretOf = async (launcher: Client, allocation: string, id: string): Promise<Client> => {
    const { tokens: made } = await launcher.launching.makeTokens({ allocations: [ask(allocation, id)] });
    return new Client({ endpoint: server.url, token: made[0]?.token ?? '' });
  };
  const register = (runner: Client, id: string, allocation?: string): Promise<unknown> =>
    outcome(
      runner
        .register({ id, instance: `${id}-1`, capabilities, ...(allocation === undefined ? {} : { allocation }) })
        .then(() => 'registered'),
    );
  const report = (launcher: string, allocations: string[] = []): LauncherReport => ({
    launcher,
    poll_seconds: 5,
    problems: [],
    queues: [],
    unserved: [],
    allocations: allocations.map((allocation) => ({ allocation, queue: 'lab', state: 'Idle' })),
  });

  it('make no token for a runner that is registered without an allocation, live or not', async () => {
    const launcher = await client('b', ['launch']);
    await scene.register('lab-3');
    const refused = /^403 .*runner "lab-3" is registered without an allocation; choose another id/;
    expect(await make(launcher, 'slurm/lab/a9', 'lab-3')).to.match(refused);
    await scene.world.advance(600_000);
    expect(await scene.runnerStatus('lab-3')).to.equal('Offline');
    expect(await make(launcher, 'slurm/lab/a9', 'lab-3')).to.match(refused);
    expect(readTokens(folder)?.map((it) => it.name)).to.deep.equal(['b']);
  });

  it('make no token for an id that an operator has given to a runner', async () => {
    const launcher = await client('b', ['launch']);
    await client('lab-4', ['runner'], { runnerId: 'lab-4' });
    expect(await make(launcher, 'slurm/lab/a9', 'lab-4')).to.match(/^403 .*the runner id "lab-4" belongs to the token/);
  });

  it('change and report nothing of allocations that another one made', async () => {
    const a = await client('a', ['launch']);
    const b = await client('b', ['launch']);
    const runner = await secretOf(a, NAME, 'lab-a1');
    expect(await register(runner, 'lab-a1', NAME)).to.equal('registered');
    const foreign = /^403 .*the allocation "slurm\/lab\/a1" was made by another launch token/;
    expect(await make(b, NAME, 'lab-a1')).to.match(foreign);
    expect(await make(b, NAME, 'lab-b1')).to.match(foreign);
    expect(await make(b, 'slurm/lab/b1', 'lab-a1')).to.match(/^403 .*the runner id "lab-a1" belongs to the token/);
    expect(await outcome(b.launching.revokeTokens({ allocations: ['slurm/lab/b1', NAME] }))).to.match(foreign);
    expect(await outcome(b.launching.report(report('b', [NAME])))).to.match(foreign);
    const ended = [{ allocation: NAME, end: 'preempted' as const, reason: 'x' }];
    expect(await outcome(b.launching.report({ ...report('b'), ended }))).to.match(foreign);
    await a.launching.report(report('a', [NAME]));
    expect(await outcome(b.launching.report(report('a')))).to.match(
      /^403 .*another launch token reports as launcher "a"/,
    );
    expect(await outcome(runner.heartbeat('lab-a1', { instance: 'lab-a1-1', holding: [] }))).to.have.property('runner');
    expect(await make(a, NAME, 'lab-a1')).to.equal('made');
    expect(await a.launching.revokeTokens({ allocations: [NAME] })).to.deep.equal({ revoked: 1 });
  });

  it('give a name of a launcher up when it has not reported for a while', async () => {
    const a = await client('a', ['launch']);
    const b = await client('b', ['launch']);
    await a.launching.report(report('lab'));
    await scene.world.advance(60_000);
    expect(await outcome(b.launching.report(report('lab')))).to.have.property('reported_at');
  });

  it('share allocations and the name of their launcher when they have the same prefix, and keep to it', async () => {
    const [a, b] = [
      await client('a', ['launch'], { prefix: 'lab-' }),
      await client('b', ['launch'], { prefix: 'lab-' }),
    ];
    const other = await client('c', ['launch'], { prefix: 'lab' });
    expect(await make(a, NAME, 'lab-a1')).to.equal('made');
    await a.launching.report(report('lab', [NAME]));
    expect(await make(b, NAME, 'lab-a1')).to.equal('made');
    expect(await outcome(b.launching.report(report('lab', [NAME])))).to.have.property('reported_at');
    expect(await make(other, NAME, 'lab-a1')).to.match(/^403 /);
    expect(await outcome(other.launching.revokeTokens({ allocations: [NAME] }))).to.match(/^403 /);
    expect(await b.launching.revokeTokens({ allocations: [NAME] })).to.deep.equal({ revoked: 1 });
    expect(await make(a, 'slurm/main/a2', 'main-a2')).to.match(
      /^403 .*makes tokens for runner ids that begin with "lab-", and "main-a2" does not; name the queues/,
    );
  });

  it('change what a version without owners made', async () => {
    const launcher = await client('a', ['launch']);
    await secretOf(launcher, NAME, 'lab-a1');
    const older = ({ made_by: _, ...it }: TokenRecord): TokenRecord => it;
    await changeTokens(folder, (all) => all.map(older));
    const b = await client('b', ['launch']);
    expect(await make(b, NAME, 'lab-a1')).to.equal('made');
    expect(await b.launching.revokeTokens({ allocations: [NAME] })).to.deep.equal({ revoked: 1 });
  });

  it('are for allocations whose names have no control characters', async () => {
    const launcher = await client('a', ['launch']);
    for (const name of ['slurm/a\nb', 'slurm/\u001b[2J', 'slurm/\u0000', 'slurm/\u009b1m', 'slurm/\u007f']) {
      expect(await make(launcher, name, 'lab-a1'), JSON.stringify(name)).to.match(/^422 /);
      expect(await outcome(launcher.launching.revokeTokens({ allocations: [name] })), JSON.stringify(name)).to.match(
        /^422 /,
      );
      expect(await outcome(launcher.launching.report(report('lab', [name]))), JSON.stringify(name)).to.match(/^422 /);
      expect(await outcome(launcher.launching.report(report(name))), JSON.stringify(name)).to.match(/^422 /);
    }
    expect(await make(launcher, 'slurm/läb/ a1', 'lab-a1')).to.equal('made');
  });

  it('make tokens that register no runner of another allocation', async () => {
    const launcher = await client('a', ['launch']);
    const runner = await secretOf(launcher, NAME, 'lab-5');
    const refused = /^403 .*the token is for a runner in the allocation "slurm\/lab\/a1"/;
    expect(await register(runner, 'lab-5')).to.match(refused);
    expect(await register(runner, 'lab-5', 'slurm/lab/a2')).to.match(refused);
    // The id of a runner that came after the token was made.
    await scene.register('lab-5');
    expect(await register(runner, 'lab-5', NAME)).to.match(refused);
    const own = await secretOf(launcher, 'slurm/lab/a6', 'lab-6');
    expect(await register(own, 'lab-6', 'slurm/lab/a6')).to.equal('registered');
    expect(await register(own, 'lab-6', 'slurm/lab/a6')).to.equal('registered');
  });
});
