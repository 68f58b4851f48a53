/** A coordinator with studies in every state, scripted runners and a real one: what the pictures of the dashboard show. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/base/package.ts';
import type { BatchSubmission, Uuid } from '../../src/contract/types.ts';
import { descent, descentStudy, scriptedRunner, startWeb, type WebServer } from '../../test/support/web-server.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export interface DashboardScene {
  web: WebServer;
  /** Over, with failures of three kinds and a met requirement. */
  done: Uuid;
  /** Runs, with an open requirement. */
  running: Uuid;
  /** Waits for a runner that is large enough. */
  blocked: Uuid;
  /** Cancelled half-way. */
  cancelled: Uuid;
  /** The sounding rocket, executed by a real runner. */
  rocket: Uuid;
  failedRun: Uuid;
  /** A run of the rocket that a limit ended. */
  endedRun: Uuid;
  close(): Promise<void>;
}

const REQUIREMENTS: BatchSubmission['requirements'] = [
  { name: 'lands in the area', output: 'miss_distance', condition: '<= 25', probability: 0.9, confidence: 0.95 },
  { name: 'soft touchdown', output: 'touchdown_speed', condition: '< 8.5', probability: 0.975, confidence: 0.9 },
];
const OUTPUTS: BatchSubmission['outputs'] = {
  miss_distance: { units: 'm', description: 'distance from the target' },
  peak_heat_rate: { units: 'kW/m²' },
  touchdown_speed: { units: 'm/s' },
};

/** `rocketRuns`: the runs of the study that a real runner executes. */
export async function dashboardScene({ rocketRuns = 60 } = {}): Promise<DashboardScene> {
  const web = await startWeb();
  const { coordinator } = web;
  const settled = async (id: Uuid): Promise<void> => {
    for (;;) {
      const { status } = (await coordinator.batch(id)).batch;
      if (status !== 'Pending' && status !== 'Running') return;
      await pause(100);
    }
  };
  const real = realRunner(web);
  const rocketStudy = parse(
    await readFile(join(packageRoot, 'examples/sounding-rocket/study.yaml'), 'utf8'),
  ) as BatchSubmission;
  // Low enough that some runs meet it.
  rocketStudy.config.early_termination.conditions[0]!.condition = '> 120000';
  rocketStudy.outputs = {
    ...rocketStudy.outputs,
    max_dynamic_pressure_pa: { units: 'Pa', censored: 'dynamic_pressure_pa' },
  };
  const rocket = (await coordinator.submit({ ...rocketStudy, runs_override: rocketRuns })).batch_id;
  await settled(rocket);
  const lab = { outcome: descent, tags: ['lab'] };
  const runners = [
    await scriptedRunner(coordinator, { id: 'lab-07', places: 8, runMs: 60, ...lab }),
    await scriptedRunner(coordinator, { id: 'lab-08', places: 16, runMs: 90, ...lab }),
    await scriptedRunner(coordinator, { id: 'ws-anna', name: 'Anna, desk', places: 4, runMs: 90, outcome: descent }),
  ];
  const gone = await scriptedRunner(coordinator, { id: 'ws-ben', places: 4, runMs: 90, outcome: descent });
  const labels = { campaign: '2026-q4', vehicle: 'descent-2' };
  const study = (name: string, runs: number): BatchSubmission => {
    const made = descentStudy(name, runs);
    // The scripted runners report no telemetry: a limit would be a finding on every picture.
    made.config.early_termination = { ...made.config.early_termination, enabled: false };
    made.config.telemetry.variables = [];
    return { ...made, requirements: REQUIREMENTS, outputs: OUTPUTS, labels };
  };
  const done = (await coordinator.submit(study('descent, baseline', 2_000))).batch_id;
  await settled(done);
  const cancelled = (await coordinator.submit(study('descent, old chute', 4_000))).batch_id;
  await pause(3_000);
  await coordinator.cancelBatch(cancelled, 'the chute model is wrong');
  await coordinator.drain('ws-anna', 'memory being replaced');
  await gone.stop();
  await coordinator.signOff('ws-ben', { instance: 'script-ws-ben' });
  const running = (await coordinator.submit(study('descent, stronger gusts', 20_000))).batch_id;
  const large = { container: { image: 'none', cpu_request: '64', memory_request: '1Gi' } };
  const blocked = (await coordinator.submit(descentStudy('chute variant C', 60, large))).batch_id;
  const failedOf = async (batchId: Uuid): Promise<Uuid> => {
    let failed = '';
    for await (const chunk of (await coordinator.jobs({ batch_id: [batchId], status: ['Failed'] })).chunks)
      failed ||= chunk[0]?.id ?? '';
    return failed;
  };
  await pause(4_000);
  return {
    web,
    done,
    running,
    blocked,
    cancelled,
    rocket,
    failedRun: await failedOf(done),
    endedRun: await failedOf(rocket),
    async close() {
      real.kill('SIGKILL');
      for (const runner of runners) await runner.stop();
      await web.close();
    },
  };
}

/** A runner process that executes the sounding rocket. */
function realRunner({ url, folder }: WebServer): ChildProcess {
  const program = join(packageRoot, 'dist/bin/simbatch.js');
  return spawn(
    process.execPath,
    [program, 'runner', '--endpoint', url, '--runner-id', 'bench-1', '--max-concurrent-jobs', '2', '--serve-files'],
    {
      stdio: 'ignore',
      cwd: folder,
      env: {
        ...process.env,
        SVC_RUNNER_ENGINES: 'sounding-rocket',
        SVC_RUNNER_SOUNDING_ROCKET_ENTRYPOINT: join(packageRoot, 'examples/sounding-rocket/simulation.mjs'),
      },
    },
  );
}
