/** Contract tests of both client libraries: each language has the same small programs. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { startCollector, startStranger } from './collector.ts';
import { runProgram, SOME_RUN, type Ended, type Order } from './program.ts';

/** The programs; each runs as an order of its own. */
export interface Programs {
  /** Sends the three samples of EXACT, writes {"done": true} and ends. */
  exact: string;
  /** Sends SAMPLES samples {t: i ms, a: i, b: -i} as fast as it can, then writes {"dropped": n}. */
  flood: string;
  /** Sends one sample, then computes without a pause until the file FLAG exists; writes {"live": whether it appeared}. */
  live: string;
  /** Sends samples that cannot be sent (a text, a NaN time, a time outside int64), then a good one; writes {"done": true}. */
  wrong: string;
  /** Sends one sample and dies of an exception. */
  dies: string;
  /** Writes results twice: {a: 1, b: NaN}, then {b: 2, list: [1, null]}. */
  results: string;
  /** Writes the result {a: 1}, the history z of 1, missing and NaN, the history w of 2, and the result {b: 2}. */
  histories: string;
  /** Prints run id, cd, output directory's last name, and the random seed, separated by blanks. */
  reads: string;
  /** Reads parameter `cdd`, which there is not. */
  misspelt: string;
  /** Opens the run with defaults {cd: 0.5, area_m2: 2} and prints cd and area_m2. */
  defaults: string;
}

export const EXACT = [
  { timestamp_ns: '1700000000123456789', values: { altitude_m: 0.1, 'tank.1': -2.5e-300 } },
  { timestamp_ns: '-9223372036854775808', values: { altitude_m: Number.POSITIVE_INFINITY, 'tank.1': Number.NaN } },
  { timestamp_ns: '1500000000', values: { grüße: 1 / 3 } },
];

/** @param ready resolves to how a program is started, or undefined when the language is not here (the test is skipped). */
export function behavesAsClient(ready: () => ((program: string) => string[]) | undefined, programs: Programs): void {
  let start: (program: string) => string[] = () => [];
  before(function () {
    const found = ready();
    if (found === undefined) this.skip();
    start = found;
  });
  const run = (program: keyof Programs, order: Omit<Order, 'command'> = {}): Promise<Ended> =>
    runProgram({ config: SOME_RUN, ...order, command: start(programs[program]) });

  it('delivers every sample with exact nanoseconds and equal values, also when it ends at once', async () => {
    const collector = await startCollector();
    try {
      const ended = await run('exact', { telemetryUrl: collector.url });
      expect(ended).to.deep.include({ code: 0, stderr: '', metadata: { done: true } });
      expect(collector.samples).to.deep.equal(EXACT);
      expect(collector.finished).to.equal(1);
    } finally {
      collector.close();
    }
  });

  it('takes an address with a scheme', async () => {
    const collector = await startCollector();
    try {
      expect(await run('exact', { telemetryUrl: `http://${collector.url}/` })).to.include({ code: 0, stderr: '' });
      expect(collector.samples).to.have.length(3);
    } finally {
      collector.close();
    }
  });

  it('delivers while the simulation computes without a pause', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'simbatch-flag-'));
    const flag = join(directory, 'flag');
    const collector = await startCollector({ onSample: () => existsSync(flag) || writeFileSync(flag, '') });
    try {
      const ended = await run('live', { telemetryUrl: collector.url, env: { FLAG: flag } });
      expect(ended).to.deep.include({ code: 0, metadata: { live: true } });
    } finally {
      collector.close();
      rmSync(directory, { recursive: true });
    }
  });

  it('a tight loop of 400,000 samples loses none', async () => {
    const collector = await startCollector();
    try {
      const ended = await run('flood', { telemetryUrl: collector.url, env: { SAMPLES: '400000' } });
      expect(ended).to.deep.include({ code: 0, stderr: '', metadata: { dropped: 0 } });
      expect([collector.samples.length, collector.lost, collector.finished]).to.deep.equal([400_000, 0, 1]);
      for (const [index, { timestamp_ns: time, values }] of collector.samples.entries()) {
        if (values.a !== index || values.b !== -index || BigInt(time) !== BigInt(index) * 1_000_000n)
          expect.fail(`wrong sample ${String(index)} at ${time}`);
      }
    } finally {
      collector.close();
    }
  });

  it('waits for a runner that reads slowly, at the end of the program too, and loses nothing', async () => {
    const collector = await startCollector({ reading: 'slowly' });
    try {
      const ended = await run('flood', { telemetryUrl: collector.url, env: { SAMPLES: '30000' } });
      expect(ended).to.deep.include({ code: 0, stderr: '', metadata: { dropped: 0 } });
      expect([collector.samples.length, collector.finished]).to.deep.equal([30_000, 1]);
    } finally {
      collector.close();
    }
  });

  it('authenticates itself with SVC_TELEMETRY_TOKEN', async () => {
    const collector = await startCollector();
    try {
      await run('exact', { telemetryUrl: collector.url, telemetryToken: 'c2VjcmV0_-' });
      await run('exact', { telemetryUrl: collector.url });
      expect(collector.authorizations).to.deep.equal(['Bearer c2VjcmV0_-', '']);
    } finally {
      collector.close();
    }
  });

  it('says why the runner refuses a stream', async () => {
    const details = 'SVC_TELEMETRY_TOKEN: not the token of this run (100 %)';
    const collector = await startCollector({ refuse: { code: status.UNAUTHENTICATED, details } });
    try {
      const ended = await run('exact', { telemetryUrl: collector.url });
      expect(ended.code).to.equal(0);
      expect(ended.stderr).to.match(
        /^simbatch: .*lost \(SVC_TELEMETRY_TOKEN: not the token of this run \(100 %\)\)\n$/,
      );
    } finally {
      collector.close();
    }
  });

  it('passes over samples that cannot be sent', async () => {
    const collector = await startCollector();
    try {
      const ended = await run('wrong', { telemetryUrl: collector.url });
      expect(ended).to.deep.include({ code: 0, metadata: { done: true } });
      expect(collector.samples).to.deep.equal([{ timestamp_ns: '1000000000', values: { good: 1 } }]);
      expect(ended.stderr).to.contain('3 telemetry samples were lost');
      expect(collector.lost).to.equal(3);
    } finally {
      collector.close();
    }
  });

  it('reports the samples that the runner refused', async () => {
    const collector = await startCollector({ ack: { refused: 2, detail: 'too many values' } });
    try {
      const ended = await run('exact', { telemetryUrl: collector.url });
      expect(ended.code).to.equal(0);
      expect(ended.stderr).to.equal('simbatch: 2 telemetry samples were lost (too many values)\n');
    } finally {
      collector.close();
    }
  });

  it('sends what waits when the simulation dies of an exception, and leaves its exit code alone', async () => {
    const collector = await startCollector();
    try {
      const ended = await run('dies', { telemetryUrl: collector.url });
      expect(ended.code).to.equal(1);
      expect(ended.stderr).to.contain('wing lost');
      expect(collector.samples).to.have.length(1);
    } finally {
      collector.close();
    }
  });

  describe('without a runner that reads, the simulation runs and ends as if nothing were', () => {
    const ends: [string, () => Promise<{ url: string; close: () => void }>][] = [
      ['a port without a listener', async () => ({ url: '127.0.0.1:9', close: () => undefined })],
      ['an address that cannot be read', async () => ({ url: 'nonsense:port:9', close: () => undefined })],
      ['a server that says nothing', () => startStranger()],
      ['a server that speaks another protocol', () => startStranger('HTTP/1.1 400 Bad Request\r\n\r\n')],
      ['a runner that takes the stream and never reads it', () => startCollector({ reading: 'nothing' })],
    ];
    for (const [name, open] of ends) {
      it(name, async () => {
        const end = await open();
        try {
          const ended = await run('exact', { telemetryUrl: end.url });
          expect(ended).to.deep.include({ code: 0, metadata: { done: true } });
          expect(ended.stderr).to.match(/^simbatch: .*(were lost|telemetry is off).*\n$/);
        } finally {
          end.close();
        }
      });
    }

    it('a flood against a runner that never reads: one wait of 10 s, then losses that are counted', async () => {
      const collector = await startCollector({ reading: 'nothing' });
      try {
        const ended = await run('flood', { telemetryUrl: collector.url, env: { SAMPLES: '1000000' } });
        expect(ended.code).to.equal(0);
        expect(ended.metadata?.dropped).to.be.greaterThan(500_000);
        expect(ended.stderr).to.contain(`${String(ended.metadata?.dropped)} telemetry samples were lost`);
      } finally {
        collector.close();
      }
    });

    it('no SVC_TELEMETRY_URL: nothing is sent and nothing is said', async () => {
      expect(await run('exact')).to.deep.include({ code: 0, stderr: '', metadata: { done: true } });
    });
  });

  it('writes histories beside results; a missing value becomes null', async () => {
    const ended = await run('histories');
    expect(ended).to.include({ code: 0, stderr: '' });
    expect(ended.metadata).to.deep.equal({ a: 1, histories: { z: [1, null, null], w: [2] }, b: 2 });
  });

  it('merges results into metadata.json; NaN becomes null', async () => {
    const ended = await run('results');
    expect(ended).to.deep.include({ code: 0, metadata: { a: 1, b: 2, list: [1, null] } });
  });

  it('reads run id, parameters and directory; the random seed is that of run and study', async () => {
    expect(await run('reads')).to.include({ code: 0, stdout: '7 0.45 output 251421108217009\n' });
    const huge = JSON.stringify(SOME_RUN).replace('20260301}', '9223372036854775807}');
    expect(huge).to.contain('9223372036854775807');
    expect(await run('reads', { config: huge })).to.include({ code: 0, stdout: '7 0.45 output 122053839305392\n' });
  });

  const faults: [string, keyof Programs, Omit<Order, 'command'>, RegExp][] = [
    ['no run configuration', 'reads', { config: undefined }, /SVC_RUN_CONFIG is not set.*run-one.*defaults/],
    [
      'a file that is not there',
      'reads',
      { config: undefined, env: { SVC_RUN_CONFIG: '/nowhere.json' } },
      /\/nowhere\.json.*cannot be read/,
    ],
    ['a file that is not JSON', 'reads', { config: '{"run_id": ' }, /run\.json.*cannot be read/],
    ['a list', 'reads', { config: [] }, /a run configuration is a JSON object/],
    ['no run id', 'reads', { config: { parameters: {} } }, /run_id must be an integer/],
    [
      'a parameter that is text',
      'reads',
      { config: { run_id: 0, parameters: { cd: '1' } } },
      /parameter cd must be a number/,
    ],
    ['a parameter that is not there', 'misspelt', {}, /no parameter '?cdd'?.*it has: cd, mass_kg/],
    [
      'a dispersion that the simulation does not know',
      'defaults',
      {},
      /mass_kg'?, which this simulation does not know/,
    ],
  ];
  for (const [name, program, order, message] of faults) {
    it(`a clear error: ${name}`, async () => {
      const ended = await run(program, order);
      expect(ended.code).to.equal(1);
      expect(ended.stderr).to.match(message);
    });
  }

  it('defaults fill in what the study does not disperse, and serve alone by hand', async () => {
    const dispersed = { ...SOME_RUN, parameters: { cd: 0.45 } };
    expect(await run('defaults', { config: dispersed })).to.include({ code: 0, stdout: '0.45 2\n' });
    expect(await run('defaults', { config: undefined })).to.include({ code: 0, stdout: '0.5 2\n' });
  });
}
