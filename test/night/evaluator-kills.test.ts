/** Searches around an evaluator while their driver, the coordinator and the runner are killed, 20 times each. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { root } from '../e2e/clients/program.ts';

const KILLS = 20;
const CAMPAIGN_MS = 3_600_000;
const folder = `${root}clients/python`;
const env = { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };

describe('night/evaluator-kills', function () {
  this.timeout(CAMPAIGN_MS);

  for (const search of ['optuna', 'scipy', 'emcee']) {
    it(`${search} comes to the same end to the bit, and executes each point once`, function () {
      const needed = `import cloudpickle, numpy, ${search}`;
      if (spawnSync('python3', ['-c', needed], { env }).status !== 0) {
        if (process.env.SIMBATCH_REQUIRE_ALL === '1') throw new Error(`${needed} fails; see .ci/run`);
        this.skip();
      }
      const seed = String(randomInt(2 ** 32));
      const options = ['--kills', String(KILLS), '--size', '36', '--seed', seed];
      const { status, stdout, stderr } = spawnSync('python3', ['-B', '-m', 'tests.kills', search, ...options], {
        cwd: folder,
        encoding: 'utf8',
        timeout: CAMPAIGN_MS,
        env,
      });
      expect(status, `${stdout}\n${stderr}`).to.equal(0);
      const { kills, runs, distinct } = JSON.parse(stdout) as Record<string, number> & {
        kills: Record<string, number>;
      };
      expect(runs).to.equal(distinct);
      // The search may end before the last kills.
      for (const victim of ['driver', 'coordinator', 'runner']) expect(kills[victim], stdout).to.be.at.least(KILLS / 2);
    });
  }
});
