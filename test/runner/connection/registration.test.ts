/** The registration of a runner at a coordinator of another version. */
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { ApiError, type Client } from '../../../src/client/client.ts';
import {
  CoordinatorConnection,
  type ConnectionOptions,
} from '../../../src/runner/connection/coordinator-connection.ts';
import { silentLog } from '../../../src/runner/log.ts';

describe('runner/connection: registration', () => {
  /** The message with which the registration is refused for good. */
  async function refusal(pointer: string): Promise<string> {
    const problem = { type: 'x', title: 'x', status: 422, detail: 'the request is not valid', code: 'invalid-request' };
    const errors = [{ pointer, detail: 'is not a member of a registration' }];
    const client = {
      endpoint: 'http://lab:7070',
      register: () => Promise.reject(new ApiError(422, 'invalid-request', problem.detail, { ...problem, errors })),
    } as unknown as Client;
    const connection = new CoordinatorConnection({
      client,
      clock: systemClock,
      log: silentLog,
      identity: { id: 'r1' },
      replaces: [],
      held: () => [],
      engines: () => Promise.resolve([]),
      slotsLost: () => 0,
      onLost: () => {},
    } as unknown as ConnectionOptions);
    try {
      await connection.register(new AbortController().signal);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it is registered');
  }

  it('says that the coordinator is older, and the remedy, where it does not take the code of engines', async () => {
    expect(await refusal('/engines')).to.equal(
      "the coordinator at http://lab:7070 is older than this runner: it does not take the code of engines; update the coordinator, or start a runner of the coordinator's version",
    );
    expect(await refusal('/engines/0/name')).to.equal('the request is not valid');
    expect(await refusal('/capabilities')).to.equal('the request is not valid');
  });
});
