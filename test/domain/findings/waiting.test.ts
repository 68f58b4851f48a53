/** Findings about pending runs and the machines of the pool: one row per situation. */
import { expect } from 'chai';
import type { CanaryStudy } from '../../../src/domain/probe/canary-finding.ts';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import { situation, type RunnerSketch } from './support.ts';

const waiting = { Pending: 5 };
const off: RunnerSketch = { status: 'Offline' };
const drained: RunnerSketch = { status: 'Maintenance', because: 'new disk' };

const LAST = ['fine last-runs: no run waits: the last 2 are with runners'];

/** Nine runs wait for a canary study. */
const waitsFor = (study: Omit<CanaryStudy, 'batchId'>, isFailed = true): Situation =>
  situation({ Pending: 9 }, [{}], {
    canary: { runs: 0, withheld: 9, isFailed, study: { batchId: '019b76da-a800-8a00-887f-bf7400000000', ...study } },
  });

const TABLE: [string, Situation, string[]][] = [
  ['ended', situation({ Completed: 3 }, [], { batchStatus: 'Completed' }), []],
  ['cancelled with runs left', situation(waiting, [], { batchStatus: 'Cancelled' }), []],
  ['no runner', situation(waiting, []), ['blocked no-runner: no runner has registered']],
  [
    'another simulation',
    situation(waiting, [{ takes: ['boat', 'car'] }, { takes: ['car'] }]),
    ['blocked unsupported-simulation: no runner takes the simulation "rocket"; 2 runners take only "boat", "car"'],
  ],
  [
    'the only one offline',
    situation(waiting, [off]),
    [
      'blocked all-offline: the only runner for "rocket" is offline; the last heartbeat was at 2026-03-01T12:34:56.000Z',
    ],
  ],
  [
    'offline, and one for something else',
    situation(waiting, [off, off, { takes: ['boat'] }]),
    ['blocked all-offline: all 2 runners for "rocket" are offline; the last heartbeat was at 2026-03-01T12:34:56.000Z'],
  ],
  [
    'drained',
    situation(waiting, [drained, off]),
    ['blocked all-drained: the only runner connected for "rocket" is drained (new disk)'],
  ],
  [
    'no slots',
    situation(waiting, [{ slots: 0 }]),
    ['blocked no-slots: the only runner for "rocket" is set to no run at a time'],
  ],
  [
    'histories, and runners that are too old for them',
    situation(waiting, [{}, { features: ['other'] }], { needs: ['histories'] }),
    [
      'blocked runner-too-old: the study has histories or derived outputs, and all 2 runners for "rocket" are too old for them',
    ],
  ],
  [
    'scenarios, and a runner that is too old for them',
    situation(waiting, [{ features: ['histories'] }], { needs: ['scenarios'] }),
    ['blocked runner-too-old: the study has scenarios, and the only runner for "rocket" is too old for them'],
  ],
  [
    'epistemic inputs alone, and a runner that is too old for them',
    situation(waiting, [{ features: ['histories'] }], {
      needs: ['histories', 'scenarios'],
      declared: { epistemic: { bias: { interval: [0, 1], levels: 2 } } },
    }),
    ['blocked runner-too-old: the study has epistemic inputs, and the only runner for "rocket" is too old for them'],
  ],
  [
    'histories and scenarios, and runners of which each is too old for another one',
    situation(waiting, [{ features: ['histories'] }, { features: ['scenarios'] }], {
      needs: ['histories', 'scenarios'],
      declared: { scenarios: {}, epistemic: {} },
    }),
    [
      'blocked runner-too-old: the study has histories or derived outputs, and scenarios and epistemic inputs, and all 2 runners for "rocket" are too old for them',
    ],
  ],
  [
    'histories, and one runner that computes them',
    situation(waiting, [{}, { features: ['histories'] }], { needs: ['histories'] }),
    ['waiting starting: 1 runner is free: waiting runs are claimed within seconds'],
  ],
  [
    'too few cores',
    situation(waiting, [{ cores: 1, memory: 64 }]),
    ['blocked too-large: one run asks for 2 cores and 2 GiB; no runner has both (at most 1 cores, at most 64 GiB)'],
  ],
  [
    'too little memory',
    situation(waiting, [{ cores: 8, memory: 1.5 }]),
    ['blocked too-large: one run asks for 2 cores and 2 GiB; no runner has both (at most 8 cores, at most 1.5 GiB)'],
  ],
  [
    'a time limit beyond the lifetimes',
    situation(waiting, [{ ends: '2026-03-01T12:36:00.000Z' }, { ends: '2026-03-01T12:40:00.000Z' }], {
      runLength: { timeLimitMs: 600_000, meanMs: 1 },
    }),
    ['blocked lifetime-too-short: one run may take 600 s, its time limit; no runner stays so long (at most 300 s)'],
  ],
  [
    'a mean duration beyond the lifetimes, one of which is over',
    situation(waiting, [{ ends: '2026-03-01T12:34:00.000Z' }], { runLength: { timeLimitMs: 0, meanMs: 2_500 } }),
    ['blocked lifetime-too-short: one run takes 3 s on average; no runner stays so long (at most 0 s)'],
  ],
  [
    'a lifetime that one runner has',
    situation(waiting, [{ ends: '2026-03-01T12:36:00.000Z' }, {}], { runLength: { timeLimitMs: 600_000, meanMs: 1 } }),
    ['waiting starting: 1 runner is free: waiting runs are claimed within seconds'],
  ],
  [
    'undeclared is unlimited',
    situation(waiting, [{}]),
    ['waiting starting: 1 runner is free: waiting runs are claimed within seconds'],
  ],
  [
    'any simulation',
    situation(waiting, [{ takes: ['*'] }]),
    ['waiting starting: 1 runner is free: waiting runs are claimed within seconds'],
  ],
  [
    'cap reached',
    situation({ Pending: 5, Running: 1, Claimed: 1 }, [{ jobs: 2, slots: 8 }], { maxParallelJobs: 2 }),
    ['fine cap-reached: 2 runs are active, as many as `max_parallel_jobs` allows'],
  ],
  [
    'cap of one reached',
    situation({ Pending: 5, Running: 1 }, [{ jobs: 1, slots: 8 }], { maxParallelJobs: 1 }),
    ['fine cap-reached: 1 run is active, as many as `max_parallel_jobs` allows'],
  ],
  [
    'full with one run of another study',
    situation(waiting, [{ jobs: 1, slots: 1 }]),
    [
      'waiting pool-busy: the only runner for "rocket" is full with 1 run of other studies; this one is served as they end',
    ],
  ],
  [
    'full with others',
    situation(waiting, [{ jobs: 2 }]),
    [
      'waiting pool-busy: the only runner for "rocket" is full with 2 runs of other studies; this one is served as they end',
    ],
  ],
  [
    'full with its own and others',
    situation({ Pending: 5, Running: 1 }, [{ jobs: 2 }]),
    ['fine running: 1 run is active and no runner has room for more; 1 run of other studies shares the pool'],
  ],
  [
    'full by memory, not by slots',
    situation({ Pending: 5, Running: 1 }, [{ jobs: 1, slots: 4, memory: 3 }]),
    ['fine running: 1 run is active and no runner has room for more'],
  ],
  [
    'some slots lost',
    situation({ Pending: 5, Running: 1 }, [
      { jobs: 1, lost: 1 },
      { id: 'r2', status: 'Offline', lost: 1 },
    ]),
    [
      'fine running: 1 run is active and no runner has room for more',
      'fine slots-lost: r1 lost 1 of the 2 slots of the pool: a process survives SIGKILL, or a file system does not answer',
    ],
  ],
  [
    'every slot lost',
    situation(waiting, [{ lost: 2 }, { id: 'r2', lost: 7 }]),
    [
      'waiting slots-lost: r1, r2 lost 4 of the 4 slots of the pool: a process survives SIGKILL, or a file system does not answer',
    ],
  ],
  [
    'slots lost, and one free',
    situation(waiting, [{ lost: 1 }]),
    [
      'waiting starting: 1 runner is free: waiting runs are claimed within seconds',
      'fine slots-lost: r1 lost 1 of the 2 slots of the pool: a process survives SIGKILL, or a file system does not answer',
    ],
  ],
  [
    'slots lost, and no run waits',
    situation({ Running: 1 }, [{ jobs: 1, lost: 1 }]),
    ['fine last-runs: no run waits: the last one is with a runner'],
  ],
  [
    'paused, whatever the pool',
    situation({ Pending: 5, Running: 1 }, [], { paused: { reason: 'a look' } }),
    ['blocked paused: the study is paused (a look): 5 pending runs must wait'],
  ],
  ['paused with the last runs', situation({ Running: 2 }, [{ jobs: 2 }], { paused: { reason: undefined } }), LAST],
  [
    'canary runs active',
    situation({ Pending: 8, Running: 2 }, [{}], { canary: { runs: 2, withheld: 8, isFailed: false } }),
    ['waiting canary-running: 8 runs must wait until both canary runs are Completed'],
  ],
  [
    'one canary run active',
    situation({ Pending: 9, Running: 1 }, [{}], { canary: { runs: 1, withheld: 9, isFailed: false } }),
    ['waiting canary-running: 9 runs must wait until the canary run is Completed'],
  ],
  [
    'canary runs pending, and no runner',
    situation({ Pending: 10 }, [], { canary: { runs: 2, withheld: 8, isFailed: false } }),
    ['blocked no-runner: no runner has registered'],
  ],
  [
    'an audit whose next run waits for another runner',
    situation({ Pending: 3 }, [{}], {
      reservation: { runnerId: 'lab-1', untilMs: Date.parse('2026-03-01T12:36:00.000Z') },
    }),
    [
      'waiting audit-waits: the next run waits for another runner than "lab-1", which executed the original; for 60 s at most',
    ],
  ],
  [
    'a failed canary run',
    situation({ Pending: 9_999, Failed: 1 }, [{}], { canary: { runs: 1, withheld: 9_999, isFailed: true } }),
    ['blocked canary-failed: too few canary runs have completed: 9999 other runs must wait'],
  ],
  [
    'a canary study that runs',
    waitsFor({ isGone: false }, false),
    ['waiting canary-running: 9 runs must wait until every run of the canary study 019b76da-a800 has completed'],
  ],
  [
    'a canary study that no runner can execute',
    { ...waitsFor({ isGone: false }, false), runners: [] },
    ['blocked no-runner: no runner has registered'],
  ],
  [
    'a canary study that has failed, of which no run is known',
    waitsFor({ isGone: false }),
    ['blocked canary-failed: not every run of the canary study 019b76da-a800 has completed; 9 runs must wait'],
  ],
  [
    'a canary study of which a run has failed',
    waitsFor({
      isGone: false,
      failure: { runId: 0, status: 'Failed', message: `exited with code 1\nno table: ${'x'.repeat(300)}` },
    }),
    [
      `blocked canary-failed: the canary run with every input at its median has failed: no table: ${'x'.repeat(190)}…; 9 runs must wait`,
    ],
  ],
  [
    'a canary study of which a run took too long',
    waitsFor({
      isGone: false,
      failure: { runId: 1, status: 'Timeout', message: 'the run exceeded its time limit of 60 s' },
    }),
    ['blocked canary-failed: the canary run with all inputs low exceeded its time limit; 9 runs must wait'],
  ],
  [
    'a canary study that was cancelled',
    waitsFor({ isGone: false, failure: { runId: 2, status: 'Cancelled', message: 'enough' } }),
    ['blocked canary-failed: the canary run with all inputs high was cancelled: enough; 9 runs must wait'],
  ],
  [
    'a canary study that is lost',
    waitsFor({ isGone: true }),
    [
      'blocked canary-failed: the canary study 019b76da-a800 has not passed, and does not exist any more; 9 runs must wait',
    ],
  ],
  [
    'full disks',
    situation({ Running: 2 }, [{ disk: 1e8 }, { id: 'r2', disk: 1e12 }, { id: 'r3', disk: 0, status: 'Offline' }], {
      storeFreeBytes: 2 ** 29,
    }),
    [
      ...LAST,
      'warning disk-low: little disk space is left: 0.5 GiB for the store of the coordinator, 0.0931 GiB for the artifacts of r1',
    ],
  ],
  [
    'clocks that differ',
    situation({ Running: 2 }, [{ offset: 7 }, { id: 'r2', offset: -60 }, { id: 'r3', offset: 5 }]),
    [
      ...LAST,
      "warning clock-skew: clocks differ from the coordinator's: r1 is 7 s ahead, r2 is 60 s late; times in their logs and artifacts do not agree with the history",
    ],
  ],
  [
    'an image, and no runner with a container runtime',
    situation({ Running: 2 }, [{ jobs: 2 }], { image: 'rocket:1' }),
    [
      ...LAST,
      'fine image-not-used: no runner has a container runtime: the image rocket:1 is kept with the study and not used',
    ],
  ],
  [
    'rounds with fewer runs than half of the slots',
    situation({ Running: 2 }, [{ jobs: 2, slots: 101 }], { roundWidth: 50 }),
    [
      ...LAST,
      'fine rare-idle-pool: the pool has 101 slots, and the rounds of a level have 50 runs: most slots are idle in them',
    ],
  ],
  ['rounds with as many runs', situation({ Running: 2 }, [{ jobs: 2, slots: 100 }], { roundWidth: 50 }), LAST],
  [
    'an image that one of two runners uses',
    situation({ Running: 2 }, [{ jobs: 2, runtime: 'podman' }, { id: 'r2' }], { image: 'rocket:1' }),
    [
      ...LAST,
      'warning image-not-used: r2 executes runs without the image rocket:1 of the study, and other runners with it: results may depend on the runner',
    ],
  ],
  [
    'an image that every runner uses',
    situation({ Running: 2 }, [{ jobs: 2, runtime: 'podman' }], { image: 'rocket:1' }),
    LAST,
  ],
  ['last runs', situation({ Running: 2, Completed: 8 }, [{ jobs: 2 }]), LAST],
  [
    'last run with a silent runner',
    situation({ Running: 1 }, [{ status: 'Offline', jobs: 1, id: 'gone' }]),
    [
      'fine last-runs: no run waits: the last one is with a runner',
      'waiting silent-runner: gone went silent holding 1 job; other runners get it when the lease ends',
    ],
  ],
];

describe('domain/findings/waiting', () => {
  for (const [name, given, expected] of TABLE) {
    it(name, () => {
      expect(findingsOf(given).map(({ severity, code, message }) => `${severity} ${code}: ${message}`)).to.deep.equal(
        expected,
      );
    });
  }

  it('gives a remedy for lost slots', () => {
    const [finding] = findingsOf(situation(waiting, [{ lost: 2 }]));
    expect(finding).to.include({
      count: 2,
      remedy: 'look at the log of r1, then unmount the file system or restart the machine',
    });
  });

  it('gives a remedy for every finding', () => {
    for (const [, given] of TABLE)
      for (const { remedy, code } of findingsOf(given)) expect(remedy, code).to.be.a('string').that.is.not.empty;
  });
});
