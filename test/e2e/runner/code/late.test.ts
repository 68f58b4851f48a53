/** Looks at code that take too long, on a machine that is slow or whose files do not answer: runs are executed, and never said to have a code that is not known. */
import { execFileSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sleep, systemClock, type Clock } from '../../../../src/base/clock.ts';
import { Client } from '../../../../src/client/client.ts';
import type { JobResult } from '../../../../src/client/client.ts';
import { EngineCodes } from '../../../../src/runner/code/engine-codes.ts';
import { LookThread } from '../../../../src/runner/code/look-thread.ts';
import { type Log, silentLog } from '../../../../src/runner/log.ts';
import { serving } from '../../../support/program.ts';
import { HungFileSystem } from '../../../support/hung-file-system.ts';
import { Site } from '../../../support/runner-process.ts';
import { study } from '../../../support/studies.ts';
import { CodeFolder } from './looked.ts';

describe('runner/code: a look that takes too long', () => {
  let code: CodeFolder;
  beforeEach(() => {
    code = new CodeFolder();
  });
  afterEach(() => {
    code.remove();
  });

  function codesBy(clock: Clock, log: Log = silentLog): EngineCodes {
    const engines = [{ name: 'a', entrypoint: join(code.folder, 'sim', 'run.py') }];
    const config = { engines, outputRoot: join(code.folder, 'out'), checkpointDir: undefined };
    return new EngineCodes({ config, containers: undefined, clock, log, env: code.env });
  }

  it('says that the code is not known, and neither that it is the same nor another', async () => {
    code.write({ 'sim/run.py': 'print(1)\n' });
    const engine = { name: 'a', entrypoint: join(code.folder, 'sim', 'run.py') };
    const reported = await codesBy(systemClock).of({ engine });
    expect(reported?.identity.files).to.equal(1);
    // Its seconds pass before a thread can answer.
    const late = codesBy({
      ...systemClock,
      after: (_, action) => {
        queueMicrotask(action);
        return () => {};
      },
    });
    expect(await late.of({ engine })).to.equal(undefined);
    expect(await late.isOther({ engine }, reported!, 'now')).to.equal(false);
    expect(await late.changeSince({ engine }, reported!, Date.now())).to.equal('unknown');
    // The same questions in time.
    const codes = codesBy(systemClock);
    expect(await codes.changeSince({ engine }, reported!, Date.now())).to.equal('none');
    code.write({ 'sim/run.py': 'print(2)\n' });
    expect(await codes.isOther({ engine }, reported!, 'now')).to.equal(true);
    expect(await codes.changeSince({ engine }, reported!, Date.now())).to.equal('while loading');
  });

  it('never ends where a program writes among the files: after eight changes within a minute runs start, their code unknown', async () => {
    code.write({ 'sim/run.py': 'import x\n', 'sim/data.txt': '0' });
    code.git('sim', 'init', '--quiet');
    const engine = { name: 'a', entrypoint: join(code.folder, 'sim', 'run.py') };
    const said: string[] = [];
    const log = {
      ...silentLog,
      info: (text: string) => said.push(`info ${text}`),
      warn: (text: string) => said.push(`warn ${text}`),
    };
    let aheadMs = 0;
    const codes = codesBy({ ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }, log);
    const reported = await codes.of({ engine });
    for (let n = 1; n <= 7; n++) {
      code.write({ 'sim/data.txt': `${n} `.repeat(n) });
      expect(await codes.isOther({ engine }, reported!, 'now'), `${n}`).to.equal(true);
    }
    for (const n of [8, 9]) {
      code.write({ 'sim/data.txt': `${n} `.repeat(n) });
      expect(await codes.isOther({ engine }, reported!, 'now'), `${n}`).to.equal(false);
    }
    expect(await codes.changeSince({ engine }, reported!, Date.now())).to.equal('while loading');
    expect(said.filter((it) => it.startsWith('info'))).to.have.length(7);
    expect(said.slice(7)).to.have.length(1);
    expect(said[7]).to.match(/^warn engine a: its code changes all the time \(data\.txt\): runs are executed/);
    // A minute without changes.
    aheadMs = 61_000;
    expect(await codes.isOther({ engine }, reported!, 'now')).to.equal(true);
  });

  it('is not one where the process itself was stopped while its thread answered', async () => {
    code.write({ 'sim/run.py': '' });
    const thread = new LookThread({
      entrypoint: join(code.folder, 'sim', 'run.py'),
      globs: undefined,
      own: [],
      env: code.env,
      clock: systemClock,
      onChange: () => {},
    });
    const looked = thread.look('now', 8);
    // As SIGSTOP does: no timer and no answer is handled for longer than the look may take.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 9_000);
    expect(await looked).to.have.property('code');
  });

  it('does not wait for pipes in the places of the files of git', async () => {
    code.write({ 'sim/run.py': '' });
    code.git('sim', 'init', '--quiet');
    const commit = code.commit('sim');
    for (const name of ['.gitignore', '.git/packed-refs']) execFileSync('mkfifo', [join(code.folder, 'sim', name)]);
    const { git } = await code.identity('sim/run.py');
    expect(git?.commit).to.equal(commit);
  });

  it('has the digest without the commit where the program git does not answer', async () => {
    code.write({ 'sim/run.py': '', 'bin/git': '#!/bin/sh\nexec sleep 1000\n' });
    code.git('sim', 'init', '--quiet');
    const commit = code.commit('sim');
    chmodSync(join(code.folder, 'bin', 'git'), 0o755);
    code.env['PATH'] = `${join(code.folder, 'bin')}:${code.env['PATH'] ?? ''}`;
    const { files, git } = await code.identity('sim/run.py');
    expect({ files, git }).to.deep.equal({ files: 1, git: { commit, dirty: null, describe: null } });
  });

  describe('with a real runner', () => {
    let site: Site;
    let coordinator: ChildProcess;
    let hung: HungFileSystem | undefined;
    beforeEach(() => {
      site = new Site();
      hung = undefined;
    });
    afterEach(async () => {
      hung?.release();
      coordinator?.kill('SIGKILL');
      await site?.clean();
    });

    it('fails no run: those whose code is not known at the start or at the end complete without one', async function () {
      this.timeout(900_000);
      const at = (name: string): string => join(code.folder, name);
      // Each run waits for the file of its number, and says that it runs.
      code.write({
        'sim/run.cjs': `
          const { existsSync, readFileSync, writeFileSync } = require('node:fs');
          const { run_id } = JSON.parse(readFileSync(process.env.SVC_RUN_CONFIG, 'utf8'));
          writeFileSync(${JSON.stringify(at('run-'))} + run_id, '');
          const timer = setInterval(() => existsSync(${JSON.stringify(at('go'))}) && clearInterval(timer), 50);`,
      });
      const started = await serving(['--data-dir', join(site.folder, 'data')]);
      coordinator = started.child;
      const client = new Client({ endpoint: started.url });
      site.start(client.endpoint, ['--entrypoint', at('sim/run.cjs'), '--max-concurrent-jobs', '1']);
      const { batch_id: id } = await client.submit(study({ runs: 2, seed: 1 }));
      while (!existsSync(at('run-0'))) await sleep(systemClock, 100);
      hung = await HungFileSystem.mount(at('sim/lib'));
      if (hung === undefined) {
        this.test!.title += ' (file systems cannot be mounted here)';
        return this.skip();
      }
      writeFileSync(at('go'), '');
      while ((await client.batch(id)).batch.status !== 'Completed') await sleep(systemClock, 250);
      const results: JobResult[] = [];
      for await (const it of client.batchResults(id)) results.push(it);
      expect(results.map(({ code: own }) => own)).to.deep.equal([undefined, undefined]);
      const notes = results.map(({ metadata }) => JSON.stringify(metadata['simbatch_notes'] ?? []));
      expect(notes[0]).to.include('its code is unknown');
      expect(notes[1]).to.equal('[]');
      expect((await client.analysis.codeVersions(id)).find(({ kind }) => kind === 'unknown')?.runs).to.equal(2);
      for (const { id: job } of (await client.jobsPage({ batch_id: [id] })).items)
        expect((await client.jobHistory(job)).attempts).to.have.lengthOf(1);
    });
  });
});
