/** The recordings of allocations: records of every format stay readable, and continue as they did. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';
import { Allocations } from '../../src/launcher/state/allocations.ts';
import { recordAllocations, type AllocationRecording } from '../support/record/allocations.ts';

const FOLDER = join(packageRoot, 'snapshots', 'launcher-1');
const files = readdirSync(FOLDER).filter((it) => it.endsWith('.json'));
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('launcher: recordings', () => {
  for (const name of files) {
    it(`${name} continues from each of its records`, () => {
      const { input, steps } = JSON.parse(textOf(name)) as AllocationRecording;
      const first = new Allocations(() => {});
      let before = first.plan(input);
      for (const { event, record } of steps) {
        // As a launcher that was restarted between the two events.
        const allocations = new Allocations(() => {});
        allocations.restore(plain(before) as typeof before);
        allocations.send(input.id, event);
        expect(plain(allocations.get(input.id)), event.type).to.deep.equal(record);
        before = record;
      }
    });
  }

  it('equal a new recording (after a change of the machine, run `npm run record`)', () => {
    const recorded = recordAllocations();
    expect([...recorded.keys()].toSorted()).to.deep.equal(files.toSorted());
    for (const [name, text] of recorded) expect(text, name).to.equal(textOf(name));
  });
});
