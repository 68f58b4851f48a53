import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/base/package.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { Throat } from '../../support/throat.ts';

const run = promisify(execFile);
const docs = readFileSync(join(packageRoot, 'docs/api.md'), 'utf8');
const blocks = [...docs.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1]!);
const blockWith = (text: string) => blocks.find((block) => block.includes(text))!;

/** The page needs bash, curl and jq; without them its examples cannot run. */
async function haveTools(): Promise<boolean> {
  return run('bash', ['-c', 'command -v curl && command -v jq']).then(
    () => true,
    () => false,
  );
}

describe('docs/api.md in a shell', () => {
  let folder: string;
  let coordinator: Coordinator | undefined;
  let server: TestServer;
  before(async function () {
    if (!(await haveTools())) {
      if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error('bash, curl and jq are required');
      this.skip();
    }
    folder = await mkdtemp(join(tmpdir(), 'simbatch-docs-'));
    coordinator = await openCoordinator(await openStore(join(folder, 'data')), systemClock);
    server = await listen({ coordinator });
  });
  after(async () => {
    if (coordinator === undefined) return;
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  async function shell(script: string, url = server.url): Promise<string> {
    const { stdout } = await run(
      'bash',
      ['-euo', 'pipefail', '-c', `URL=${url}\nSVC_TOKEN=none-is-needed\n${script}`],
      { cwd: folder },
    );
    return stdout;
  }

  it('submits the study and acts as a runner by hand', async () => {
    expect(JSON.parse(await shell(blockWith('study.json')))).to.include({ total_jobs: 3 });
    const reported = await shell(blockWith('"by-hand"'));
    expect(reported).not.to.contain('"code"');
    expect(reported).to.contain('"status":"Completed"').and.to.contain('"metadata":{"apogee_m":1204.5}');
  });

  it('has working examples of read operations', async () => {
    // The examples of rounds need an adaptive study.
    const batch = blockWith('BATCH=$(');
    const reading = blocks.filter(
      (block) =>
        /curl -si? "\$URL\/(jobs|batches|runners|healthz|openapi)/.test(block) && !/-d|POST|lab-3|rounds/.test(block),
    );
    expect(reading).to.have.length.above(9);
    // `BATCH` and `JOB` are set by two of the examples, and used by others.
    const first = [batch, blockWith('JOB=$(curl')];
    const said = await shell([...first, ...reading.filter((block) => !first.includes(block))].join('\n'));
    expect(said).not.to.contain('"code"');
  });

  it('has working examples of rounds and points', async () => {
    const throat = await Throat.open();
    const working = throat.keepWorking();
    try {
      const study = adaptiveStudy();
      study.config.dispersions = { r: { distribution: { type: 'chosen' }, units: '' } };
      const { batch_id: batch } = await throat.client.submit(study);
      const examples = blocks.filter((block) => /\$BATCH\/(rounds|evaluate|close)/.test(block));
      expect(examples).to.have.length(8);
      const said: string[] = [];
      for (const example of examples) said.push(await shell(`BATCH=${batch}\n${example}`, throat.server.url));
      expect(said.join('\n')).not.to.contain('"code"');
      const [appended, , , , results, evaluated, checked, closed] = said;
      expect(appended).to.match(
        /^\{"round":0,"first_run_id":0,"count":2,"run_ids":"0-1","digest":"[0-9a-f]{64}","repeated":false\}$/,
      );
      expect(results).to.contain('"class": "ok"').and.to.contain('"y": 0.0625');
      expect(evaluated)
        .to.contain('"count":2,"appended":{"round":1,')
        .and.to.contain('{"run_id":1,"class":"ok","outputs":{"y":0.0625}}');
      expect(checked).to.equal('"identical"\n');
      expect(closed).to.contain('"closed":true');
    } finally {
      await throat.close();
      await working.catch(() => {});
    }
  });
});
