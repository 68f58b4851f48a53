/**
 * A study of rare events with a real coordinator and a real runner, both killed with SIGKILL in each phase: its rows and its answer are to the bit
 * the same as in a study that was never killed, also after an extension.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../../src/client/client.ts';
import type { Job, Uuid } from '../../../src/contract/types.ts';
import { madeRareStudy } from '../../analysis/rare/studies.ts';
import { serving } from '../../support/program.ts';
import { simbatch } from '../../support/program.ts';
import { rareStudy } from '../../support/rounds.ts';
import { awkSimulation } from '../../support/simulations/awk.ts';
import { type RunnerProcess, Site } from '../../support/runner-process.ts';
import { insist } from '../support.ts';

const PHASES = ['search', 'tune', 'confirm'] as const;
/** Between two looks at the study. */
const LOOK_MS = 100;

describe('e2e/whole: rare events', () => {
  let site: Site;
  let coordinator: ChildProcess;
  let port = '0';
  let client: Client;
  let runner: RunnerProcess;
  let runners = 0;
  before(async () => {
    site = new Site();
    await startCoordinator();
    client = new Client({ endpoint: `http://127.0.0.1:${port}` });
    writeFileSync(join(site.folder, 'sim.sh'), awkSimulation('{"y":%.17g}', '(number("a") + number("b")) / sqrt(2)'), {
      mode: 0o755,
    });
    runner = site.startApart('r0', client.endpoint, options());
  });
  after(async () => {
    coordinator?.kill('SIGKILL');
    await site?.clean();
  });

  const options = (): string[] => ['--entrypoint', join(site.folder, 'sim.sh')];

  async function startCoordinator(): Promise<void> {
    ({ child: coordinator, port } = await serving(['--data-dir', join(site.folder, 'data'), '--port', port]));
  }

  async function killCoordinator(): Promise<void> {
    coordinator.kill('SIGKILL');
    await once(coordinator, 'exit');
    await startCoordinator();
  }

  /** The next runner has the disk of the killed one, in a folder of its own. */
  async function killRunner(): Promise<void> {
    await runner.end('SIGKILL');
    runners += 1;
    runner = site.startInPlaceOf(
      runners === 1 ? 'r0' : `r0-${runners - 1}`,
      `r0-${runners}`,
      client.endpoint,
      options(),
    );
  }

  interface Progress {
    phase: string;
    ended: number;
    total: number;
    isOver: boolean;
  }

  async function progressOf(batch: Uuid): Promise<Progress> {
    const { batch: found } = await insist(() => client.batch(batch));
    const rounds = await insist(() => client.rounds.list(batch));
    return {
      phase: rounds.at(-1)?.decision?.phase ?? 'none',
      ended: found.completed_jobs + found.failed_jobs,
      total: found.total_jobs,
      isOver: found.status === 'Completed',
    };
  }

  async function until(batch: Uuid, holds: (progress: Progress) => boolean): Promise<Progress> {
    for (;;) {
      const progress = await progressOf(batch);
      if (holds(progress)) return progress;
      expect(progress.isOver, `the study has ended before: ${JSON.stringify(progress)}`).to.equal(false);
      await setTimeout(LOOK_MS);
    }
  }

  it('has the rows and the answer of a study that was never killed, to the bit', async function () {
    this.timeout(1_200_000);
    const submission = rareStudy({ limit: 2, seed: 3, timeoutSecs: 600 });
    Object.assign(submission.config.adaptive!, { tune_runs: 30, confirm_part: 100 });
    const { batch_id: batch } = await client.submit(submission);
    for (const phase of PHASES) {
      const { ended } = await until(
        batch,
        (it) => it.phase === phase && it.ended > it.total - 90 && it.ended < it.total,
      );
      await killCoordinator();
      await until(batch, (it) => it.ended > ended || it.isOver);
      await killRunner();
    }
    await until(batch, (it) => it.isOver);
    const expected = madeRareStudy(submission, ({ a = 0, b = 0 }) => (a + b) / Math.SQRT2);
    const jobs: Job[] = [];
    for await (const job of client.jobs({ batch_id: [batch] })) jobs.push(job);
    expect(jobs.map((it) => it.run_config.parameters)).to.deep.equal(expected.parameters);
    const answer = await client.analysis.ask('rare-event', batch);
    const never = expected.answer();
    const parts = never.parts.map((it) => ({ ...it, batch_id: batch }));
    expect(answer).to.deep.equal({ ...never, batch_id: batch, studies: [batch], parts });
    expect(answer.reason).to.equal('confirmed');
    // More draws after the end, with one more death of each.
    const extended = await simbatch(['extend', batch, '--runs', '140', '--endpoint', client.endpoint]);
    expect(extended.stdout, extended.stderr).to.match(
      /^study \S+ takes up to 140 further runs; the budget is now [\d,]+ runs\n$/,
    );
    await until(batch, (it) => it.total > jobs.length && it.ended > jobs.length);
    await killCoordinator();
    await killRunner();
    await until(batch, (it) => it.isOver);
    const further = madeRareStudy(submission, ({ a = 0, b = 0 }) => (a + b) / Math.SQRT2, [140]).answer();
    const { warnings: _, ...later } = await client.analysis.ask('rare-event', batch);
    const { warnings: __, ...computedLater } = further;
    expect(later).to.deep.equal({
      ...computedLater,
      batch_id: batch,
      studies: [batch],
      parts: further.parts.map((it) => ({ ...it, batch_id: batch })),
    });
    expect(later.runs).to.equal(jobs.length + 140);
    const { verdict, computed } = await client.rounds.check(batch);
    expect([verdict, computed?.verdict]).to.deep.equal(['identical', 'identical']);
  });
});
