/** Requirements and outputs in a submission: every fault with its pointer, and no change of the study's hash. */
import { expect } from 'chai';
import { studyFaults } from '../../../src/http/request/study-faults.ts';
import { Scene } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

const GOOD = { name: 'close', output: 'miss', condition: '<= 50', probability: 0.9 };

describe('http/request/study-faults: requirements', () => {
  const TABLE: [title: string, members: object, faults: string[]][] = [
    ['a usable one', { requirements: [GOOD], outputs: { miss: { units: 'm' } } }, []],
    [
      'a condition outside its grammar',
      { requirements: [{ ...GOOD, condition: 'near 50' }] },
      ['/requirements/0/condition'],
    ],
    ['a probability of 1', { requirements: [{ ...GOOD, probability: 1 }] }, ['/requirements/0/probability']],
    ['a repeated name', { requirements: [GOOD, { ...GOOD, output: 'other' }] }, ['/requirements/1/name']],
    ['an unknown look', { requirements: [{ ...GOOD, look: 'twice' }] }, ['/requirements/0/look']],
    ['a misspelt member', { requirements: [{ ...GOOD, confidance: 0.9 }] }, ['/requirements/0/confidance']],
    ['a misspelt member of an output', { outputs: { miss: { unit: 'm' } } }, ['/outputs/miss/unit']],
  ];
  for (const [title, members, pointers] of TABLE) {
    it(`finds the faults of ${title}`, () => {
      expect(studyFaults({ ...study(), ...members }).map((it) => it.pointer)).to.deep.equal(pointers);
    });
  }

  it('leaves the hash of the configuration as it is', async () => {
    const scene = await Scene.open();
    const hashes = [];
    for (const more of [{}, { requirements: [GOOD], outputs: { miss: {} } }]) {
      const { batch_id } = await scene.api.submit({ ...study(), ...more });
      hashes.push((await scene.api.batch(batch_id)).batch.config_hash);
    }
    expect(hashes[0]).to.equal(hashes[1]);
    await scene.api.close();
  });
});
