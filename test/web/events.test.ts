/** The log of a machine's events: equal events in a row are one. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';

interface Event {
  id: string;
  event: string;
  from?: string;
  to: string;
  now: number;
}

describe('web/machines/event-groups', () => {
  let grouped: (events: Event[]) => (Event & { times: number })[];
  before(async () => {
    const url = new URL('../../../web/src/machines/event-groups.ts', import.meta.url).href;
    ({ grouped } = (await tsImport(url, import.meta.url)) as { grouped: typeof grouped });
  });
  const event = (name: string, from: string, to: string, now: number): Event => ({
    id: `j${now}`,
    event: name,
    from,
    to,
    now,
  });

  it('the newest group is first and shows its newest event', () => {
    const found = grouped([
      event('CLAIM', 'Pending', 'Claimed', 1),
      event('START', 'Claimed', 'Running', 2),
      event('START', 'Claimed', 'Running', 3),
      event('START', 'Claimed', 'Running', 4),
      event('CLAIM', 'Pending', 'Claimed', 5),
    ]);
    expect(found.map((it) => [it.event, it.now, it.times])).to.deep.equal([
      ['CLAIM', 5, 1],
      ['START', 4, 3],
      ['CLAIM', 1, 1],
    ]);
  });

  it('events between other states are not equal', () => {
    const found = grouped([event('FAIL', 'Running', 'Failed', 1), event('FAIL', 'Running', 'Pending', 2)]);
    expect(found.map((it) => it.times)).to.deep.equal([1, 1]);
  });
});
