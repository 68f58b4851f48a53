/** The chain of group commits: a group that is missing, altered, exchanged or of another store is a fault. */
import { expect } from 'chai';
import type { Operation } from '../../../../src/coordinator/kernel/storage/engine.ts';
import { seal } from '../../../../src/coordinator/kernel/storage/integrity/checksum.ts';
import {
  ChainCheck,
  encodeGroup,
  GROUP_KEY,
  nextGroup,
  operationSum,
  type GroupRecord,
} from '../../../../src/coordinator/kernel/storage/integrity/group-chain.ts';
import type { WriteBatch } from '../../../../src/coordinator/kernel/storage/leveldb/write-batch.ts';

interface Group {
  record: GroupRecord;
  write: WriteBatch;
}

/** The groups of a store that writes one record in each. */
function chain(values: readonly string[]): Group[] {
  const groups: Group[] = [];
  for (const value of values) {
    const operations: Operation[] = [['!job!a', seal('!job!a', value)]];
    const record = nextGroup(groups.at(-1)?.record, operations.map(operationSum).join(''));
    operations.push([GROUP_KEY, seal(GROUP_KEY, encodeGroup(record))]);
    const changes = operations.map(([key, text]) => ({ key: Buffer.from(key), value: Buffer.from(text ?? '') }));
    groups.push({ record, write: { sequence: 2 * groups.length + 1, changes } });
  }
  return groups;
}

/** The faults of these groups, in the order of a log. */
function faults(groups: readonly Group[]): (string | undefined)[] {
  const check = new ChainCheck();
  return groups.map(({ write }) => check.add(write));
}

describe('coordinator/kernel/storage/integrity: group chain', () => {
  const own = chain(['one', 'two', 'three', 'four']);
  const foreign = chain(['eins', 'zwei', 'drei', 'vier']);

  it('takes the groups of one store', () => {
    expect(faults(own)).to.deep.equal([undefined, undefined, undefined, undefined]);
    // A log begins where the one before ended.
    expect(faults(own.slice(2))).to.deep.equal([undefined, undefined]);
  });

  it('refuses a group of another store that has the right number', () => {
    expect(foreign[2]?.record.number).to.equal(own[2]?.record.number);
    expect(faults([own[0]!, own[1]!, foreign[2]!])).to.deep.equal([
      undefined,
      undefined,
      'group 3 does not follow group 2',
    ]);
  });

  it('refuses the groups after a group that was exchanged for another of the same number', () => {
    const exchanged = chain(['one', 'other', 'three', 'four'])[1]!;
    expect(faults([own[0]!, exchanged, own[2]!])).to.deep.equal([
      undefined,
      undefined,
      'group 3 does not follow group 2',
    ]);
  });

  it('refuses a group that is missing, comes twice or is altered', () => {
    expect(faults([own[0]!, own[2]!])[1]).to.equal('group 3 does not follow group 1');
    expect(faults([own[0]!, own[0]!])[1]).to.equal('group 1 does not follow group 1');
    const [change, record] = own[1]!.write.changes;
    const altered = { ...change!, value: Buffer.from(seal('!job!a', 'three')) };
    const write = { sequence: 3, changes: [altered, record!] };
    expect(faults([own[0]!, { record: own[1]!.record, write }])[1]).to.equal('its hash does not match');
  });
});
