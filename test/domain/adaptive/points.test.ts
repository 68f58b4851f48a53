/** Rows found by their hash, and the identity of evaluators. */
import { expect } from 'chai';
import { evaluatorIdentity } from '../../../src/domain/adaptive/evaluator-identity.ts';
import { HASH_WORDS, hashRows, PointIndex } from '../../../src/domain/adaptive/point-index.ts';

const hashesOf = (...numbers: number[]): Uint32Array =>
  hashRows({ rows: numbers.length, values: Float64Array.from(numbers) }, 0, numbers.length);

describe('domain/adaptive/points', () => {
  it('finds each of 20,000 rows, its first and its last run, and no other row', () => {
    const index = new PointIndex();
    const hashes = hashesOf(...Array.from({ length: 20_000 }, (_, row) => row / 7));
    for (let row = 0; row < 20_000; row++) index.add(hashes, row * HASH_WORDS, row);
    for (let row = 0; row < 20_000; row += 3) index.add(hashes, row * HASH_WORDS, 20_000 + row);
    expect(index.size).to.equal(20_000);
    for (let row = 0; row < 20_000; row++) {
      const last = row % 3 === 0 ? 20_000 + row : row;
      expect(index.find(hashes, row * HASH_WORDS)).to.deep.equal({ first: row, last });
    }
    const others = hashesOf(...Array.from({ length: 1_000 }, (_, row) => -1 - row));
    for (let row = 0; row < 1_000; row++) expect(index.find(others, row * HASH_WORDS)).to.equal(undefined);
  });

  it('finds a row among others with the same words but the last', () => {
    const index = new PointIndex();
    const words = new Uint32Array(40 * HASH_WORDS);
    for (let row = 0; row < 40; row++) words.set([256, 7, 7, row], row * HASH_WORDS);
    for (let row = 0; row < 40; row++) index.add(words, row * HASH_WORDS, row);
    for (let row = 0; row < 40; row++)
      expect(index.find(words, row * HASH_WORDS)).to.deep.equal({ first: row, last: row });
  });

  it('identifies an evaluator by its simulation, version, inputs and fixed numbers, in any order', () => {
    const given = { simulation: 'rocket', version: '1.4', inputs: ['mass', 'cd'], fixed: { wind: 1.5 } };
    const identity = '88b67b8694d5cde8d9fd21e0a474e82bbbdf0742888e0c7f55ea3c0fe39d6b40';
    expect(evaluatorIdentity(given)).to.equal(identity);
    expect(evaluatorIdentity({ ...given, inputs: ['cd', 'mass'] })).to.equal(identity);
    const plain = 'dc5748bb52cd88ac00be3d9f5e239870930d0b45d3853d4d036cbe49b7a0443a';
    expect(evaluatorIdentity({ ...given, fixed: {} })).to.equal(plain);
    const others = [
      { simulation: 'rockets' },
      { version: '1.5' },
      { inputs: ['mass'] },
      { fixed: { wind: -0 } },
      { extra: 'a' },
    ];
    const identities = others.map((other) => evaluatorIdentity({ ...given, ...other }));
    expect(new Set([...identities, identity]).size).to.equal(6);
  });
});
