/** The files that a result names where the runner makes archives. */
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { archivedOf, leftMs, type ArchivedOf } from '../../../src/runner/attempt/result/archived.ts';
import type { ArchiveOutcome } from '../../../src/runner/files/archive/archive-job.ts';
import { Waits } from '../../../src/runner/waits.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('runner/attempt/result/archived', () => {
  const asked: { directory: string; keep: readonly string[] }[] = [];
  beforeEach(() => (asked.length = 0));
  const archiver = (outcome: ArchiveOutcome): ArchivedOf['archiver'] => ({
    archive: async (_, directory, keep) => {
      asked.push({ directory, keep });
      return outcome;
    },
  });
  const MADE = archiver({ type: 'archived', kept: ['odd\\name', 'telemetry.parquet'], notes: ['a note'] });
  const FILES = ['/out/metadata.json', '/out/odd\\name', '/out/stdout.log', '/out/telemetry.parquet'];
  const of = (given: Partial<ArchivedOf>) =>
    archivedOf(new Waits(systemClock), {
      archiver: MADE,
      directory: '/out',
      files: FILES,
      telemetry: '/out/telemetry.parquet',
      limitMs: Infinity,
      isOpen: false,
      ...given,
    });

  it('are the archive and what stays beside it; telemetry stays', async () => {
    expect(await of({})).to.deep.equal({
      files: ['/out/files.zip', '/out/odd\\name', '/out/telemetry.parquet'],
      notes: ['a note'],
    });
    expect(asked).to.deep.equal([{ directory: '/out', keep: ['telemetry.parquet'] }]);
  });

  it('are those of the run where the runner makes none, or has nothing to gain', async () => {
    expect(await of({ archiver: undefined })).to.deep.equal({ files: FILES, notes: [] });
    for (const files of [[], ['/out/telemetry.parquet'], ['/out/metadata.json', '/out/telemetry.parquet']])
      expect(await of({ files })).to.deep.equal({ files, notes: [] });
    expect(asked).to.deep.equal([]);
    await of({ files: ['/out/deep/a.csv'], telemetry: undefined });
    expect(asked).to.deep.equal([{ directory: '/out', keep: [] }]);
  });

  it('are archived within the time limit, with time for the report, which counts from that of the start', () => {
    const clock = new SimulatedClock();
    const sinceMs = clock.monotonicMs() - 7_000;
    for (const [timeoutSecs, left] of [
      [0, Infinity],
      [10, 2_000],
      [3_600, 3_588_000],
      [7, -700],
    ] as const)
      expect(leftMs({ timeoutSecs, sinceMs }, clock)).to.equal(left);
    expect(leftMs({ timeoutSecs: 10 }, clock)).to.equal(Infinity);
  });

  it('are those of the run, with the reason, where the archive fails or something still writes', async () => {
    const failing = archiver({ type: 'unchanged', why: 'the disk is full' });
    expect(await of({ archiver: failing })).to.deep.equal({
      files: FILES,
      notes: ['its files are not in an archive: the disk is full'],
    });
    asked.length = 0;
    expect(await of({ isOpen: true })).to.deep.equal({
      files: FILES,
      notes: ['its files are not in an archive: something may still write to them'],
    });
    expect(asked).to.deep.equal([]);
    expect((await of({ limitMs: 0 })).notes).to.deep.equal([
      'its files are not in an archive: the time limit of the run was near',
    ]);
    expect(asked).to.deep.equal([]);
    expect(await of({ archiver: archiver({ type: 'unchanged' }) })).to.deep.equal({ files: FILES, notes: [] });
  });
});
