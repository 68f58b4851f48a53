/** `simbatch bridge` as a program: the published client of UM-Bridge and the checks of its protocol, and kills in the middle of evaluations. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { Throat } from '../../support/throat.ts';

const run = promisify(execFile);

/** Starts a bridge of the throat; resolves with its address when it listens. */
async function startBridge(throat: Throat, port: number): Promise<{ child: ChildProcess; url: string }> {
  const program = join(packageRoot, 'dist/bin/simbatch.js');
  const flags = ['--simulation', 'throat', '--inputs', 'r', '--outputs', 'y', '--port', String(port)];
  const args = [program, 'bridge', ...flags, '--endpoint', throat.server.url];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (piece: Buffer) => {
      printed += piece.toString();
      const address = /is at (http:\S+);/.exec(printed)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`the bridge ended with ${code}`)));
  });
  return { child, url };
}

describe('simbatch bridge', function () {
  this.timeout(300_000);
  let throat: Throat;
  beforeEach(async () => {
    throat = await Throat.open();
  });
  afterEach(() => throat.close());

  it('passes the published client of UM-Bridge and the checks of its protocol', async function () {
    const isThere = await run('python3', ['-c', 'import umbridge, requests']).then(
      () => true,
      () => false,
    );
    if (!isThere) {
      if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error('umbridge is needed; see .ci/run');
      this.skip();
    }
    const working = throat.keepWorking();
    const { child, url } = await startBridge(throat, 0);
    try {
      const checks = join(packageRoot, 'test/e2e/clients/umbridge_checks.py');
      const { stdout } = await run('python3', ['-B', checks, url], { timeout: 240_000 });
      expect(stdout).to.equal('passed\n');
      expect(new Set(throat.executed).size, 'each point once').to.equal(throat.executed.length);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).to.deep.equal([0, null]);
    } finally {
      child.kill('SIGKILL');
      await throat.close();
      await working.catch(() => {});
    }
  });

  it('continues after kills in the middle of evaluations, and executes each point once', async () => {
    let bridge = await startBridge(throat, 0);
    const port = Number(new URL(bridge.url).port);
    const evaluate = async (r: number): Promise<number> => {
      const body = JSON.stringify({ name: 'throat', input: [[r]] });
      for (;;) {
        try {
          const answer = await fetch(`http://127.0.0.1:${port}/Evaluate`, { method: 'POST', body });
          return ((await answer.json()) as { output: number[][] }).output[0]![0]!;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    const points = Array.from({ length: 64 }, (_, at) => at / 7);
    const values = Promise.all(points.map(evaluate));
    try {
      for (let kill = 0; kill < 3; kill++) {
        // The points are appended, and no run has ended: every client waits.
        for (;;) {
          const { demand } = await throat.client.demand();
          if (demand.reduce((sum, { runs }) => sum + runs, 0) >= (kill + 1) * 5) break;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        const ended = once(bridge.child, 'exit');
        bridge.child.kill('SIGKILL');
        await ended;
        bridge = await startBridge(throat, port);
      }
      const working = throat.keepWorking();
      expect(await values).to.deep.equal(points.map((r) => r * r));
      expect(throat.executed.toSorted((a, b) => a - b)).to.deep.equal(points);
      await throat.close();
      await working.catch(() => {});
    } finally {
      bridge.child.kill('SIGKILL');
    }
  });
});
