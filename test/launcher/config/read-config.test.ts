/** Tests of launcher.yaml: the defaults, the example, and a fault with its place for each mistake. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { packageRoot } from '../../../src/base/package.ts';
import { readLauncherConfig } from '../../../src/launcher/config/read-config.ts';
import type { LauncherConfig } from '../../../src/launcher/settings.ts';

const QUEUE = { engine: 'slurm', size: { cores: 4 }, lifetime: '1h', max: 2 };

function configOf(value: unknown, endpoint?: string): LauncherConfig {
  const read = readLauncherConfig(value, endpoint);
  if (!('config' in read)) throw new Error(JSON.stringify(read.faults));
  return read.config;
}

const faultsOf = (value: unknown, endpoint?: string): string[] =>
  readLauncherConfig(value, endpoint).faults.map(({ pointer, detail }) => `${pointer} ${detail}`);

describe('launcher/config/read-config', () => {
  it('fills in the defaults', () => {
    expect(configOf({ queues: { main: QUEUE } })).to.deep.equal({
      launcher: 'simbatch',
      endpoint: 'http://127.0.0.1:7070',
      runnerEndpoint: 'http://127.0.0.1:7070',
      pollMs: 5_000,
      limits: { maxAllocations: undefined, maxCoreHours: undefined, maxCoreHoursPerDay: undefined },
      queues: [
        {
          name: 'main',
          engine: 'slurm',
          serves: ['*'],
          size: { cores: 4, memoryBytes: 0, gpus: 0 },
          lifetimeMs: 3_600_000,
          lifetimeMarginMs: 120_000,
          min: 0,
          max: 2,
          maxQueued: 2,
          idleTimeoutMs: 300_000,
          startTimeoutMs: 600_000,
          queueTimeoutMs: undefined,
          drainTimeoutMs: undefined,
          scaleUpAfterMs: 0,
          backoff: { firstMs: 30_000, maxMs: 600_000, pauseAfter: 5 },
          runner: { program: undefined, args: [], environment: {}, slots: undefined },
          section: {},
        },
      ],
    });
  });

  it('reads the example', () => {
    const config = configOf(parse(readFileSync(join(packageRoot, 'examples', 'launcher.yaml'), 'utf8')));
    expect(config.queues.map((it) => [it.name, it.lifetimeMs, it.size.memoryBytes, it.queueTimeoutMs])).to.deep.equal([
      ['short', 3_600_000, 16 * 1024 ** 3, undefined],
      ['long', 86_400_000, 128 * 1024 ** 3, 43_200_000],
    ]);
    expect(config.limits).to.deep.equal({ maxAllocations: 40, maxCoreHours: undefined, maxCoreHoursPerDay: 2_000 });
  });

  it('prefers the endpoint of the command line, for the launcher and its runners', () => {
    const file = { endpoint: 'http://a:1', queues: { main: QUEUE } };
    expect(configOf(file)).to.include({ endpoint: 'http://a:1', runnerEndpoint: 'http://a:1' });
    expect(configOf(file, 'http://b:2')).to.include({ endpoint: 'http://b:2', runnerEndpoint: 'http://b:2' });
    expect(configOf({ ...file, runner_endpoint: 'http://c:3' }, 'http://b:2').runnerEndpoint).to.equal('http://c:3');
  });

  const FAULTS: [string, unknown, RegExp][] = [
    ['no queue', { queues: {} }, /^\/queues /],
    ['an unknown member', { queues: { main: { ...QUEUE, maxx: 3 } } }, /^\/queues\/main\/maxx is not known here.*max/],
    ['an unknown engine', { queues: { main: { ...QUEUE, engine: 'pbs' } } }, /^\/queues\/main\/engine .*slurm/],
    ['a name that engines do not take', { queues: { 'Main Q': QUEUE } }, /^\/queues/],
    [
      'a lifetime without a unit that exists',
      { queues: { main: { ...QUEUE, lifetime: '2w' } } },
      /lifetime is "2w" and must be a time/,
    ],
    ['a lifetime of seconds', { queues: { main: { ...QUEUE, lifetime: 30 } } }, /lifetime must be from 1m to 366d/],
    [
      'a margin as long as the lifetime',
      { queues: { main: { ...QUEUE, lifetime: '2m' } } },
      /lifetime_margin is 2m and must be shorter/,
    ],
    [
      'memory without sense',
      { queues: { main: { ...QUEUE, size: { cores: 1, memory: '8 apples' } } } },
      /size\/memory "8 apples"/,
    ],
    ['min above max', { queues: { main: { ...QUEUE, min: 3 } } }, /min is 3 and must not be above max, which is 2/],
    [
      'a short first delay',
      { queues: { main: { ...QUEUE, backoff: { first: 0 } } } },
      /backoff\/first must be at least 1s/,
    ],
    [
      'a longest delay below the first',
      { queues: { main: { ...QUEUE, backoff: { max: '1s' } } } },
      /backoff\/max must not be shorter/,
    ],
    [
      'an argument of the launcher',
      { queues: { main: { ...QUEUE, runner: { args: ['--ends-at=x'] } } } },
      /args\/0 --ends-at is given by the launcher/,
    ],
    [
      'a token for all',
      { queues: { main: { ...QUEUE, runner: { environment: { SVC_TOKEN: 'x' } } } } },
      /environment\/SVC_TOKEN is given/,
    ],
    [
      'a section of another engine',
      { queues: { main: { ...QUEUE, ssh: { hosts: [{ host: 'a' }] } } } },
      /^\/queues\/main\/ssh belongs to the engine ssh/,
    ],
    [
      'an option that the launcher sets',
      { queues: { main: { ...QUEUE, slurm: { extra: ['--array=1'] } } } },
      /slurm\/extra\/0 --array is set/,
    ],
    [
      'GPUs among the other resources',
      { queues: { main: { ...QUEUE, size: { cores: 1, resources: { gpu: 1 } } } } },
      /size\/resources\/gpu is stated as size\.gpu; move it there/,
    ],
    [
      'an amount of none',
      { queues: { main: { ...QUEUE, size: { cores: 1, resources: { comsol: 0 } } } } },
      /resources\/comsol/,
    ],
    [
      'a resource without the place of its amount',
      { queues: { main: { ...QUEUE, slurm: { per_unit: { comsol: '--licenses=comsol' } } } } },
      /per_unit\/comsol must have \{n\}/,
    ],
    ['an address with a password', { endpoint: 'http://a:b@c', queues: { main: QUEUE } }, /^\/endpoint must not carry/],
  ];
  for (const [name, value, expected] of FAULTS) {
    it(`refuses ${name}`, () => {
      const faults = faultsOf(value);
      expect(faults).to.not.deep.equal([]);
      expect(
        faults.some((it) => expected.test(it)),
        faults.join('\n'),
      ).to.equal(true);
    });
  }
});
