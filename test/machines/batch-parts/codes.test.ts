/** The versions of the code of a batch: counted by the ends of runs, bounded, and fixed by the first start. */
import { expect } from 'chai';
import type { BatchContext } from '../../../src/contract/types.ts';
import { noteEnds, noteStart } from '../../../machines/batch-parts/codes.ts';
import type { JobEnded, JobStarted } from '../../../machines/protocol.ts';

type Codes = Pick<BatchContext, 'codes' | 'pinnedCode'>;
const hex = (n: number): string => n.toString(16).padStart(12, '0').padEnd(64, '0');
const about = { jobId: 'j', batchId: 'b', attempt: 1, now: 0 };
const started = (n: number, runnerId = 'r1'): JobStarted => ({
  ...about,
  type: 'job.started',
  runId: 0,
  runnerId,
  code: { kind: 'entrypoint', digest: hex(n) },
});
const ended = (n: number, runId: number, to: JobEnded['to'] = 'Completed'): JobEnded => ({
  ...about,
  type: 'job.ended',
  runId,
  runnerId: 'r1',
  code: hex(n).slice(0, 12),
  from: 'Running',
  to,
  touched: true,
  error: undefined,
  startedAtMs: 0,
});
const none = (): Codes => ({ codes: undefined, pinnedCode: undefined });
const summary = ({ codes = [] }: Codes) => codes.map((it) => [it.identity.digest, it.runs, it.firstRunId, it.runners]);

describe('machines/batch-parts: codes', () => {
  it('counts ended runs by code, with the lowest run and the runners; cancelled ones have shown nothing', () => {
    const c = none();
    for (const it of [started(1), started(1, 'r2'), started(1, 'r2'), started(2)]) noteStart(c, it, false);
    noteEnds(c, [ended(1, 7), ended(2, 9, 'Timeout'), ended(1, 3, 'Failed'), ended(2, 1, 'Cancelled')]);
    expect(summary(c)).to.deep.equal([
      [hex(1), 2, 3, ['r1', 'r2']],
      [hex(2), 1, 9, ['r1']],
    ]);
    expect(c.pinnedCode).to.equal(undefined);
  });

  it('counts the same ends in one turn and in many', () => {
    const [once, each] = [none(), none()];
    const ends = [ended(1, 7), ended(2, 9), ended(1, 3, 'Failed'), ended(4, 2), ended(1, 8, 'Cancelled'), ended(2, 12)];
    for (const c of [once, each]) for (const it of [started(1), started(2)]) noteStart(c, it, false);
    noteEnds(once, ends);
    for (const it of ends) noteEnds(each, [it]);
    expect(once).to.deep.equal(each);
    expect(summary(once).map(([, runs, first]) => [runs, first])).to.deep.equal([
      [2, 3],
      [2, 9],
    ]);
  });

  it('fixes the code of the first attempt that started, where the study pins it', () => {
    const c = none();
    const { code: _, ...unknown } = started(1);
    noteStart(c, unknown, true);
    expect(c.pinnedCode).to.equal(undefined);
    noteStart(c, started(2), true);
    noteStart(c, started(1), true);
    expect(c.pinnedCode).to.equal(hex(2));
  });

  it('is bounded: 100 versions and 20 runners of each', () => {
    const c = none();
    for (let n = 0; n < 150; n++) noteStart(c, started(n), false);
    for (let n = 0; n < 40; n++) noteStart(c, started(3, `r${String(n)}`), false);
    noteEnds(c, [ended(120, 5)]);
    expect(c.codes?.length).to.equal(100);
    expect(c.codes?.[3]?.runners.length).to.equal(20);
    expect(c.codes?.reduce((sum, it) => sum + it.runs, 0)).to.equal(0);
  });
});
