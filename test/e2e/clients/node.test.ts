/** The Node client, in real processes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { behavesAsClient } from './behaviour.ts';
import { root } from './program.ts';

const withRun = (text: string): string =>
  `import { run as open } from ${JSON.stringify(`file://${root}clients/node/index.js`)};\nconst run = open();\n${text}`;

const programs = {
  exact: withRun(`
    run.telemetry({ altitude_m: 0.1, 'tank.1': -2.5e-300 }, { timestampNs: 1700000000123456789n });
    run.telemetry({ altitude_m: Infinity, 'tank.1': NaN }, { timestampNs: -(2n ** 63n) });
    run.telemetry({ 'grüße': 1 / 3 }, { t: 1.5 });
    run.result({ done: true });`),
  flood: withRun(`
    for (let i = 0; i < Number(process.env.SAMPLES); i += 1) run.telemetry({ a: i, b: -i }, { t: i / 1000 });
    run.close();
    run.result({ dropped: run.droppedSamples });`),
  live: withRun(`
    import { existsSync } from 'node:fs';
    run.telemetry({ a: 1 }, { t: 0 });
    const end = Date.now() + 60000;
    let live = false;
    while (!live && Date.now() < end) live = existsSync(process.env.FLAG);
    run.result({ live });`),
  wrong: withRun(`
    run.telemetry({ bad: 'text' }, { t: 0 });
    run.telemetry({ bad: 1 }, { t: NaN });
    run.telemetry({ bad: 1 }, { timestampNs: 2n ** 63n });
    run.telemetry({ good: 1 }, { t: 1 });
    run.result({ done: true });`),
  dies: withRun(`
    run.telemetry({ a: 1 }, { t: 0 });
    throw new Error('wing lost');`),
  results: withRun(`
    run.result({ a: 1, b: NaN });
    run.result({ b: 2, list: Float64Array.of(1, NaN) });`),
  histories: withRun(`
    run.result({ a: 1 });
    run.history('z', [1, null, NaN]);
    run.history('w', Float64Array.of(2));
    run.result({ b: 2 });
    const faults = [[['w', '2'], /list of numbers/], [['w', ['2']], /w\\[0\\]: .* not string/], [['w', [0, Infinity]], /w\\[1\\]: .* finite/], [[3, []], /a text/]];
    for (const [args, fault] of faults) {
      try {
        run.history(...args);
        process.exit(9);
      } catch (error) {
        if (!fault.test(error.message)) throw error;
      }
    }`),
  reads: withRun(`
    import { basename } from 'node:path';
    console.log(run.runId, run.parameters.cd, basename(run.outputDir), run.randomSeed);`),
  misspelt: withRun('run.parameters.cdd;'),
  defaults: withRun('console.log(run.parameters.cd, run.parameters.area_m2);').replace(
    'open()',
    'open({ defaults: { cd: 0.5, area_m2: 2 } })',
  ),
};

describe('the Node client', function () {
  let directory = '';
  before(() => (directory = mkdtempSync(join(tmpdir(), 'simbatch-node-'))));
  after(() => rmSync(directory, { recursive: true, force: true }));
  let count = 0;
  const start = (program: string): string[] => {
    const path = join(directory, `simulation-${String((count += 1))}.mjs`);
    writeFileSync(path, program);
    return [process.execPath, path];
  };
  behavesAsClient(() => start, programs);
});
