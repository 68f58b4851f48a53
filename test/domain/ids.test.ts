import { expect } from 'chai';
import * as fc from 'fast-check';
import { batchIdOf, isBatchId, isJobId, jobId, newBatchId, nextBatchId, runIdOf } from '../../src/domain/ids.ts';

const anyTime = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const anyBytes = fc.uint8Array({ minLength: 6, maxLength: 6 });
const anyRun = fc.integer({ min: 0, max: 2 ** 32 - 2 });

describe('domain/ids', () => {
  it('are UUIDs of version 8 and the variant of RFC 9562', () => {
    const id = newBatchId(Date.UTC(2026, 0, 1), Uint8Array.from([255, 255, 255, 255, 255, 255]));
    expect(id).to.equal('019b76da-a800-8fff-bfff-ffff00000000');
    expect(jobId(id, 0)).to.equal('019b76da-a800-8fff-bfff-ffff00000001');
    expect(newBatchId(0, new Uint8Array(6))).to.equal('00000000-0000-8000-8000-000000000000');
  });

  it('contain the batch and the run of a job', () => {
    fc.assert(
      fc.property(anyTime, anyBytes, anyRun, (now, random, run) => {
        const batch = newBatchId(now, random);
        const job = jobId(batch, run);
        expect([isBatchId(batch), isJobId(batch), isBatchId(job), isJobId(job)]).to.deep.equal([
          true,
          false,
          false,
          true,
        ]);
        expect(batchIdOf(job)).to.equal(batch);
        expect(runIdOf(job)).to.equal(run);
        expect(batchIdOf(batch)).to.equal(batch);
      }),
    );
  });

  it('sort by time and then by run', () => {
    fc.assert(
      fc.property(anyTime, anyTime, anyBytes, anyRun, anyRun, (a, b, random, r, s) => {
        if (a !== b) expect(newBatchId(a, random) < newBatchId(b, random)).to.equal(a < b);
        const batch = newBatchId(a, random);
        if (r !== s) expect(jobId(batch, r) < jobId(batch, s)).to.equal(r < s);
      }),
    );
  });

  it('have a successor with no id between', () => {
    const cases = [
      ['019b76da-a800-8000-8000-000000000000', '019b76da-a800-8000-8000-000100000000'],
      ['019b76da-a800-8000-8000-ffff00000000', '019b76da-a800-8000-8001-000000000000'],
      ['019b76da-a800-8000-8fff-ffff00000000', '019b76da-a800-8000-9000-000000000000'],
      ['019b76da-a800-8abc-bfff-ffff00000000', '019b76da-a800-8abd-8000-000000000000'],
      ['019b76da-a800-8fff-bfff-ffff00000000', '019b76da-a801-8000-8000-000000000000'],
    ] as const;
    for (const [id, next] of cases) expect(nextBatchId(id)).to.equal(next);
    fc.assert(
      fc.property(anyTime, anyBytes, (now, random) => {
        const id = newBatchId(now, random);
        const next = nextBatchId(id);
        expect(isBatchId(next)).to.equal(true);
        expect(next > id || now === 2 ** 48 - 1).to.equal(true);
      }),
    );
  });

  it('differ in each of 42 random bits', () => {
    const id = (...bytes: number[]): string => newBatchId(0, Uint8Array.from(bytes));
    const bits = Array.from({ length: 48 }, (_, bit) => {
      const bytes = [0, 0, 0, 0, 0, 0];
      bytes[bit >> 3] = 0x80 >> (bit & 7);
      return id(...bytes);
    });
    const zero = id(0, 0, 0, 0, 0, 0);
    expect(new Set(bits.filter((it) => it !== zero)).size).to.be.at.least(42);
  });

  it('are distinguished from all other texts', () => {
    const good = '019b76da-a800-8fff-bfff-ffff00000001';
    const bad = [
      '',
      good.toUpperCase(),
      `${good} `,
      `${good}\n`,
      `{${good}}`,
      good.replaceAll('-', ''),
      good.replace('-8', '-7'),
      good.replace('-b', '-c'),
      '../../etc/passwd',
      '__proto__',
    ];
    for (const text of bad) expect([isBatchId(text), isJobId(text)], text).to.deep.equal([false, false]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect([isBatchId(text), isJobId(text)]).to.deep.equal([false, false]);
      }),
    );
  });

  it('are of a job only with lower-case digits of its run, whichever id was asked about before', () => {
    const batch = newBatchId(Date.UTC(2026, 0, 1), new Uint8Array(6));
    const prefix = batch.slice(0, 28);
    const tails = [
      '00000001',
      'ffffffff',
      '0a9f8000',
      '00000000',
      '0000000g',
      '0000000A',
      '0000-001',
      '0000001',
      '000000001',
      '000000é1',
    ];
    for (const tail of tails) {
      expect(isJobId(jobId(batch, 0))).to.equal(true);
      expect(isJobId(prefix + tail), tail).to.equal(/^(?!0{8})[0-9a-f]{8}$/.test(tail));
    }
  });
});
