/** A run in a Node process that waited for it leaves the same files, output and exit as a run of a fresh one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Engine } from '../../../../src/runner/config/config.ts';
import type { Launchers } from '../../../../src/runner/launch/launchers.ts';
import { ExecutionBench } from '../../../support/executed.ts';
import type { Executed } from '../../../support/executed.ts';

const PROGRAMS: [name: string, extension: string, text: string][] = [
  [
    'its surroundings',
    'cjs',
    `const fs = require('fs');
     console.log(JSON.stringify([process.argv, process.execArgv, require.main === module, __filename, process.cwd(), module.children,
       Object.keys(require.cache), Object.keys(process.env).sort(), process.umask(), process.stdout.isTTY, process.env.SVC_OUTPUT_DIR,
       fs.readdirSync('/proc/self/fd').filter((fd) => { try { return (fd < 3 ? /socket|null/ : /socket/).test(fs.readlinkSync('/proc/self/fd/' + fd)) } catch {} }).length]));`,
  ],
  ['a module', 'mjs', 'console.log(import.meta.url, process.argv[1], typeof require, import.meta.dirname);'],
  ['its modules', 'mjs', "import { NAME } from './helper.mjs'; console.log(NAME);"],
  ['exit code', 'js', 'process.exitCode = 9;'],
  ['process.exit', 'cjs', 'process.on("exit", (code) => console.log("bye", code)); process.exit(4);'],
  ['an uncaught error', 'cjs', 'function f() { throw new TypeError("wrong") }\nf();'],
  ['an uncaught error of a module', 'mjs', 'await null;\nthrow new RangeError("too far");'],
  ['an unhandled rejection', 'cjs', 'Promise.reject(new Error("not caught"));'],
  ['a syntax error', 'mjs', 'const = 1;'],
  ['an await that never settles', 'mjs', 'await new Promise(() => {});'],
  ['a signal', 'cjs', 'process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 5000);'],
  [
    'a worker and a child of its own',
    'cjs',
    `const { Worker, isMainThread } = require('worker_threads');
     const { fork, execFileSync } = require('child_process');
     if (process.argv[2] === 'child') process.send('child ' + process.execArgv.length, () => process.disconnect());
     else if (!isMainThread) console.log('worker');
     else new Worker(__filename).on('exit', () => {
       console.log(execFileSync(process.execPath, ['-p', '1 + 1']).toString());
       fork(__filename, ['child']).on('message', console.log);
     });`,
  ],
  ['output in flight', 'cjs', 'process.stdout.write("x".repeat(1 << 20)); process.stderr.write("y".repeat(1 << 20));'],
];

describe('runner/launch: a Node process that waited equals a fresh one', () => {
  let bench: ExecutionBench;
  let launchers: Launchers | undefined;
  before(() => {
    bench = new ExecutionBench();
    writeFileSync(join(bench.folder, 'helper.mjs'), 'export const NAME = import.meta.url;\n');
  });
  afterEach(() => {
    launchers?.close();
  });
  after(() => {
    bench.close();
  });

  async function bothWays(entrypoint: string, environment?: Record<string, string>) {
    const engine: Engine = { name: 'test', entrypoint };
    const cold = await bench.execute(engine, environment);
    launchers = await bench.warm({ ...engine, warm: true });
    return { cold, warm: await bench.execute({ ...engine, warm: true }, environment) };
  }

  function outcome({ end }: Executed): unknown {
    if (end.type === 'abandoned' || end.type === 'released') return end;
    const error = end.type === 'complete' ? undefined : end.error_message.replaceAll(/run-\d+/g, 'OUT');
    return { type: end.type, error, names: end.result?.output_files.map((it) => it.split('/').at(-1)) };
  }

  for (const [index, [name, extension, text]] of PROGRAMS.entries()) {
    it(`in ${name}`, async () => {
      const entrypoint = join(bench.folder, `program-${String(index)}.${extension}`);
      writeFileSync(entrypoint, `${text}\n`);
      const { cold, warm } = await bothWays(entrypoint);
      expect(warm.files).to.deep.equal(cold.files);
      expect(outcome(warm)).to.deep.equal(outcome(cold));
      expect(bench.log).to.include('engine test: warm, 2 Node processes wait for runs');
    });
  }

  it('in the environment of a study, and with an entrypoint that changed meanwhile', async () => {
    const entrypoint = join(bench.folder, 'changing.cjs');
    writeFileSync(entrypoint, 'console.log(process.env.SIM_FUEL);\n');
    const { cold, warm } = await bothWays(entrypoint, { SIM_FUEL: 'lox' });
    expect([cold.files['stdout.log'], warm.files['stdout.log']]).to.deep.equal(['lox\n', 'lox\n']);
    writeFileSync(entrypoint, 'console.log("changed");\n');
    const again = await bench.execute({ name: 'test', entrypoint, warm: true }, { SIM_FUEL: 'lox' });
    expect(again.files['stdout.log']).to.equal('changed\n');
  });
});
