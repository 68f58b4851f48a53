/** Findings about files of runs: where they lie while they are not in the object store. */
import { expect } from 'chai';
import type { OutboxPlace } from '../../../src/domain/findings/finding.ts';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import { BATCH_ID, situation } from './support.ts';

const place = (rest: Partial<OutboxPlace> = {}): OutboxPlace => ({
  runnerId: 'r7',
  hostname: 'node3',
  root: '/scratch/out',
  files: 3,
  runs: 2,
  failing: 0,
  examples: [4, 7],
  isGone: false,
  idleMs: 1_000,
  ...rest,
});
const WHERE = `on runner r7 (machine node3) in /scratch/out/${BATCH_ID}`;

const TABLE: readonly [name: string, given: Partial<Situation>, expected: readonly string[]][] = [
  ['nothing waits', { outbox: [] }, []],
  ['a connected runner that sends', { outbox: [place()] }, []],
  ['a connected runner that has sent nothing for ten minutes just now', { outbox: [place({ idleMs: 600_000 })] }, []],
  [
    'a runner whose latest try failed',
    { outbox: [place({ reason: 'a.csv: status 503' })] },
    [`warning files-not-sent: 3 files of 2 runs are not in the object store: ${WHERE}: a.csv: status 503`],
  ],
  [
    'a runner that is gone, before a reason',
    { outbox: [place({ files: 1, runs: 1, isGone: true, reason: 'status 503' })] },
    [`warning files-not-sent: 1 file of 1 run is not in the object store: ${WHERE}: the runner is gone`],
  ],
  [
    'a pod that is gone with its disk',
    { outbox: [place({ isGone: true, allocation: 'kubernetes/main/a1' })] },
    [
      `warning files-not-sent: 3 files of 2 runs are not in the object store: ${WHERE}: the runner was a pod (kubernetes/main/a1) that is gone, and its own disk with it: the files are lost unless this folder is on a volume`,
    ],
  ],
  [
    'a pod that is there, and whose latest try failed',
    { outbox: [place({ allocation: 'kubernetes/main/a1', reason: 'a.csv: status 503' })] },
    [`warning files-not-sent: 3 files of 2 runs are not in the object store: ${WHERE}: a.csv: status 503`],
  ],
  [
    'a pod that is there, and a machine of another cluster that is gone',
    {
      outbox: [
        place({ allocation: 'kubernetes/main/a1', reason: 'status 503' }),
        place({ runnerId: 'r8', isGone: true, allocation: 'slurm/main/b2' }),
      ],
    },
    [
      `warning files-not-sent: 6 files of 4 runs are not in the object store: ${WHERE.replace('r7', 'r8')}, and on 1 more runner: the runner is gone`,
    ],
  ],
  [
    'a runner that sends nothing for long',
    { outbox: [place({ idleMs: 600_001 })] },
    [
      `warning files-not-sent: 3 files of 2 runs are not in the object store: ${WHERE}: it has sent nothing for ten minutes`,
    ],
  ],
  [
    'several runners: those that are gone first, and only those that do not send',
    {
      outbox: [
        place({ runnerId: 'sends' }),
        place({ runnerId: 'fails', files: 50, reason: 'x' }),
        place({ isGone: true }),
      ],
    },
    [
      `warning files-not-sent: 53 files of 4 runs are not in the object store: ${WHERE}, and on 1 more runner: the runner is gone`,
    ],
  ],
  [
    'a bucket that cannot be used',
    { storeFault: { code: 'wrong-key', message: 'the store does not know the access key', remedy: 'set it' } },
    ['warning object-store-unusable: files of runs cannot be uploaded: the store does not know the access key'],
  ],
  [
    'files that were lost',
    { unsent: { files: 3, runs: 2, examples: [4, 7], detail: 'a.csv: there is no such file' } },
    [
      'warning uploads-failed: 3 files of 2 runs could not be uploaded and will not be; the latest: a.csv: there is no such file',
    ],
  ],
];

describe('domain/findings/files', () => {
  for (const [name, given, expected] of TABLE) {
    it(name, () => {
      for (const batchStatus of ['Running', 'Completed'] as const) {
        const found = findingsOf(situation({ Completed: 1 }, [], { batchStatus, ...given }));
        expect(found.map(({ severity, code, message }) => `${severity} ${code}: ${message}`)).to.deep.equal(expected);
      }
    });
  }

  it('names the command with its folder and machine, the runners and the runs', () => {
    const [found] = findingsOf(situation({ Completed: 1 }, [], { outbox: [place({ isGone: true })] }));
    expect(found?.remedy).to.equal(
      `run \`simbatch files push ${BATCH_ID} --output-root /scratch/out\` on machine node3, or start runner r7 there again`,
    );
    expect(found).to.deep.include({ count: 2, runners: ['r7'], runs: [4, 7] });
  });
});
