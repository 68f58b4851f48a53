/** Pieces of files: bounded, in memory of their own, which is used again once it is given back. */
import { expect } from 'chai';
import { copiedPieces, PIECE_BYTES, takeBack } from '../../../../src/coordinator/answers/worker/table/pieces.ts';

const bytes = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + seed) % 256);
const joined = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString('latin1');

describe('coordinator/answers/worker/table/pieces', () => {
  it('are bounded and whole, and share no memory', () => {
    for (const length of [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2.75 * PIECE_BYTES]) {
      const pieces = [...copiedPieces(bytes(length, 7))];
      expect(joined(pieces) === joined([bytes(length, 7)]), String(length)).to.equal(true);
      expect(pieces.every((it) => it.length <= PIECE_BYTES)).to.equal(true);
      expect(new Set(pieces.map((it) => it.buffer)).size).to.equal(pieces.length);
    }
  });

  it('take the memory of pieces that are given back, of large ones alone, and of a few', () => {
    const large = [...copiedPieces(bytes(20 * PIECE_BYTES, 1))];
    const small = [...copiedPieces(bytes(100, 1))];
    for (const piece of [...small, ...large]) takeBack(piece);
    const again = [...copiedPieces(bytes(19.6 * PIECE_BYTES, 2))];
    expect(joined(again) === joined([bytes(19.6 * PIECE_BYTES, 2)])).to.equal(true);
    const memory = again.map((it) => it.buffer);
    expect(memory.filter((it) => large.some(({ buffer }) => buffer === it))).to.have.length(8);
    expect(memory).to.not.include(small[0]!.buffer);
    expect(new Set(memory).size).to.equal(again.length);
  });
});
