/** Revalidation of open WebSockets and long polls: their end when their authorization ends. */
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
import type { TokenRecord, TokenScope } from '../../../src/contract/types.ts';
import { changeTokens, newToken, Tokens, tokensPath } from '../../../src/coordinator/kernel/storage/tokens.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

/** Longer than the intervals of reading the file and of revalidation together. */
const SOON_MS = 2_000;
/** Shorter than the time to the first ping, whose answers take real time. */
const LIFE_MS = 20_000;

describe('http/security/session-revalidation', () => {
  let folder: string;
  let clock: SimulatedClock;
  let coordinator: Coordinator;
  let http: HttpServer;
  let troubles: string[];
  let refusals: string[];
  const sockets: WebSocket[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-sessions-'));
    clock = new SimulatedClock();
    [troubles, refusals] = [[], []];
    coordinator = await openCoordinator(new MemoryStore(), systemClock);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    const closed = http.close(0);
    await clock.advance(LIFE_MS);
    await closed;
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  async function listen(): Promise<void> {
    const now = (): number => clock.now();
    const tokens = new Tokens(folder, now, (error) => troubles.push(error.message));
    const access = new Access({
      tokens,
      isOpenWithoutTokens: true,
      now,
      refused: (_address, why) => refusals.push(why),
    });
    const log = { debug: () => {}, info: () => {}, error: () => {} };
    http = await startHttp({ coordinator, live: coordinator, host: '127.0.0.1', port: 0, log, clock, access });
  }

  async function make(expiresAtMs?: number, scopes: TokenScope[] = ['read']): Promise<{ token: string; id: string }> {
    const { token, record } = newToken(
      { name: '', scopes, runnerId: undefined, expiresAtMs },
      clock.now(),
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

    /** Returns whether it is answered; false when it was closed instead. */
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
    ['is revoked', (made) => without(() => [], made), 4401, /^the token is unknown or was revoked; use another one$/],
    [
      'expires',
      () => clock.advance(LIFE_MS),
      4401,
      /^the token [0-9a-f]{8} expired at 2026-01-01T00:00:20\.000Z; use another one$/,
    ],
    ['loses its scope', (made) => without((it) => [{ ...it, scopes: ['submit'] }], made), 4403, /the scope `read`/],
  ];
  for (const path of ['/live', '/inspect']) {
    for (const [what, happens, code, reason] of ENDS) {
      it(`${path}: a token that ${what} ends with ${code}, and no other does`, async () => {
        const made = await make(clock.now() + LIFE_MS);
        const other = await make();
        await listen();
        const [ending, staying] = [await viewer(path, made.token), await viewer('/live', other.token)];
        await clock.advance(LIFE_MS - SOON_MS);
        expect(await staying.isServed()).to.equal(true);
        expect(ending.end).to.equal(undefined);
        await happens(made);
        await clock.advance(SOON_MS);
        const end = await ending.ended;
        expect(end.code).to.equal(code);
        expect(end.reason).to.match(reason);
        expect(await staying.isServed()).to.equal(true);
        expect(refusals, 'revalidation counts no attempt').to.deep.equal([]);
      });
    }

    it(`${path}: the first token closes sessions without one`, async () => {
      await listen();
      const early = await viewer(path);
      await clock.advance(LIFE_MS);
      expect(early.socket.readyState).to.equal(WebSocket.OPEN);
      const { token } = await make();
      await clock.advance(SOON_MS);
      const end = await early.ended;
      expect(end.code).to.equal(4401);
      expect(end.reason).to.match(/^this needs a token/);
      expect(await (await viewer('/live', token)).isServed()).to.equal(true);
    });
  }

  it('closes all sessions when the token file is removed, and reports it', async () => {
    const { token } = await make();
    await listen();
    const one = await viewer('/live', token);
    await rm(tokensPath(folder));
    await clock.advance(SOON_MS);
    const end = await one.ended;
    expect(end.code).to.equal(4401);
    expect(troubles).to.have.length(1);
  });

  it('keeps all sessions when the token file cannot be read', async () => {
    const { token } = await make();
    await listen();
    const one = await viewer('/live', token);
    await writeFile(tokensPath(folder), '{"format":1,');
    await clock.advance(SOON_MS);
    expect(troubles).to.have.length(1);
    expect(await one.isServed()).to.equal(true);
  });

  describe('a runner with a long poll', () => {
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
      while (coordinator.parts.longPolls.size === 0)
        await new Promise((resolve) => systemClock.soon(() => resolve(undefined)));
    };
    const LOSES: [what: string, happens: (made: Tokened) => Promise<unknown>, status: number, code: string][] = [
      ['is revoked', (made) => without(() => [], made), 401, 'unauthenticated'],
      ['loses its scope', (made) => without((it) => [{ ...it, scopes: ['read'] }], made), 403, 'forbidden'],
    ];
    for (const [what, happens, status, code] of LOSES) {
      it(`is refused at once when its token ${what}, and gets no work`, async () => {
        const made = await make(undefined, ['runner']);
        await listen();
        await coordinator.register(runner);
        const waiting = claim(made.token);
        await waits();
        await happens(made);
        await clock.advance(SOON_MS);
        const answer = await waiting;
        expect([answer.status, ((await answer.json()) as { code: string }).code]).to.deep.equal([status, code]);
        expect(coordinator.parts.longPolls.size).to.equal(0);
      });
    }

    it('is refused when tokens become required', async () => {
      await listen();
      await coordinator.register(runner);
      const waiting = claim();
      await waits();
      await make();
      await clock.advance(SOON_MS);
      expect((await waiting).status).to.equal(401);
    });

    it('keeps waiting while another token is revoked, and gets its work', async () => {
      const [made, other] = [await make(undefined, ['runner']), await make(undefined, ['runner'])];
      await listen();
      await coordinator.register(runner);
      const waiting = claim(made.token);
      await waits();
      await without(() => [], other);
      await clock.advance(SOON_MS);
      await coordinator.submit(study({ runs: 1 }));
      const answer = await waiting;
      expect(answer.status).to.equal(200);
      expect(((await answer.json()) as { assignments: unknown[] }).assignments).to.have.length(1);
    });
  });

  it('closes two hundred sessions at once', async () => {
    await listen();
    const all = await Promise.all(Array.from({ length: 200 }, () => viewer('/live')));
    await make();
    await clock.advance(SOON_MS);
    const codes = new Set((await Promise.all(all.map((it) => it.ended))).map((it) => it.code));
    expect([...codes]).to.deep.equal([4401]);
  });

  it('cuts a reason that is too long for a close frame', async () => {
    const made = await make();
    await listen();
    const one = await viewer('/live', made.token);
    // `Date.parse` accepts comments in brackets, so an edited file may contain them.
    await without((it) => [{ ...it, expires_at: `1 Jan 2020 (${'é'.repeat(200)})` }], made);
    await clock.advance(SOON_MS);
    const end = await one.ended;
    expect(end.code).to.equal(4401);
    expect(end.reason).to.match(/^the token .* expired at 1 Jan 2020 \(é+/);
  });

  it('sends nothing more to a viewer that does not answer the close, and disconnects it', async function () {
    // By default the WebSocket server would disconnect it after 30 s.
    const made = await make();
    await listen();
    const deaf = connect(http.port, '127.0.0.1');
    let received: Buffer = Buffer.alloc(0);
    let wake = (): void => {};
    deaf.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
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
    await until(() => received.includes('\r\n\r\n'));
    expect(received.toString('latin1')).to.match(/^HTTP\/1\.1 101 /);
    received = Buffer.alloc(0);
    await without(() => [], made);
    // One step at a time: the close frame, but not yet the end of the time to answer it.
    while (received.length === 0) {
      await clock.advance(100);
      await new Promise((resolve) => systemClock.soon(() => resolve(undefined)));
    }
    expect([received[0], received.readUInt16BE(2)]).to.deep.equal([0x88, 4401]);
    const length = received.length;
    const capabilities = { max_concurrent_jobs: 1, cpu_cores: 0, memory_gb: 0, gpu_available: false };
    await coordinator.register({
      id: 'r1',
      instance: 'i',
      capabilities: { ...capabilities, supported_simulation_types: [] },
    });
    await clock.advance(LIFE_MS);
    await ended;
    expect(received.length).to.equal(length);
  });

  it('checks nothing without sessions', () => {
    let timers = 0;
    const after = (): (() => void) => {
      timers += 1;
      return () => (timers -= 1);
    };
    const sessions = new SessionRevalidation({ confirm: () => {} }, { after });
    expect(timers).to.equal(0);
    const anonymous = { tokenId: undefined, runnerId: undefined };
    const releases = [1, 2, 3].map(() => sessions.watch(anonymous, 'read', () => {}));
    expect(timers, 'one for all').to.equal(1);
    for (const release of releases) release();
    expect(timers).to.equal(0);
    sessions.watch(anonymous, 'read', () => {})();
    expect(timers).to.equal(0);
  });
});
