/** The live telemetry of real runs, read through a real coordinator while they run. */
import { expect } from 'chai';
import { join } from 'node:path';
import { ApiError, type Job, type LiveTelemetry } from '../../../../src/client/client.ts';
import { packageRoot } from '../../../../src/base/package.ts';
import { Pool } from '../../../support/pool.ts';
import { MODES, type RunnerMode } from '../../../support/runner-modes.ts';

const PROTO = join(packageRoot, 'clients/telemetry.proto');
const LIVE = {
  telemetry: { live: true },
  early_termination: {
    enabled: true,
    check_frequency_hz: 100,
    conditions: [{ variable: 'altitude', condition: '< -1000000', description: 'far below ground' }],
  },
};

describe('runner/files: live telemetry of running runs', function () {
  let pool: Pool;
  beforeEach(async () => {
    pool = await Pool.open();
  });
  afterEach(() => pool.close());

  const start = ({ args }: Pick<RunnerMode, 'args'>, serves = true) =>
    pool.site.start(pool.url, [...(serves ? ['--serve-files'] : []), ...args]);
  const running = async (config: object = LIVE): Promise<Job> =>
    await pool.until(await pool.submit('dive', { PROTO }, { config }), ['Running']);
  const refusal = async (job: Job): Promise<ApiError> => {
    const found = await pool.client.files.liveTelemetry(job.id).catch((error: unknown) => error);
    if (!(found instanceof ApiError)) throw new Error('not refused');
    return found;
  };
  /** Asks until the view has at least so many samples. */
  async function withSamples(job: Job, least: number): Promise<LiveTelemetry> {
    for (;;) {
      const found = await pool.client.files.liveTelemetry(job.id).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'live-telemetry-unavailable') return undefined;
        throw error;
      });
      if ((found?.samples ?? 0) >= least) return found!;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  for (const mode of MODES) {
    it(`grows while the run continues, and names its condition (${mode.name})`, async function () {
      if (mode.missing !== undefined) return this.skip();
      start(mode);
      const job = await running();
      const first = await withSamples(job, 5);
      const later = await withSamples(job, first.samples + 20);
      expect(later).to.include({ job_id: job.id, attempt: 1, runner_id: 'r1', lost: 0, refused: 0, shadow: false });
      expect(later.conditions).to.deep.equal([
        { variable: 'altitude', condition: '< -1000000', threshold: -1_000_000 },
      ]);
      const [altitude, speed] = ['altitude', 'speed'].map((name) => later.variables.find((it) => it.name === name)!);
      expect(altitude!.values[0]).to.equal(99);
      expect(altitude!.values).to.deep.equal(speed!.values.map((it) => 100 - it));
      expect(altitude!.time_s).to.deep.equal(speed!.values.map((it) => it / 100));
      await pool.client.cancelJob(job.id);
    });
  }

  it('shows the first hit of a condition in shadow while the run continues', async () => {
    start({ args: [] });
    const condition = { variable: 'altitude', condition: '< 90', description: 'low' };
    const job = await running({ ...LIVE, early_termination: { enabled: true, shadow: true, conditions: [condition] } });
    const found = await withSamples(job, 20);
    expect([found.shadow, found.hit]).to.deep.equal([true, { ...condition, value: 89, time_s: 0.11 }]);
  });

  it('names the reason where there is none: study, runner, end of the run', async () => {
    const silent = start({ args: [] }, false);
    const job = await running();
    const unserved = await refusal(job);
    expect([unserved.status, unserved.code]).to.deep.equal([409, 'live-telemetry-unavailable']);
    expect(unserved.message).to.include('start it with --serve-files');
    await pool.client.cancelJob(job.id);
    await silent.end('SIGTERM');
    start({ args: [] });
    const off = await refusal(await running({}));
    expect([off.status, off.code]).to.deep.equal([409, 'live-telemetry-off']);
    const ending = {
      ...LIVE.early_termination,
      conditions: [{ variable: 'altitude', condition: '< 50', description: '' }],
    };
    const failed = await pool.until(
      await pool.submit('dive', { PROTO }, { config: { ...LIVE, early_termination: ending } }),
      ['Failed'],
    );
    const over = await refusal(failed);
    expect([over.status, over.code]).to.deep.equal([409, 'run-not-running']);
    expect(over.message).to.match(/is Failed: its telemetry is in ".*telemetry\.parquet"; read \/jobs\//);
  });

  it('says that a runner does not answer when it was killed', async () => {
    const runner = start({ args: [] });
    const job = await running();
    await withSamples(job, 1);
    await runner.end('SIGKILL');
    // The answer of a moment ago may still be shared.
    while (await pool.client.files.liveTelemetry(job.id).then(Boolean, () => false));
    const error = await refusal(job);
    expect(error.code).to.equal('live-telemetry-unavailable');
    expect(error.message).to.include('does not serve files, or has lost its connection');
  });
});
