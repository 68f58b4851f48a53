/** Runs on machines that have neither cgroups nor `/proc`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { ONLY_COLD } from '../../../src/runner/launch/launchers.ts';
import { runLocally } from '../../../src/runner/local-run.ts';
import { silentLog } from '../../../src/runner/log.ts';
import { ProcessTable } from '../../../src/runner/processes/proc-fs.ts';
import { openProcessTools } from '../../../src/runner/processes/process-tools.ts';
import { Waits } from '../../../src/runner/waits.ts';
import { SIMULATION } from '../../support/runner-process.ts';

describe('runner: without /proc', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-processes-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const execute = (processes: ReturnType<typeof openProcessTools>, BEHAVE: string, timeoutSecs = 0) =>
    runLocally(
      {
        clock: systemClock,
        log: silentLog,
        waits: new Waits(systemClock),
        processes,
        launchers: ONLY_COLD,
        python: undefined,
        env: { PATH: process.env['PATH'] ?? '', BEHAVE },
        environmentAllowed: [],
        workingDirectory: folder,
      },
      {
        runConfig: {
          run_id: 0,
          parameters: { mass: 1 },
          metadata: {
            simulation_name: 'test',
            simulation_version: '1',
            duration_minutes: 1,
            sampling_method: 'monte_carlo',
            generated_at: new Date(0).toISOString(),
            seed: 1,
          },
        },
        engine: { name: '*', entrypoint: SIMULATION },
        study: {
          compute: {
            container: { image: 'none', cpu_request: '1', memory_request: '1Gi' },
            max_parallel_jobs: 0,
            job_timeout_seconds: timeoutSecs,
          },
          early_termination: { enabled: false, check_frequency_hz: 1, conditions: [] },
          telemetry: {
            sampling_rate_hz: 0,
            variables: [],
            storage: { s3_bucket: '', s3_prefix: '', compression: 'none' },
            buffer_flush_interval_seconds: 1,
          },
        },
        directory: join(folder, BEHAVE),
      },
      new AbortController().signal,
    );

  it('executes and ends runs without /proc and without cgroups, and says at the start what is missing', async () => {
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (text: string) => void warnings.push(text) };
    const tools = openProcessTools('off', folder, log, new ProcessTable(join(folder, 'no-proc')));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/^runs have no cgroup: .*; \/proc is missing too: .* leaves its simulations running$/);
    expect(await execute(tools, 'succeed')).to.include({ type: 'complete' });
    expect(await execute(tools, 'leaver')).to.include({ type: 'complete' });
    expect(await execute(tools, 'hang', 1)).to.include({ type: 'fail', reason: 'timeout' });
    expect(await execute(tools, 'family', 1)).to.include({ type: 'fail', reason: 'timeout' });
  });
});
