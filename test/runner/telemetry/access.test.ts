import { Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { newTelemetryToken } from '../../../src/runner/telemetry/access.ts';
import { cleanUp, send, start } from './support.ts';

const TOKEN = newTelemetryToken(systemClock);
const ONE = [{ timestamp_ns: 1, values: { x: 1 } }];

function bearing(authorization?: string): Metadata {
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set('authorization', authorization);
  return metadata;
}

describe('runner/telemetry/access', () => {
  afterEach(cleanUp);

  const strict = () => start({ token: TOKEN, isOwnPeer: async () => false });

  it('draws a token of its own for each run', () => {
    const tokens = Array.from({ length: 200 }, () => newTelemetryToken(systemClock));
    expect(new Set(tokens).size).to.equal(200);
    for (const token of tokens) expect(token).to.match(/^[\w-]{32}$/);
  });

  it('takes a stream with the token of the run from any process', async () => {
    const { telemetry, client } = await strict();
    const ack = await send((done) => client.Stream(bearing(`Bearer ${TOKEN}`), done), ONE);
    expect(ack).to.include({ accepted: 1 });
    expect(await telemetry.close()).to.include({ accepted: 1, refused: 0 });
  });

  const wrong: [what: string, metadata: Metadata, code: status, detail: RegExp][] = [
    [
      'no token, from a foreign process',
      bearing(),
      status.PERMISSION_DENIED,
      /not of this run needs SVC_TELEMETRY_TOKEN/,
    ],
    [
      'another token',
      bearing(`Bearer ${newTelemetryToken(systemClock)}`),
      status.UNAUTHENTICATED,
      /not the SVC_TELEMETRY_TOKEN/,
    ],
    ['a part of the token', bearing(`Bearer ${TOKEN.slice(0, -1)}`), status.UNAUTHENTICATED, /not the SVC/],
    ['the token without its scheme', bearing(TOKEN), status.UNAUTHENTICATED, /not the SVC/],
  ];
  for (const [what, metadata, code, detail] of wrong) {
    it(`refuses and counts ${what}`, async () => {
      const { telemetry, client } = await strict();
      let error: { code?: unknown; details?: unknown } = {};
      await send((done) => client.Stream(metadata, done), ONE).catch((it: typeof error) => (error = it));
      expect(error.code).to.equal(code);
      expect(error.details).to.match(detail);
      const summary = await telemetry.close();
      expect(summary).to.include({ accepted: 0, refused: 1, rows: 0 });
      expect(summary.detail).to.match(detail);
    });
  }

  it('where senders cannot be checked, a stream without a token is taken', async () => {
    const { client } = await start({ token: TOKEN, isOwnPeer: async () => undefined });
    expect(await send((done) => client.Stream(done), ONE)).to.include({ accepted: 1 });
  });

  it('a check that fails refuses', async () => {
    const { client } = await start({ token: TOKEN, isOwnPeer: () => Promise.reject(new Error('no such file')) });
    let code: unknown;
    await send((done) => client.Stream(done), ONE).catch((error: { code: unknown }) => (code = error.code));
    expect(code).to.equal(status.PERMISSION_DENIED);
  });
});
