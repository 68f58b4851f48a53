/** WebSockets outlive the moment they were let in: what ends them when that would not be allowed any more. */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { Access } from '../../../src/http/security/auth.ts';
import { startHttp, type HttpServer } from '../../../src/http/server.ts';
import { SessionRevalidation } from '../../../src/http/security/session-revalidation.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import {
  changeTokens,
  newToken,
  Tokens,
  tokensPath,
  type TokenRecord,
  type TokenScope,
} from '../../../src/coordinator/storage/tokens.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

/** More than the time between two looks at the file and two checks of who is there, together. */
const SOON_MS = 2_000;
/** Less than until the first ping, whose answers take real time. */
const LIFE_MS = 20_000;

describe('those who stay', () => {
  let folder: string;
  let world: SimulatedClock;
  let coordinator: Coordinator;
  let http: HttpServer;
  let troubles: string[];
  let refusals: string[];
  const sockets: WebSocket[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-standing-'));
    world = new SimulatedClock();
    [troubles, refusals] = [[], []];
    coordinator = await openCoordinator(new MemoryStore(), systemClock);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    const closed = http.close(0);
    await world.advance(LIFE_MS);
    await closed;
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  async function listen(isOpenWithoutTokens = true): Promise<void> {
    const now = (): number => world.now();
    const tokens = new Tokens(folder, now, (error) => troubles.push(error.message));
    const access = new Access({ tokens, isOpenWithoutTokens, now, refused: (_address, why) => refusals.push(why) });
    const log = { debug: () => {}, info: () => {}, error: () => {} };
    http = await startHttp({ coordinator, live: coordinator, host: '127.0.0.1', port: 0, log, world, access });
  }

  async function make(expiresAtMs?: number, scopes: TokenScope[] = ['read']): Promise<{ token: string; id: string }> {
    const { token, record } = newToken(
      { name: '', scopes, runnerId: undefined, expiresAtMs },
      world.now(),
      randomBytes,
    );
    await changeTokens(folder, (all) => [...all, record]);
    return { token, id: record.id };
  }

  class Viewer {
    readonly socket: WebSocket;
    end: { code: number; reason: string } | undefined;
    readonly ended: Promise<{ code: number; reason: string }>;

    constructor(path: string, token?: string) {
      const protocols = ['simbatch', ...(token === undefined ? [] : [`simbatch.bearer.${token}`])];
      this.socket = new WebSocket(http.url.replace('http', 'ws') + path, protocols);
      sockets.push(this.socket);
      this.ended = new Promise((resolve) => {
        this.socket.on('close', (code, reason) => resolve((this.end = { code, reason: reason.toString() })));
      });
    }

    async opened(): Promise<this> {
      await once(this.socket, 'open');
      return this;
    }

    /** Whether it is answered; false when it was ended instead. */
    async isServed(): Promise<boolean> {
      const answered = once(this.socket, 'message').then(() => true);
      this.socket.send('{"type":"ping"}');
      return Promise.race([answered, this.ended.then(() => false)]);
    }
  }

  const viewer = (path: string, token?: string): Promise<Viewer> => new Viewer(path, token).opened();

  type Tokened = { token: string; id: string };
  const without = (change: (record: TokenRecord) => TokenRecord[], { id }: Tokened) =>
    changeTokens(folder, (all) => all.flatMap((it) => (it.id === id ? change(it) : [it])));

  const ENDS: [what: string, happens: (made: Tokened) => Promise<unknown>, code: number, reason: RegExp][] = [
    ['is revoked', (made) => without(() => [], made), 4401, /^The token is unknown or was revoked\.$/],
    ['expires', () => world.advance(LIFE_MS), 4401, /^The token [0-9a-f]{8} expired at 2026-01-01T00:00:20\.000Z\.$/],
    ['loses its scope', (made) => without((it) => [{ ...it, scopes: ['submit'] }], made), 4403, /the scope `read`/],
  ];
  for (const path of ['/live', '/inspect']) {
    for (const [what, happens, code, reason] of ENDS) {
      it(`${path}: a token that ${what} ends with ${code}, and no other does`, async () => {
        const made = await make(world.now() + LIFE_MS);
        const other = await make();
        await listen();
        const [ending, staying] = [await viewer(path, made.token), await viewer('/live', other.token)];
        await world.advance(LIFE_MS - SOON_MS);
        expect(await staying.isServed()).to.equal(true);
        expect(ending.end).to.equal(undefined);
        await happens(made);
        await world.advance(SOON_MS);
        const end = await ending.ended;
        expect(end.code).to.equal(code);
        expect(end.reason).to.match(reason);
        expect(await staying.isServed()).to.equal(true);
        expect(refusals, 'nobody tried anything').to.deep.equal([]);
      });
    }

    it(`${path}: the first token ends those who came without`, async () => {
      await listen();
      const early = await viewer(path);
      await world.advance(LIFE_MS);
      expect(early.socket.readyState).to.equal(WebSocket.OPEN);
      const { token } = await make();
      await world.advance(SOON_MS);
      const end = await early.ended;
      expect(end.code).to.equal(4401);
      expect(end.reason).to.match(/^This needs a token/);
      expect(await (await viewer('/live', token)).isServed()).to.equal(true);
    });
  }

  it('tokens that are taken away altogether end everybody where an open door was not meant', async () => {
    const { token } = await make();
    await listen(false);
    const one = await viewer('/live', token);
    await rm(tokensPath(folder));
    await world.advance(SOON_MS);
    expect((await one.ended).code).to.equal(4401);
  });

  it('a file of tokens that cannot be read ends nobody', async () => {
    const { token } = await make();
    await listen();
    const one = await viewer('/live', token);
    await writeFile(tokensPath(folder), '{"format":1,');
    await world.advance(SOON_MS);
    expect(troubles).to.have.length(1);
    expect(await one.isServed()).to.equal(true);
  });

  describe('a runner that waits for work', () => {
    const capabilities = { max_concurrent_jobs: 1, cpu_cores: 0, memory_gb: 0, gpu_available: false };
    const runner = { id: 'r1', instance: 'i', capabilities: { ...capabilities, supported_simulation_types: ['*'] } };
    const claim = (token?: string): Promise<Response> =>
      fetch(`${http.url}/runners/r1/claims`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ instance: 'i', max_jobs: 1, wait_seconds: 30 }),
      });
    const waits = async (): Promise<void> => {
      while (coordinator.core.longPolls.size === 0)
        await new Promise((resolve) => systemClock.soon(() => resolve(undefined)));
    };
    const LOSES: [what: string, happens: (made: Tokened) => Promise<unknown>, status: number, code: string][] = [
      ['is revoked', (made) => without(() => [], made), 401, 'unauthenticated'],
      ['loses its scope', (made) => without((it) => [{ ...it, scopes: ['read'] }], made), 403, 'forbidden'],
    ];
    for (const [what, happens, status, code] of LOSES) {
      it(`is told at once when its token ${what}, and gets nothing more`, async () => {
        const made = await make(undefined, ['runner']);
        await listen();
        await coordinator.register(runner);
        const waiting = claim(made.token);
        await waits();
        await happens(made);
        await world.advance(SOON_MS);
        const answer = await waiting;
        expect([answer.status, ((await answer.json()) as { code: string }).code]).to.deep.equal([status, code]);
        expect(coordinator.core.longPolls.size).to.equal(0);
      });
    }

    it('is told when tokens come to be required', async () => {
      await listen();
      await coordinator.register(runner);
      const waiting = claim();
      await waits();
      await make();
      await world.advance(SOON_MS);
      expect((await waiting).status).to.equal(401);
    });

    it('waits on while another token is revoked, and gets its work', async () => {
      const [made, other] = [await make(undefined, ['runner']), await make(undefined, ['runner'])];
      await listen();
      await coordinator.register(runner);
      const waiting = claim(made.token);
      await waits();
      await without(() => [], other);
      await world.advance(SOON_MS);
      await coordinator.submit(study({ runs: 1 }));
      const answer = await waiting;
      expect(answer.status).to.equal(200);
      expect(((await answer.json()) as { assignments: unknown[] }).assignments).to.have.length(1);
    });
  });

  it('ends two hundred at once', async () => {
    await listen();
    const all = await Promise.all(Array.from({ length: 200 }, () => viewer('/live')));
    await make();
    await world.advance(SOON_MS);
    const codes = new Set((await Promise.all(all.map((it) => it.ended))).map((it) => it.code));
    expect([...codes]).to.deep.equal([4401]);
  });

  it('a reason too long for a close is cut, and closes', async () => {
    const made = await make();
    await listen();
    const one = await viewer('/live', made.token);
    // `Date.parse` takes remarks in brackets, so a file changed by hand may have them.
    await without((it) => [{ ...it, expires_at: `1 Jan 2020 (${'é'.repeat(200)})` }], made);
    await world.advance(SOON_MS);
    const end = await one.ended;
    expect(end.code).to.equal(4401);
    expect(end.reason).to.match(/^The token .* expired at 1 Jan 2020 \(é+/);
  });

  it('who does not answer the close hears nothing more and is cut off', async function () {
    // Without being told to, the WebSocket server would cut it off after 30 s.
    this.timeout(10_000);
    const made = await make();
    await listen();
    const deaf = connect(http.port, '127.0.0.1');
    let heard: Buffer = Buffer.alloc(0);
    let wake = (): void => {};
    deaf.on('data', (piece: Buffer) => {
      heard = Buffer.concat([heard, piece]);
      wake();
    });
    const until = async (fits: () => boolean): Promise<void> => {
      while (!fits()) await new Promise<void>((resolve) => (wake = resolve));
    };
    const ended = once(deaf, 'close');
    const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`;
    const head = ['GET /inspect HTTP/1.1', `Host: 127.0.0.1:${http.port}`, ...lines, key];
    deaf.write([...head, `Authorization: Bearer ${made.token}`, '', ''].join('\r\n'));
    await until(() => heard.includes('\r\n\r\n'));
    expect(heard.toString('latin1')).to.match(/^HTTP\/1\.1 101 /);
    heard = Buffer.alloc(0);
    await without(() => [], made);
    // One step at a time: the close, but not yet the end of the time to answer it.
    while (heard.length === 0) {
      await world.advance(100);
      await new Promise((resolve) => systemClock.soon(() => resolve(undefined)));
    }
    expect([heard[0], heard.readUInt16BE(2)]).to.deep.equal([0x88, 4401]);
    const length = heard.length;
    const capabilities = { max_concurrent_jobs: 1, cpu_cores: 0, memory_gb: 0, gpu_available: false };
    await coordinator.register({
      id: 'r1',
      instance: 'i',
      capabilities: { ...capabilities, supported_simulation_types: [] },
    });
    await world.advance(LIFE_MS);
    await ended;
    expect(heard.length).to.equal(length);
  });

  it('nobody there, nothing to check', () => {
    let timers = 0;
    const after = (): (() => void) => {
      timers += 1;
      return () => (timers -= 1);
    };
    const standing = new SessionRevalidation({ confirm: () => {} }, { after });
    expect(timers).to.equal(0);
    const nobody = { tokenId: undefined, runnerId: undefined };
    const releases = [1, 2, 3].map(() => standing.hold(nobody, 'read', () => {}));
    expect(timers, 'one for all').to.equal(1);
    for (const release of releases) release();
    expect(timers).to.equal(0);
    standing.hold(nobody, 'read', () => {})();
    expect(timers).to.equal(0);
  });
});
