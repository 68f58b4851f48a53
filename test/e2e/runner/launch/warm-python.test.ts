/** A warm Python: what it imports ahead, what it leaves to the runs, and when it is replaced, refused or lost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { systemClock } from '../../../../src/base/clock.ts';
import type { Clock } from '../../../../src/base/clock.ts';
import type { Engine } from '../../../../src/runner/config/config.ts';
import { SCRIPT } from '../../../../src/runner/launch/warm-python.ts';
import type { Launchers } from '../../../../src/runner/launch/launchers.ts';
import { ExecutionBench } from '../../../support/executed.ts';
import type { Executed } from '../../../support/executed.ts';
import { lives } from '../../../support/runner-process.ts';
import { pythonFault } from '../../../support/runner-modes.ts';

describe('runner/launch: a warm Python', function () {
  let bench: ExecutionBench;
  let launchers: Launchers | undefined;
  before(function () {
    if (pythonFault() !== undefined) return this.skip();
  });
  beforeEach(() => {
    bench = new ExecutionBench();
  });
  afterEach(() => {
    launchers?.close();
    launchers = undefined;
    bench?.close();
  });

  function write(name: string, text: string): string {
    const path = join(bench.folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  }
  async function warm(more: Partial<Engine> = {}): Promise<Engine> {
    const engine = { name: 'rocket', entrypoint: join(bench.folder, 'sim.py'), warm: true, ...more };
    launchers = await bench.warm(engine);
    return engine;
  }
  const printed = ({ files }: Executed): string => files['stdout.log'] ?? '';
  /** Process ids of the forkserver and of the process that prints them. */
  const PIDS = 'import os\nprint(os.getppid(), os.getpid())\n';

  it('imports the modules at the top of the entrypoint, up to the first statement with an effect', async () => {
    const lines = [
      '"""A simulation."""',
      'from __future__ import annotations',
      'import json, os.path as p',
      'from xml import dom',
      'try:',
      '    import no_such_module',
      'except ImportError:',
      '    pass',
      'LIMIT = 3',
      'def f(): import decimal',
      'import colorsys',
      'print(sorted({"json", "xml.dom", "colorsys", "wave", "decimal"} & set(__import__("sys").modules)))',
      'import wave',
    ];
    write('sim.py', lines.join('\n'));
    const engine = await warm();
    expect(printed(await bench.execute(engine))).to.equal("['colorsys', 'json', 'xml.dom']\n");
    expect(bench.log).to.include('engine rocket: warm, json, os.path, xml, colorsys imported in');
    expect(bench.log).to.include('each run imports no_such_module itself: its import fails: ModuleNotFoundError');
  });

  it('imports the modules of `preload` instead, when there are some', async () => {
    write('sim.py', 'import json\n');
    await bench.execute(await warm({ preload: ['wave', 'xml.dom'] }));
    expect(bench.log).to.include('warm, wave, xml.dom imported in');
  });

  const observable: [what: string, helper: string, reason: RegExp][] = [
    ['prints', 'print("hello")', /its import prints/],
    ['fails', 'raise ValueError("no licence")', /its import fails: ValueError: no licence/],
    ['ends the program', 'import sys; sys.exit(0)', /its import ends the program/],
    [
      'reads a variable of the run',
      'import os; OUT = os.environ.get("SVC_OUTPUT_DIR", "none")',
      /reads SVC_OUTPUT_DIR/,
    ],
    ['copies the environment', 'import os; ENV = dict(os.environ)', /reads the whole environment/],
    ['draws random numbers', 'import random; X = random.random()', /draws random numbers or sets their seed/],
    ['sets the seed', 'import random; random.seed(1)', /draws random numbers or sets their seed/],
    ['has a generator', 'import random; RNG = random.Random()', /a random generator of its own/],
    ['leaves a file open', 'import os; FILE = open(os.devnull.replace("null", "zero"))', /leaves a file open/],
  ];
  for (const [what, helper, reason] of observable) {
    it(`leaves a module to the runs whose import ${what}`, async () => {
      write('helper.py', `${helper}\n`);
      write(
        'sim.py',
        'import json, helper, wave\nprint(vars(helper).get("OUT"), "SVC_OUTPUT_DIR" in vars(helper).get("ENV", {}))\n',
      );
      const engine = await warm();
      const [first, second] = [await bench.execute(engine), await bench.execute(engine)];
      const cold = await bench.execute({ ...engine, warm: false });
      expect(first.files).to.deep.equal(cold.files);
      expect(second.files).to.deep.equal(cold.files);
      expect(bench.log)
        .to.match(reason)
        .and.match(/warm, json, wave imported in/);
    });
  }

  it('starts runs cold, and says so in the log and the result, when a module starts a thread', async () => {
    const thread = 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n';
    write('helper.py', thread);
    write('sim.py', 'import helper\nprint("done")\n');
    const engine = await warm();
    const { end, files } = await bench.execute(engine);
    expect(files['stdout.log']).to.equal('done\n');
    expect(end.type === 'complete' && end.result.metadata['simbatch_notes']).to.deep.equal([
      'started cold: helper starts a thread at its import',
    ]);
    expect(bench.log).to.match(/not warm, each run starts an interpreter: helper starts a thread at its import/);
    write('sim.py', 'print("changed")\n');
    const after = await bench.execute(engine);
    expect(after.end.type === 'complete' && after.end.result.metadata).to.deep.equal({});
    expect(bench.log).to.match(/warm, no module imported/);
  });

  it('starts runs cold when a file beside the entrypoint has the name of a module that it needs itself', async () => {
    write('json.py', 'NAME = "mine"\n');
    write('sim.py', 'import json\nprint(json.NAME)\n');
    expect(printed(await bench.execute(await warm()))).to.equal('mine\n');
    expect(bench.log).to.include('not warm, each run starts an interpreter: json.py beside the entrypoint');
  });

  it('is replaced before the next run when the entrypoint or a module has changed', async () => {
    write('helper.py', 'VALUE = 1\n');
    write('sim.py', `import helper\nprint(helper.VALUE)\n${PIDS}`);
    const engine = await warm();
    const [value, server] = printed(await bench.execute(engine)).split(/\s/);
    expect(value).to.equal('1');
    expect(printed(await bench.execute(engine)).split(/\s/)[1]).to.equal(server);
    write('helper.py', 'VALUE = 22\n');
    const [changed, second] = printed(await bench.execute(engine)).split(/\s/);
    expect(changed).to.equal('22');
    expect(second).not.to.equal(server);
    write('sim.py', 'print("other")\n');
    expect(printed(await bench.execute(engine))).to.equal('other\n');
    expect(bench.log.match(/a file has changed, its warm interpreter is replaced/g)).to.have.length(2);
  });

  it('seeds random for each run: the same numbers for every attempt at a run, others for other runs', async () => {
    write('sim.py', 'import random\nprint(random.random())\n');
    const engine = await warm();
    const draw = async (runId: number) => printed(await bench.execute(engine, {}, runId));
    const [first, again, other] = [await draw(1), await draw(1), await draw(2)];
    expect(first).to.equal(again);
    expect(first).not.to.equal(other);
  });

  it('imports in the environment of the study', async () => {
    write('helper.py', 'import os\nSEEN = os.environ.get("SIM_FUEL")\n');
    write('sim.py', 'import helper\nprint(helper.SEEN)\n');
    const engine = await warm();
    const seen = [];
    for (const fuel of ['lox', 'rp1', 'lox', 'lh2', 'n2o', 'h2o2', 'lox']) {
      seen.push(printed(await bench.execute(engine, { SIM_FUEL: fuel })).trim());
    }
    expect(seen).to.deep.equal(['lox', 'rp1', 'lox', 'lh2', 'n2o', 'h2o2', 'lox']);
  });

  it('is started again when it has died; the runs that it had are lost, not failed', async () => {
    write(
      'sim.py',
      `import os, signal\nif os.environ.get("SIM_KILL"):\n open(os.environ["SVC_OUTPUT_DIR"] + "/pids", "w").write(f"{os.getppid()} {os.getpid()}")\nif os.environ.get("SIM_KILL"): os.kill(os.getppid(), signal.SIGKILL); signal.pause()\n`,
    );
    const engine = await warm();
    await bench.execute(engine);
    const lost = await bench.execute(engine, { SIM_KILL: '1' });
    expect(lost.end.type).to.equal('lost');
    expect(lost.end).to.have.property('error_message', 'the forkserver of the simulation ended by signal SIGKILL');
    const pids = lost.files['pids']?.split(' ').map(Number) ?? [];
    expect(lost.files['stdout.log']).to.match(
      /^\n\[simbatch: the rest, if any, is lost: the forkserver ended by signal SIGKILL\]\n$/,
    );
    expect(pids.map(lives)).to.deep.equal([false, false]);
    expect((await bench.execute(engine)).end.type).to.equal('complete');
  });

  it('is given up after three deaths in a row', async () => {
    write(
      'sim.py',
      'import os, signal\nif os.environ.get("SIM_COLD") is None: os.kill(os.getppid(), signal.SIGKILL); signal.pause()\n',
    );
    const engine = await warm();
    const ends = [];
    for (let i = 0; i < 3; i++) ends.push((await bench.execute(engine)).end.type);
    expect(ends).to.deep.equal(['lost', 'lost', 'lost']);
    expect(bench.log).to.include('its forkserver ended 3 times in a row, the last time by signal SIGKILL');
  });

  it('works without waitid, death signals and C functions, as on other systems', async () => {
    write('site/sitecustomize.py', 'import os, sys\ndel os.waitid\nsys.modules["ctypes"] = None\n');
    write(
      'sim.py',
      `${PIDS}import sys\nsys.stderr.write("reason")\nopen(os.environ["SVC_OUTPUT_DIR"] + "/a", "w").write("b")\nsys.exit(3)\n`,
    );
    bench.env['PYTHONPATH'] = join(bench.folder, 'site');
    const engine = await warm();
    const [first, second] = [await bench.execute(engine), await bench.execute(engine)];
    for (const it of [first, second]) {
      expect(it.end).to.include({ type: 'fail', reason: 'exit' });
      expect(it.files).to.include({ 'stderr.log': 'reason', a: 'b' });
    }
    expect(printed(first).split(' ')[0]).to.equal(printed(second).split(' ')[0]);
    expect(printed(first)).not.to.equal(printed(second));
  });

  it('is ended when it does not answer, and started again', async () => {
    write('sim.py', PIDS);
    const hasty: Clock = {
      ...systemClock,
      after: (delayMs, action, options) => systemClock.after(delayMs / 20, action, options),
    };
    const engine = { name: 'rocket', entrypoint: join(bench.folder, 'sim.py'), warm: true };
    launchers = await bench.warm(engine, hasty);
    const server = Number(printed(await bench.execute(engine)).split(/\s/)[0]);
    process.kill(server, 'SIGSTOP');
    const { end } = await bench.execute(engine);
    expect(end).to.include({
      type: 'lost',
      error_message: 'the forkserver of the simulation ended by the runner: it did not fork within 10 s',
    });
    expect(lives(server)).to.equal(false);
    expect((await bench.execute(engine)).end.type).to.equal('complete');
  });

  it('leaves the same artifacts as a cold study, byte by byte', async () => {
    const client = join(import.meta.dirname, '../../../../../clients/python');
    const lines = [
      'import sys',
      `sys.path.insert(0, ${JSON.stringify(client)})`,
      'import random, simbatch',
      'run = simbatch.run()',
      'draw = random.Random(run.random_seed)',
      'with open(run.output_dir / "track.csv", "w") as file:',
      '    for i in range(100): print(i, draw.gauss(0, run.parameters["mass"]), sep=",", file=file)',
      'for i in range(50): run.telemetry(t=i / 10, altitude=draw.random())',
      'run.result(last=draw.random())',
      'print("run", run.run_id)',
    ];
    write('sim.py', lines.join('\n'));
    const engine = await warm({ preload: ['random', 'json'] });
    for (let runId = 0; runId < 8; runId++) {
      const forked = await bench.execute(engine, {}, runId);
      const cold = await bench.execute({ ...engine, warm: false }, {}, runId);
      expect(Object.keys(cold.files)).to.deep.equal(['metadata.json', 'stdout.log', 'telemetry.parquet', 'track.csv']);
      expect(forked.files).to.deep.equal(cold.files);
    }
    expect(bench.log).not.to.match(/not warm/);
  });

  it('ends with its channel alone, and ends its runs', async () => {
    write('sim.py', 'import signal\nsignal.pause()\n');
    const settings = { entrypoint: join(bench.folder, 'sim.py'), preload: null, death_signal: false, skipped: {} };
    const child = spawn('python3', [SCRIPT, JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      env: { ...bench.env, SVC_OUTPUT_DIR: '-'.repeat(4200) },
    });
    const channel = child.stdio[3] as Duplex;
    let text = '';
    channel.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const until = async (type: string) => {
      for (;;) {
        const lines = text.split('\n').slice(0, -1);
        const found = lines
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .find((it) => it['type'] === type);
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await until('ready');
    channel.write(`${JSON.stringify({ type: 'run', id: 1, env: {}, cgroup: null, seed: 1 })}\n`);
    const pid = Number((await until('started'))['pid']);
    expect(lives(pid)).to.equal(true);
    channel.destroy();
    await once(child, 'exit');
    while (lives(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

describe('clients/python/warm', () => {
  it('uses the standard library alone', () => {
    const folder = join(SCRIPT, '..');
    const names = [
      '__main__.py',
      '_warm_children.py',
      '_warm_modules.py',
      '_warm_run.py',
      '_warm_server.py',
      'spawn.py',
    ];
    const imports = names.flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(/^\s*(?:import|from) (\S+)/gm),
    ]);
    const allowed =
      /^(_warm_\w+|_signal|_socket|_io|ast|atexit|builtins|ctypes|errno|gc|importlib\S*|json|os|random|select|sys|tempfile|time|types|warnings)$/;
    expect(imports.map((it) => String(it[1])).filter((it) => !allowed.test(it))).to.deep.equal([]);
  });
});
