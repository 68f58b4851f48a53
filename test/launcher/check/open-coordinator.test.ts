/** A coordinator without tokens: when a launcher refuses it, and who counts as another user of a machine. */
import { expect } from 'chai';
import { openCoordinatorFault, refusingOpen } from '../../../src/launcher/check/open-coordinator.ts';
import { loginUsers } from '../../../src/launcher/check/other-users.ts';
import type { CoordinatorPort } from '../../../src/launcher/loop/ports.ts';
import type { QueueConfig } from '../../../src/launcher/settings.ts';

const PASSWD = `root:x:0:0:root:/root:/bin/bash
none:x:65534:65534:none:/nonexistent:/bin/sh
alice:x:1000:1000:Alice,,,:/home/alice:/bin/bash
bob:x:1001:1001::/home/bob:/bin/zsh
robot:x:1002:1002::/srv/robot:/usr/sbin/nologin
locked:x:1003:1003::/home/locked:/bin/false
slurm:x:64030:64030::/nonexistent:/bin/sh
`;

describe('launcher/check/open-coordinator', () => {
  it('takes accounts of people with a login shell for other users, and not the own one', () => {
    expect(loginUsers(PASSWD, 0)).to.deep.equal(['alice', 'bob']);
    expect(loginUsers(PASSWD, 1000)).to.deep.equal(['bob']);
    expect(loginUsers('', 0)).to.deep.equal([]);
  });

  const queues = (...engines: string[]): QueueConfig[] => engines.map((engine) => ({ engine }) as QueueConfig);
  const fault = (
    engines: readonly string[],
    changes: { endpoint?: string; isOpen?: boolean; users?: string[] } = {},
  ): Promise<string | undefined> => {
    const { endpoint = 'http://127.0.0.1:7070', isOpen = true, users = ['alice'] } = changes;
    return openCoordinatorFault({
      config: { endpoint, queues: queues(...engines) },
      askWithoutToken: () => (isOpen ? Promise.resolve({}) : Promise.reject(new Error('this needs a token'))),
      otherUsers: () => Promise.resolve(users),
    });
  };

  it('is refused by engines that execute programs under the own account, with the users and the remedy', async () => {
    for (const engine of ['slurm', 'ssh'])
      expect(await fault(['kubernetes', engine])).to.match(
        /^the coordinator at http:\/\/127\.0\.0\.1:7070 asks for no token: other users of this machine \(alice\) could execute .*; create a token with `simbatch token create .*--trust-open-coordinator$/,
      );
    expect(await fault(['slurm'], { users: ['a', 'b', 'c', 'd', 'e'] })).to.include('(a, b, c and 2 more)');
    expect(await fault(['kubernetes'])).to.equal(undefined);
  });

  it('is taken without other users, with tokens, or without an answer; at another address everybody is another user', async () => {
    expect(await fault(['slurm'], { users: [] })).to.equal(undefined);
    expect(await fault(['slurm'], { isOpen: false })).to.equal(undefined);
    expect(await fault(['slurm'], { endpoint: 'http://10.0.0.5:7070', users: [] })).to.include(
      'everybody who reaches it',
    );
  });

  it('gets no runner where it was silent at the start, or has lost its tokens since', async () => {
    const port = (token: string | undefined): CoordinatorPort =>
      ({ makeTokens: () => Promise.resolve(new Map([['slurm/main/1', token]])) }) as unknown as CoordinatorPort;
    const made = async (token: string | undefined, found: string | undefined): Promise<unknown> =>
      refusingOpen(port(token), () => Promise.resolve(found))
        .makeTokens([])
        .then(
          (it) => it.get('slurm/main/1'),
          (error: Error) => error.message,
        );
    expect(await made('svc_1', 'it is open')).to.equal('svc_1');
    expect(await made(undefined, 'it is open')).to.equal('it is open');
    expect(await made(undefined, undefined)).to.equal(undefined);
  });
});
