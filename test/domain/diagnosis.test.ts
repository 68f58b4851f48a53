/** Diagnosis of studies that do not run: one row per situation. */
import { expect } from 'chai';
import { diagnose, type Situation } from '../../src/domain/diagnosis.ts';
import type { JobStatus, Runner, RunnerStatus } from '../../src/contract/types.ts';

interface RunnerSketch {
  id?: string;
  status?: RunnerStatus;
  takes?: string[];
  jobs?: number;
  slots?: number;
  cores?: number;
  memory?: number;
  because?: string;
  lost?: number;
}

function runner({
  id = 'r1',
  status = 'Idle',
  takes = [],
  jobs = 0,
  slots = 2,
  cores = 0,
  memory = 0,
  because,
  lost,
}: RunnerSketch): Runner {
  return {
    id,
    name: id,
    status,
    capabilities: {
      max_concurrent_jobs: slots,
      cpu_cores: cores,
      memory_gb: memory,
      gpu_available: false,
      supported_simulation_types: takes,
    },
    current_jobs: Array.from({ length: jobs }, (_, at) => `job-${at}`),
    tags: [],
    registered_at: '2026-03-01T12:00:00.000Z',
    last_heartbeat: '2026-03-01T12:34:56.000Z',
    total_jobs_completed: 0,
    total_jobs_failed: 0,
    accepting_jobs: status !== 'Maintenance',
    ...(because === undefined ? {} : { drain_reason: because }),
    ...(lost === undefined ? {} : { slots_lost: lost }),
  };
}

function situation(
  jobs: Partial<Record<JobStatus, number>>,
  runners: RunnerSketch[],
  rest: Partial<Situation> = {},
): Situation {
  const none = { Pending: 0, Claimed: 0, Running: 0, Completed: 0, Failed: 0, Timeout: 0, Cancelled: 0 };
  return {
    batchStatus: 'Running',
    jobsByStatus: { ...none, ...jobs },
    simulation: 'rocket',
    maxParallelJobs: 0,
    demand: { cpuMilli: 2000, memoryBytes: 2 * 1024 ** 3 },
    runners: runners.map(runner),
    ...rest,
  };
}

const waiting = { Pending: 5 };
const off: RunnerSketch = { status: 'Offline' };
const drained: RunnerSketch = { status: 'Maintenance', because: 'new disk' };

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
    ['blocked no-slots: the only runner for "rocket" is set to run 0 jobs at a time'],
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
    'full with others',
    situation(waiting, [{ jobs: 2 }]),
    [
      'waiting pool-busy: the only runner for "rocket" is full with 2 jobs of other studies; this one is served as they end',
    ],
  ],
  [
    'full with its own and others',
    situation({ Pending: 5, Running: 1 }, [{ jobs: 2 }]),
    ['fine running: 1 runs are active and no runner has room for more; 1 jobs of other studies share the pool'],
  ],
  [
    'full by memory, not by slots',
    situation({ Pending: 5, Running: 1 }, [{ jobs: 1, slots: 4, memory: 3 }]),
    ['fine running: 1 runs are active and no runner has room for more'],
  ],
  [
    'some slots lost',
    situation({ Pending: 5, Running: 1 }, [
      { jobs: 1, lost: 1 },
      { id: 'r2', status: 'Offline', lost: 1 },
    ]),
    [
      'fine running: 1 runs are active and no runner has room for more',
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
    ['fine last-runs: no run waits: the last 1 are with runners'],
  ],
  [
    'last runs',
    situation({ Running: 2, Completed: 8 }, [{ jobs: 2 }]),
    ['fine last-runs: no run waits: the last 2 are with runners'],
  ],
  [
    'last run with a silent runner',
    situation({ Running: 1 }, [{ status: 'Offline', jobs: 1, id: 'gone' }]),
    [
      'fine last-runs: no run waits: the last 1 are with runners',
      'waiting silent-runner: gone went silent holding 1 job; other runners get it when the lease ends',
    ],
  ],
];

describe('domain/diagnosis', () => {
  for (const [name, given, expected] of TABLE) {
    it(name, () => {
      expect(diagnose(given).map(({ severity, code, reason }) => `${severity} ${code}: ${reason}`)).to.deep.equal(
        expected,
      );
    });
  }

  it('gives a remedy for lost slots', () => {
    const [finding] = diagnose(situation(waiting, [{ lost: 2 }]));
    expect(finding).to.include({
      count: 2,
      remedy: 'look at the log of r1, then unmount the file system or restart the machine',
    });
  });

  it('gives a remedy for every blocked study', () => {
    for (const [, given] of TABLE) {
      for (const finding of diagnose(given))
        if (finding.severity === 'blocked') expect(finding.remedy).to.be.a('string').that.is.not.empty;
    }
  });
});
