/** Tests of the one decision of the launcher: how many allocations to submit, and the sentence that explains it. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { DemandGroup, RunnerCapabilities } from '../../../src/contract/types.ts';
import { runsThatFit } from '../../../src/domain/counted/table.ts';
import { ALLOWED } from '../../../src/domain/runner-settings.ts';
import type { QueueConfig } from '../../../src/launcher/settings.ts';
import { misfitOf, requestedBy, wholeCapacity, type RunnerSettings } from '../../../src/launcher/decision/fits.ts';
import { usageOf } from '../../../src/launcher/decision/usage.ts';
import { wanted, type WantedInput } from '../../../src/launcher/decision/wanted.ts';
import { queueConfig } from '../support.ts';
import { allocation, group, input, NOW, runner } from './support.ts';

const queue = (given: Partial<QueueConfig> = {}): QueueConfig =>
  queueConfig({ engine: 'slurm', section: {}, ...given });

/** The number of allocations of `main`, and the sentences. */
function decided(given: Partial<WantedInput>): { count: number; why: string } {
  const { queues } = wanted(input(given));
  return { count: queues[0]?.submit.length ?? -1, why: queues[0]?.why.join('\n') ?? '' };
}

/** A runner that allows no further variable, and one image. */
const ALLOWING_NONE: RunnerCapabilities = {
  ...runner().capabilities,
  environment_allowed: [...ALLOWED],
  container_runtime: 'podman',
  container_images: ['wing:1'],
};

/** A runner of a former version, which executes one code of `rocket`. */
const EXECUTING_A: RunnerSettings = {
  ...runner().capabilities,
  engines: [{ name: 'rocket', code: { kind: 'entrypoint', digest: 'a'.repeat(64) } }, { name: 'wing' }],
};

const STOP = { reason: 'by an operator', isFailure: false, immediately: false, atMs: NOW };

describe('launcher/decision/wanted', () => {
  it('submits as many allocations as the runs fill', () => {
    expect(decided({})).to.deep.equal({
      count: 3,
      why: '10 runs of rocket wait: submits 3 allocations for 4 runs each',
    });
  });

  it('submits nothing without demand', () => {
    expect(decided({ demand: [] })).to.deep.equal({ count: 0, why: 'no run waits' });
  });

  const ENOUGH: [string, Partial<WantedInput>][] = [
    ['queued allocations', { allocations: [1, 2, 3].map(() => allocation('Queued')) }],
    ['submissions without an answer', { allocations: [1, 2, 3].map(() => allocation('Submitting')) }],
    ['starting allocations', { allocations: [1, 2, 3].map(() => allocation('Starting')) }],
    ['idle runners', { allocations: [1, 2, 3].map(() => allocation('Idle', {}, runner())) }],
    ['idle runners of another kind', { otherRunners: [runner({ slots: 16 })] }],
  ];
  for (const [name, given] of ENOUGH) {
    it(`submits nothing while ${name} are enough`, () => {
      const { count, why } = decided(given);
      expect(count).to.equal(0);
      expect(why).to.equal('10 runs of rocket wait: the runners that are free, starting or queued are enough');
    });
  }

  const NOT_ENOUGH: [string, Partial<WantedInput>][] = [
    [
      'busy runners',
      { allocations: [allocation('Busy', {}, runner({ status: 'Busy', current_jobs: ['1', '2', '3', '4'] }))] },
    ],
    ['drained runners', { allocations: [allocation('Draining', {}, runner({ status: 'Maintenance' }))] }],
    ['stopping allocations', { allocations: [allocation('Stopping', { startingAtMs: NOW })] }],
    [
      'allocations that are stopped before their start',
      { allocations: [allocation('Stopping', { stop: STOP }), allocation('Submitting', { stop: STOP })] },
    ],
    ['runners without a usable slot', { allocations: [allocation('Idle', {}, runner({ slots_lost: 4 }))] }],
    [
      'starting allocations that end too soon',
      // The margin of the queue and the time limit of a run.
      { allocations: [allocation('Starting', { endsAtMs: NOW + 120_000 + 59_000 })] },
    ],
    ['silent runners', { allocations: [allocation('Idle', {}, runner({ status: 'Offline' }))] }],
    [
      'runners that leave too soon',
      { allocations: [allocation('Idle', {}, runner({ ends_at: new Date(NOW + 59_000).toISOString() }))] },
    ],
    [
      'runners of other simulations',
      { otherRunners: [runner({ capabilities: { ...runner().capabilities, supported_simulation_types: ['wing'] } })] },
    ],
  ];
  for (const [name, given] of NOT_ENOUGH) {
    it(`does not count ${name}`, () => expect(decided(given).count).to.equal(3));
  }

  it('counts the free part of a busy runner', () => {
    const half = runner({ status: 'Busy', current_jobs: ['1', '2'] });
    const { count, why } = decided({ allocations: [allocation('Busy', {}, half)] });
    expect(count).to.equal(2);
    expect(why).to.equal('10 runs of rocket wait: 2 of them find room; submits 2 allocations for 4 runs each');
  });

  const LIMITED: [string, Partial<WantedInput>, number, RegExp][] = [
    ['max', { queues: [queue({ max: 2 })] }, 2, /1 more needed, but max is 2, and 0 allocations of the queue live$/],
    ['max_queued', { queues: [queue({ maxQueued: 1 })] }, 1, /max_queued is 1, and 0 wait/],
    [
      'max_queued, of which one is being stopped and has never started',
      { queues: [queue({ maxQueued: 2 })], allocations: [allocation('Stopping')] },
      1,
      /max_queued is 2, and 1 wait/,
    ],
    [
      'max_allocations',
      { limits: { maxAllocations: 1, maxCoreHours: undefined, maxCoreHoursPerDay: undefined } },
      1,
      /max_allocations is 1/,
    ],
    [
      'max_core_hours',
      { limits: { maxAllocations: undefined, maxCoreHours: 8, maxCoreHoursPerDay: undefined } },
      2,
      /max_core_hours is 8/,
    ],
    [
      'max_core_hours_per_day',
      {
        limits: { maxAllocations: undefined, maxCoreHours: undefined, maxCoreHoursPerDay: 8 },
        usage: { totalCoreMs: 0, dayCoreMs: 3_600_000 },
      },
      1,
      /per_day is 8/,
    ],
    [
      'a block',
      { blocked: new Map([['main', 'an operator has paused it']]) },
      0,
      /submits none, since an operator has paused it/,
    ],
    [
      'scale_up_after',
      { queues: [queue({ scaleUpAfterMs: 60_000 })] },
      0,
      /scale_up_after is 60 s, and the oldest has waited 30 s/,
    ],
  ];
  for (const [name, given, count, why] of LIMITED) {
    it(`stays within ${name}, and says so`, () => {
      const result = decided(given);
      expect(result.count).to.equal(count);
      expect(result.why).to.match(why);
    });
  }

  const MISFITS: [string, Partial<WantedInput>, string, RegExp][] = [
    ['cores', { demand: [group({ cpu_cores: 5 })] }, 'no-capacity-fits', /a run requests 5 cores, an allocation has 4/],
    [
      'memory',
      { demand: [group({ memory_gb: 3 })] },
      'no-capacity-fits',
      /requests 3 GiB of memory, an allocation has 2/,
    ],
    ['simulation', { queues: [queue({ serves: ['wing'] })] }, 'no-capacity-fits', /its runners execute wing only/],
    [
      'function',
      { demand: [group({ simulation: 'python-functions-3.11' })] },
      'no-capacity-fits',
      /its runners execute \* only/,
    ],
    [
      'time limit',
      { demand: [group({ timeout_secs: 3_481 })] },
      'lifetime-too-short',
      /may take 3481 s, its time limit, and an allocation has 3480 s/,
    ],
    [
      'mean',
      { demand: [group({ timeout_secs: 0, mean_seconds: 9_000 })] },
      'lifetime-too-short',
      /takes 9000 s on average/,
    ],
    [
      'variable',
      { demand: [group({ environment: ['SIM_A', 'WIND'] })], settings: new Map([['main', ALLOWING_NONE]]) },
      'settings-refuse',
      /its runners do not allow "WIND" of container.environment; after a change of them: simbatch launcher resume main/,
    ],
    [
      'image',
      { demand: [group({ image: 'wing:2' })], settings: new Map([['main', ALLOWING_NONE]]) },
      'settings-refuse',
      /its runners do not allow the image "wing:2"/,
    ],
  ];
  const OTHER_CODES: [string, Partial<DemandGroup>, RegExp][] = [
    ['pinned code', { code: 'b'.repeat(64) }, /its runners execute another code than the study pins; after a/],
    ['feature', { features: ['histories'] }, /its runners are too old: they lack histories/],
    ['code without a name', { code: null, simulation: 'wing' }, /its runners execute another code/],
  ];
  for (const [name, wish, why] of OTHER_CODES)
    MISFITS.push([name, { demand: [group(wish)], settings: new Map([['main', EXECUTING_A]]) }, 'settings-refuse', why]);
  for (const [name, given, code, why] of MISFITS) {
    it(`submits nothing for runs whose ${name} fits no queue, and says why`, () => {
      const { queues, unserved } = wanted(input(given));
      expect(queues[0]?.submit).to.deep.equal([]);
      expect(queues[0]?.why[0]).to.match(why);
      expect(unserved.map((it) => [it.code, it.runs, it.batches])).to.deep.equal([[code, 10, ['b']]]);
      expect(unserved[0]?.message).to.match(why);
    });
  }

  it('does not count runners that refuse the runs', () => {
    const given = { demand: [group({ environment: ['WIND'] })] };
    const allowing = { ...ALLOWING_NONE, environment_allowed: ['WIND'] };
    const settings = new Map([['main', allowing]]);
    const of = (capabilities: RunnerCapabilities) => ({ otherRunners: [runner({ slots: 16, capabilities })] });
    expect(
      decided({ ...given, settings, ...of({ ...ALLOWING_NONE, max_concurrent_jobs: 16, cpu_cores: 16, memory_gb: 8 }) })
        .count,
    ).to.equal(3);
    expect(
      decided({ ...given, settings, ...of({ ...allowing, max_concurrent_jobs: 16, cpu_cores: 16, memory_gb: 8 }) })
        .count,
    ).to.equal(0);
  });

  it('submits one allocation for variables that a runner may refuse, while no runner of the queue has said what it allows', () => {
    const demand = [group({ environment: ['WIND', 'SIM_A'] })];
    expect(decided({ demand })).to.deep.equal({
      count: 1,
      why:
        '10 runs of rocket wait: submits 1 allocation for 4 runs each\n' +
        '10 runs of rocket wait: the others wait until that runner says whether it allows "WIND"',
    });
    expect(decided({ demand, allocations: [allocation('Starting')] })).to.deep.equal({
      count: 0,
      why: '10 runs of rocket wait: submits none until a runner of the queue says whether it allows "WIND"',
    });
    expect(decided({ demand: [group({ environment: ['SIM_A'] })] }).count).to.equal(3);
  });

  it('submits one allocation for a pinned code, until a runner of the queue has said which code it executes', () => {
    const demand = [group({ code: 'a'.repeat(64) })];
    expect(decided({ demand })).to.deep.equal({
      count: 1,
      why:
        '10 runs of rocket wait: submits 1 allocation for 4 runs each\n' +
        '10 runs of rocket wait: the others wait until that runner says whether it executes the code that the study pins',
    });
    expect(decided({ demand, settings: new Map([['main', EXECUTING_A]]) }).count).to.equal(3);
    expect(decided({ demand: [group({ code: null })] }).count, 'the first run says which').to.equal(3);
    const other = {
      ...EXECUTING_A,
      engines: [{ name: 'rocket', code: { kind: 'entrypoint' as const, digest: 'b'.repeat(64) } }],
    };
    const free = (it: RunnerSettings) => {
      const { engines = [], ...capabilities } = { ...it, max_concurrent_jobs: 16, cpu_cores: 16, memory_gb: 8 };
      return { otherRunners: [runner({ slots: 16, capabilities, engines: [...engines] })] };
    };
    const settings = new Map([['main', EXECUTING_A]]);
    expect(decided({ demand, settings, ...free(other) }).count, 'free runners with another code').to.equal(3);
    expect(decided({ demand, settings, ...free(EXECUTING_A) }).count).to.equal(0);
  });

  it('uses the next queue that fits for the rest', () => {
    const queues = [queue({ max: 1 }), queue({ name: 'wide', size: { cores: 16, memoryBytes: 0, gpus: 0 } })];
    const result = wanted(input({ queues })).queues;
    expect(result.map((it) => it.submit.length)).to.deep.equal([1, 1]);
    expect(result[1]?.why).to.deep.equal([
      '10 runs of rocket wait: 4 of them find room; submits 1 allocation for 16 runs each',
    ]);
  });

  it('lets a small group use the rest of an allocation that a large one needs', () => {
    const demand = [group({ runs: 2 }), group({ simulation: 'wing', runs: 2 })];
    expect(decided({ demand }).count).to.equal(1);
  });

  it('keeps the minimum without demand', () => {
    const { queues } = wanted(input({ demand: [], queues: [queue({ min: 2 })], allocations: [allocation('Busy')] }));
    expect(queues[0]?.submit).to.deep.equal([undefined]);
    expect(queues[0]?.why).to.deep.equal(['min is 2: submits 1 allocation to keep it']);
  });
});

/** Any demand, any state, any limits. */
const groups = fc.array(
  fc.record({
    simulation: fc.constantFrom('rocket', 'wing'),
    cpu_cores: fc.constantFrom(0, 0.5, 1, 3, 8),
    memory_gb: fc.constantFrom(0, 0.1, 1, 4),
    timeout_secs: fc.constantFrom(0, 60, 5_000),
    runs: fc.integer({ min: 1, max: 500 }),
    ageSecs: fc.integer({ min: 0, max: 100 }),
  }),
  { maxLength: 5 },
);
const names = ['main', 'wide'] as const;
const queues = fc.tuple(
  ...names.map((name) =>
    fc.record({
      name: fc.constant(name),
      max: fc.integer({ min: 0, max: 40 }),
      min: fc.integer({ min: 0, max: 3 }),
      maxQueued: fc.integer({ min: 1, max: 10 }),
      cores: fc.constantFrom(1, 4, 16),
      serves: fc.constantFrom(['*'], ['rocket']),
      lifetimeMs: fc.constantFrom(600_000, 7_200_000),
    }),
  ),
);
const states = fc.array(
  fc.record({
    value: fc.constantFrom(
      'Planned',
      'Submitting',
      'Queued',
      'Starting',
      'Idle',
      'Busy',
      'Draining',
      'Stopping',
      'Ended',
    ),
    queue: fc.constantFrom(...names, 'gone'),
    hours: fc.integer({ min: 0, max: 30 }),
  } as const),
  { maxLength: 60 },
);
const limit = fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined });

describe('launcher/decision/wanted: for any demand, state and limits', () => {
  it('stays within every limit, and submits only for runs that fit', () => {
    fc.assert(
      fc.property(groups, queues, states, limit, limit, limit, (demand, configs, live, most, hours, perDay) => {
        const configured = configs.map((it): QueueConfig =>
          queue({
            ...it,
            min: Math.min(it.min, it.max),
            size: { cores: it.cores, memoryBytes: 2 * 1024 ** 3, gpus: 0 },
          }),
        );
        const allocations = live.map((it) => {
          const ended = it.value === 'Ended' ? { startedAtMs: NOW - it.hours * 3_600_000, endedAtMs: NOW - 1 } : {};
          return allocation(it.value, { queue: it.queue, ...ended }, it.value === 'Idle' ? runner() : undefined);
        });
        const limits = { maxAllocations: most, maxCoreHours: hours, maxCoreHoursPerDay: perDay };
        const usage = usageOf(allocations, 0, NOW);
        const wants = demand.map(({ ageSecs, ...it }) =>
          group({ ...it, oldest_pending_at: new Date(NOW - ageSecs * 1_000).toISOString() }),
        );
        const result = wanted(input({ demand: wants, queues: configured, allocations, limits, usage }));
        const lives = (of: string) =>
          allocations.filter((it) => it.context.queue === of && it.value !== 'Ended').length;
        const waits = (of: string) =>
          allocations.filter(
            ({ value, context: c }) =>
              c.queue === of &&
              (/^(Planned|Submitting|Queued)$/.test(value) || (value === 'Stopping' && c.startingAtMs === undefined)),
          ).length;
        let [total, coreHours] = [0, 0];
        for (const [index, { submit, why }] of result.queues.entries()) {
          const config = configured[index] as QueueConfig;
          total += submit.length;
          coreHours += (submit.length * config.size.cores * config.lifetimeMs) / 3_600_000;
          expect(why).to.not.deep.equal([]);
          if (submit.length === 0) continue;
          expect(lives(config.name) + submit.length).to.be.at.most(config.max);
          expect(waits(config.name) + submit.length).to.be.at.most(config.maxQueued);
          for (const it of submit) if (it !== undefined) expect(misfitOf(config, it)).to.equal(undefined);
        }
        if (total === 0) return;
        expect(allocations.filter((it) => it.value !== 'Ended').length + total).to.be.at.most(most ?? Infinity);
        expect(usage.totalCoreMs / 3_600_000 + coreHours).to.be.at.most((hours ?? Infinity) + 1e-9);
        expect(usage.dayCoreMs / 3_600_000 + coreHours).to.be.at.most((perDay ?? Infinity) + 1e-9);
      }),
    );
  });

  it('asks for exactly the demand that free, starting and queued allocations leave', () => {
    const numbers = fc.tuple(...[200, 5, 5, 5].map((max) => fc.integer({ min: 0, max })));
    fc.assert(
      fc.property(numbers, fc.constantFrom(0.5, 1, 2, 4), ([runs, idle, starting, queued], cores) => {
        const one = group({ runs, cpu_cores: cores, memory_gb: 0 });
        const config = queue({ max: 1_000, maxQueued: 1_000 });
        const each = runsThatFit(requestedBy(one), wholeCapacity(config));
        const allocations = [
          ...Array.from({ length: idle as number }, () => allocation('Idle', {}, runner())),
          ...Array.from({ length: starting as number }, () => allocation('Starting')),
          ...Array.from({ length: queued as number }, () => allocation('Queued')),
        ];
        const demand = (runs as number) > 0 ? [one] : [];
        const { queues: made } = wanted(input({ demand, allocations, queues: [config] }));
        const expected = Math.max(0, Math.ceil((runs as number) / each) - allocations.length);
        expect(made[0]?.submit.length).to.equal(Math.min(expected, 100));
      }),
    );
  });
});
