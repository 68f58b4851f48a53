/** Loops in WebAssembly give the figures of the same loops in JavaScript, to the bit. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { assemble, get, i32, i32x4, loopWhile, seq, set, v128 } from '../../../src/analysis/kernels/assembler.ts';
import { BlockSums, COLUMNS } from '../../../src/analysis/kernels/block-sums.ts';
import { MOST_BLOCKS, PhiloxWords } from '../../../src/analysis/kernels/philox-words.ts';
import { philox } from '../../../src/domain/sampling/philox.ts';

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

describe('analysis/kernels', () => {
  for (const vectors of [true, false]) {
    const how = vectors ? 'with vectors' : 'without vectors';

    it(`give the words of philox at consecutive counters, ${how}`, () => {
      const words = new PhiloxWords({ vectors });
      const block = new Uint32Array(4);
      fc.assert(
        fc.property(word, word, word, word, word, fc.integer({ min: 1, max: 37 }), (k0, k1, from, c1, c3, count) => {
          words.fill(k0, k1, from, c1, c3, count);
          for (let i = 0; i < count; i++) {
            philox(k0, k1, (from + i) | 0, c1, 0, c3, block);
            expect([words.first[i], words.second[i]]).to.deep.equal([block[0], block[1]]);
          }
        }),
      );
      words.fill(1, 2, 0, 3, 6, MOST_BLOCKS);
      philox(1, 2, MOST_BLOCKS - 1, 3, 0, 6, block);
      expect([words.first.at(-1), words.second.at(-1)]).to.deep.equal([block[0], block[1]]);
    });

    it(`give the words of the published vectors of Philox, ${how}`, () => {
      const words = new PhiloxWords({ vectors });
      words.fill(0, 0, 0, 0, 0, 1);
      expect([words.first[0], words.second[0]]).to.deep.equal([0x6627e8d5, 0xe169c58d]);
    });

    it(`sum columns over the blocks of each partition, ${how}`, () => {
      for (const [rows, blocks, partitions] of [
        [1, 1, 1],
        [7, 3, 8],
        [500, 16, 9],
        [20_000, 64, 20],
      ] as const) {
        const block = new Uint32Array(4);
        const draw = (a: number, b: number): number => {
          philox(5, rows, a, b, 0, 0, block);
          return block[0]!;
        };
        const blockOf = Array.from({ length: partitions }, (_, p) =>
          Uint16Array.from({ length: rows }, (__, row) => draw(row, p) % blocks),
        );
        const columns = Array.from({ length: COLUMNS }, (_, c) =>
          Int32Array.from({ length: rows }, (__, row) => (draw(row, 1000 + c) % 20_001) - 10_000),
        );
        const sums = new BlockSums({ rows, blocks, partitions }, (p) => blockOf[p]!, { vectors });
        // Twice: the sums begin at 0 each time.
        sums.add(columns);
        sums.add(columns);
        const expected = new Int32Array(partitions * blocks * COLUMNS);
        for (let p = 0; p < partitions; p++)
          for (let row = 0; row < rows; row++)
            for (let c = 0; c < COLUMNS; c++)
              expected[(p * blocks + blockOf[p]![row]!) * COLUMNS + c]! += columns[c]![row]!;
        expect(sums.sums).to.deep.equal(expected);
      }
    });
  }

  it('are assembled from instructions, and undefined where the platform refuses them', () => {
    const body = [
      ...loopWhile(
        [...get(1), ...get(0), ...i32.lessUnsigned],
        [
          ...seq(get(1), get(1), i32x4.splat, i32x4.const(0, -1, 2, 300), i32x4.add, v128.store(0)),
          ...seq(get(1), i32.const(16), i32.add, set(1)),
        ],
      ),
    ];
    const kernel = assemble({ ramp: { parameters: 1, locals: { i32: 1, v128: 0 }, body } }, 100)!;
    kernel.functions.ramp(32);
    expect([...new Int32Array(kernel.memory, 0, 8)]).to.deep.equal([0, -1, 2, 300, 16, 15, 18, 316]);
    expect(assemble({ broken: { parameters: 0, locals: { i32: 0, v128: 0 }, body: [...i32.add] } }, 100)).to.equal(
      undefined,
    );
  });
});
