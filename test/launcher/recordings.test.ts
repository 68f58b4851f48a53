/** The recordings of allocations: records of every format stay readable, and continue as they did. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';
import { readSnapshot, replay } from '../../src/replay/replay.ts';
import { recordAllocations } from '../support/record/allocations.ts';
import { inPieces, refusal } from '../snapshots/support.ts';

const FOLDER = join(packageRoot, 'snapshots', 'launcher-1');
const files = readdirSync(FOLDER).filter((it) => it.endsWith('.json'));
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

describe('launcher: recordings', () => {
  for (const name of files) {
    it(`${name} continues from each of its records`, async () => {
      const { divergences, events } = await replay(await readSnapshot(join(FOLDER, name)));
      expect(divergences).to.deep.equal([]);
      expect(events).to.be.greaterThan(0);
    });
  }

  it('equal a new recording (after a change of the machine, run `npm run record`)', () => {
    const recorded = recordAllocations();
    expect([...recorded.keys()].toSorted()).to.deep.equal(files.toSorted());
    for (const [name, text] of recorded) expect(text, name).to.equal(textOf(name));
  });

  it('show where a machine parts from them', async () => {
    const document = JSON.parse(textOf('allocation-works.json'));
    document.steps[2].record.value = 'Idle';
    const { divergences } = await replay(await readSnapshot(inPieces(JSON.stringify(document))));
    expect(divergences[0]).to.deep.equal({
      where: 'step 3 (OBSERVED)',
      detail: 'value is "Idle" in the record and "Queued" now',
    });
  });

  const DAMAGED: [string, (document: any) => void, RegExp][] = [
    ['a later format', (it) => (it.format = 2), /"format" is 2; of an allocation it must be 1/],
    ['no input', (it) => delete it.input, /"input" has no "id"/],
    ['a step without a record', (it) => delete it.steps[1].record, /"steps" is not a list of events and records/],
    ['an unknown state', (it) => (it.steps[0].record.value = 'Nowhere'), /step 2 \(\w+\) cannot be played: /],
  ];
  for (const [what, change, expected] of DAMAGED) {
    it(`are refused with ${what}`, async () => {
      const document = JSON.parse(textOf('allocation-works.json'));
      change(document);
      const { code, message } = await refusal(async () =>
        replay(await readSnapshot(inPieces(JSON.stringify(document)))),
      );
      expect({ code, message }).to.satisfy(() => code === 'snapshot-unusable' && expected.test(message), message);
    });
  }
});
