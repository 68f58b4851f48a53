/** The Python client, in real processes: installed by pip into an environment of its own, and from its folder alone. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { newTelemetryToken } from '../../../src/runner/telemetry/access.ts';
import { cleanUp, start } from '../../runner/telemetry/support.ts';
import { behavesAsClient } from './behaviour.ts';
import { startCollector } from './collector.ts';
import { root, runProgram, SOME_RUN } from './program.ts';

const withRun = (text: string): string => `import simbatch\nrun = simbatch.run()\n${text}`;

const programs = {
  exact: withRun(`
run.telemetry({"tank.1": -2.5e-300}, timestamp_ns=1700000000123456789, altitude_m=0.1)
run.telemetry({"altitude_m": float("inf"), "tank.1": float("nan")}, timestamp_ns=-2**63)
run.telemetry(t=1.5, grüße=1/3)
run.result(done=True)`),
  flood: withRun(`
import os
for i in range(int(os.environ["SAMPLES"])):
    run.telemetry(t=i / 1000, a=i, b=-i)
run.close()
run.result(dropped=run.dropped_samples)`),
  live: withRun(`
import os, time
run.telemetry(t=0, a=1)
end = time.monotonic() + 60
while not os.path.exists(os.environ["FLAG"]) and time.monotonic() < end:
    sum(range(1000))
run.result(live=os.path.exists(os.environ["FLAG"]))`),
  wrong: withRun(`
run.telemetry(t=0, bad="text")
run.telemetry(t=float("nan"), bad=1)
run.telemetry(timestamp_ns=2**63, bad=1)
run.telemetry(t=1, good=1)
run.result(done=True)`),
  dies: withRun(`
run.telemetry(t=0, a=1)
raise RuntimeError("wing lost")`),
  results: withRun(`
run.result(a=1, b=float("nan"))
run.result({"b": 2}, list=(1, float("nan")))`),
  histories: withRun(`
run.result(a=1)
run.history("z", [1, None, float("nan")])
run.history("w", (2,))
run.result(b=2)`),
  reads: withRun('print(run.run_id, run.parameters["cd"], run.output_dir.name, run.random_seed)'),
  misspelt: withRun('run.parameters["cdd"]'),
  defaults: `import simbatch
run = simbatch.run(defaults={"cd": 0.5, "area_m2": 2})
print(f'{run.parameters["cd"]:g} {run.parameters["area_m2"]:g}')`,
};

/** Says why a test cannot be here; where everything is demanded, that is a failure. */
function missing(what: string): undefined {
  if (process.env.SIMBATCH_REQUIRE_ALL === '1') throw new Error(`${what} is needed`);
  return undefined;
}

const works = (command: string, args: string[], cwd?: string): boolean =>
  spawnSync(command, args, { encoding: 'utf8', timeout: 120_000, ...(cwd !== undefined && { cwd }) }).status === 0;

describe('the Python client', function () {
  let directory = '';
  let python: string | undefined;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'simbatch-python-'));
    if (!works('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'])) return missing('Python >= 3.9');
    // A copy: an installation from the folder itself would leave its traces there.
    cpSync(`${root}clients/python`, join(directory, 'package'), { recursive: true });
    const own = join(directory, 'venv', 'bin', 'python');
    const installed =
      works('python3', ['-m', 'venv', join(directory, 'venv')]) &&
      works(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', './package'], directory);
    if (!installed) return missing('pip');
    python = own;
    return undefined;
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  let count = 0;
  const written = (program: string): string => {
    const path = join(directory, `simulation_${String((count += 1))}.py`);
    writeFileSync(path, program);
    return path;
  };

  behavesAsClient(() => {
    const found = python;
    return found === undefined ? undefined : (program) => [found, written(program)];
  }, programs);

  it('needs no installed package for telemetry', async function () {
    if (!works('python3', ['--version'])) this.skip();
    const collector = await startCollector();
    try {
      // -S: no installed packages.
      const ended = await runProgram({
        command: ['python3', '-S', written(programs.exact)],
        config: SOME_RUN,
        telemetryUrl: collector.url,
        env: { PYTHONPATH: `${root}clients/python` },
      });
      expect(ended).to.deep.include({ code: 0, stderr: '', metadata: { done: true } });
      expect(collector.samples).to.have.length(3);
    } finally {
      collector.close();
    }
  });

  it('grpcio, a client of other authors, is understood: with the token, and refused with another', async function () {
    if (!works('python3', ['-c', 'import grpc'])) {
      missing('grpcio');
      return this.skip();
    }
    const token = newTelemetryToken(systemClock);
    const { telemetry } = await start({ token, isOwnPeer: async () => false });
    try {
      const program = `
import os, grpc
from simbatch import _wire
batch = _wire.encode_sample(7, {"a": 1.5}) * 3 + _wire.encode_lost(2)
with grpc.insecure_channel(os.environ["SVC_TELEMETRY_URL"]) as channel:
    send = channel.stream_unary("/svc.telemetry.v1.Telemetry/StreamBatch")
    print(send(iter([batch]), metadata=[("authorization", "Bearer " + os.environ["SVC_TELEMETRY_TOKEN"])]).hex())
    try:
        send(iter([batch]), metadata=[("authorization", "Bearer another")])
    except grpc.RpcError as error:
        print(error.code().name)`;
      const ended = await runProgram({
        command: ['python3', written(program)],
        telemetryUrl: telemetry.url,
        telemetryToken: token,
        env: { PYTHONPATH: `${root}clients/python` },
      });
      expect(ended).to.include({ code: 0, stdout: '0803\nUNAUTHENTICATED\n' });
      expect(await telemetry.close()).to.include({ accepted: 3, lost: 2, refused: 1 });
    } finally {
      await cleanUp();
    }
  });

  it('forked workers send nothing, break nothing and end', async function () {
    if (python === undefined) this.skip();
    const collector = await startCollector();
    try {
      const program = withRun(`
import multiprocessing
def work(i):
    run.telemetry(t=i, child=i)
    return i * i
run.telemetry(t=0, parent=1)
with multiprocessing.get_context("fork").Pool(2) as pool:
    run.result(squares=pool.map(work, range(4)))
run.telemetry(t=1, parent=2)`);
      const ended = await runProgram({
        command: [python, written(program)],
        config: SOME_RUN,
        telemetryUrl: collector.url,
      });
      expect(ended).to.deep.include({ code: 0, metadata: { squares: [0, 1, 4, 9] } });
      expect(collector.samples.map(({ values }) => values)).to.deep.equal([{ parent: 1 }, { parent: 2 }]);
      expect(ended.stderr).to.match(/^(simbatch: telemetry of a forked process is not sent; .*\n)+$/);
    } finally {
      collector.close();
    }
  });
});
