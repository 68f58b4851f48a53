/** The check of the way back: addresses that lead to the machine itself, and what the coordinator allows the launcher. */
import { expect } from 'chai';
import { ApiError, UnreachableError } from '../../../src/client/transport.ts';
import { checkCoordinator, loopbackFaults, type WayBackParts } from '../../../src/launcher/check/way-back.ts';
import { queueConfig } from '../support.ts';

const queues = ['slurm', 'kubernetes', 'ssh'].map((engine) => queueConfig({ engine, name: engine, section: {} }));

describe('launcher/check/way-back', () => {
  const LOOPBACK = [
    'http://127.0.0.1:7070',
    'http://127.1.2.3',
    'http://localhost:7070',
    'https://a.localhost',
    'http://[::1]:7070',
  ];
  const OTHERS = ['http://login1:7070', 'http://10.0.0.1:7070', 'https://127.example.org', 'http://[2001:db8::1]:7070'];
  for (const runnerEndpoint of LOOPBACK)
    it(`${runnerEndpoint} is a fault for Slurm and Kubernetes, and none for ssh`, () => {
      const faults = loopbackFaults({ runnerEndpoint, queues });
      expect(faults.map((it) => it.queue)).to.deep.equal(['slurm', 'kubernetes']);
      for (const { isFault, message } of faults) {
        expect(isFault).to.equal(true);
        expect(message)
          .to.include(runnerEndpoint)
          .and.match(/; set `runner_endpoint`, or `endpoint`, to an address/);
      }
    });
  for (const runnerEndpoint of OTHERS)
    it(`${runnerEndpoint} is none`, () => expect(loopbackFaults({ runnerEndpoint, queues })).to.deep.equal([]));

  const made: string[] = [];
  const revoked: string[] = [];
  const parts = (given: Partial<WayBackParts['coordinator']>): WayBackParts => ({
    config: { endpoint: 'http://login1:7070', queues: queues.slice(0, 1) },
    clock: { random: (count) => new Uint8Array(count).fill(7) },
    coordinator: {
      demand: async () => ({ runs: 0, demand: [] }),
      runners: async () => [],
      makeTokens: async (all) => {
        made.push(...all.map((it) => it.allocation));
        return new Map();
      },
      revokeTokens: async (all) => void revoked.push(...all),
      ...given,
    },
  });
  const shown = async (given: Partial<WayBackParts['coordinator']>): Promise<string[]> =>
    (await checkCoordinator(parts(given))).map((it) => `${it.isFault ? 'fault' : 'ok'} ${it.queue}: ${it.message}`);
  const refused = (status: number, why: string) => async () => {
    throw new ApiError(status, 'x', why);
  };

  it('a coordinator that allows everything is confirmed, and no token is left', async () => {
    made.length = revoked.length = 0;
    expect(await shown({})).to.deep.equal([
      'ok coordinator: http://login1:7070 answers, and the launcher may ask which runs wait',
      'ok slurm: the launcher may register runners of this queue',
    ]);
    expect(made).to.have.length(1);
    expect(revoked).to.deep.equal(made);
  });

  it('names the missing token or scope, with the command that makes one', async () => {
    const both = await shown({
      demand: refused(401, 'this needs a token: the request has none; send it as `Authorization: Bearer <token>`'),
      makeTokens: refused(403, 'this needs the scope `launch`: the token 1 has `read`; use a token with that scope'),
    });
    expect(both).to.have.length(2);
    expect(both[0]).to.match(
      /^fault coordinator: .* cannot be asked which runs wait: this needs a token: the request has none; make one with `simbatch token create --scope read,launch`/,
    );
    expect(both[1]).to.match(
      /^fault slurm: runners of this queue cannot be registered: this needs the scope `launch`: the token 1 has `read`; make one with/,
    );
    const [, prefix] = await shown({ makeTokens: refused(403, 'the token makes others; name the queues so') });
    expect(prefix).to.match(/registered: the token makes others; name the queues so$/);
    expect(await shown({ runners: refused(403, 'no read') })).to.have.length(2);
    expect((await shown({ makeTokens: refused(503, 'busy; try again') }))[1]).to.match(/registered: busy; try again$/);
  });

  it('a coordinator without an answer is one fault', async () => {
    const silent = async () => {
      throw new UnreachableError('http://login1:7070', 'it is not there');
    };
    expect(await shown({ demand: silent, makeTokens: silent })).to.deep.equal([
      'fault coordinator: the coordinator at http://login1:7070 cannot be asked which runs wait: cannot reach the coordinator at http://login1:7070: it is not there',
    ]);
  });
});
