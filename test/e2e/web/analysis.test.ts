/** The answers of the analysis on the pages of a study: verdicts as runs end, statistics and running mean with their limits. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import type { BatchSubmission, SamplingMethod, StudySummary, Uuid } from '../../../src/contract/types.ts';
import { probePlan } from '../../../src/domain/probe/plan.ts';
import { descentStudy, scriptedRunner, type Outcome, type ScriptOptions } from '../../support/web-server.ts';
import { webSuite } from '../../support/web-suite.ts';

const PROGRAM = join(packageRoot, 'dist/bin/simbatch.js');
const RULE = { variable: 'nz', condition: '> 3.8', description: 'load' };
/** The load of a run: a rule ends the run above 3.8, so that no survivor has more. */
const loadOf = (run: number): number => 2 + ((run * 37) % 100) / 25;

function outcome({ job }: { job: { run_config: { run_id: number } } }): Outcome {
  const load = loadOf(job.run_config.run_id);
  if (load <= 3.8) return { metadata: { max_nz: load } };
  return { reason: 'early_termination', message: 'nz > 3.8 was met by nz = 3.81 at telemetry time 4 s' };
}

function loadStudy(method: SamplingMethod, runs: number, extra: Partial<BatchSubmission> = {}): BatchSubmission {
  const study = descentStudy(method, runs);
  study.config.monte_carlo.sampling_method = method;
  study.config.early_termination = { enabled: true, check_frequency_hz: 10, conditions: [RULE] };
  return { ...study, ...extra };
}

describe('web: answers of the analysis', () => {
  const suite = webSuite();

  /** Executes a study to its end. */
  async function flown(submission: BatchSubmission, ended: ScriptOptions['outcome'] = outcome): Promise<Uuid> {
    const { batch_id } = await suite.web.coordinator.submit(submission);
    const runner = await scriptedRunner(suite.web.coordinator, { id: 'lab-1', places: 50, runMs: 2, outcome: ended });
    for (;;) {
      const { batch } = await suite.web.coordinator.batch(batch_id);
      if (batch.status !== 'Pending' && batch.status !== 'Running') break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await runner.stop();
    return batch_id;
  }

  it('show a requirement open, then met as its runs end, and that the study was stopped', async () => {
    const { batch_id } = await suite.web.coordinator.submit(
      loadStudy('monte_carlo', 5_000, {
        requirements: [
          { name: 'soft', output: 'max_nz', condition: '< 9', probability: 0.3, confidence: 0.95 },
          { name: 'hard', output: 'max_nz', condition: '> 9', probability: 0.7, confidence: 0.95 },
        ],
        policy: { stop_when: 'settled' },
      }),
    );
    const { page, errors } = await suite.open(`batches/${batch_id}`);
    const card = (name: string) => page.getByRole('article', { name: `Requirement ${name}` });
    await card('soft').getByText('open', { exact: true }).waitFor();
    expect(await card('soft').textContent()).to.match(
      /Passing runs still needed: \d.*open: max_nz < 9 .*0 of 0 runs passed/,
    );
    const runner = await scriptedRunner(suite.web.coordinator, { id: 'lab-1', places: 1, runMs: 100, outcome });
    await card('soft').getByText('met', { exact: true }).waitFor();
    await card('hard').getByText('violated', { exact: true }).waitFor();
    await page.getByText(/^Stopped: every requirement was settled at run \d+$/).waitFor();
    const { requirements = [], batch } = await suite.web.coordinator.batch(batch_id);
    expect(await card('soft').locator('p').first().textContent()).to.equal(requirements[0]!.sentence);
    expect(requirements[0]!.sentence).to.match(/^met: .* decided at run \d+$/);
    expect(batch.status).to.equal('Completed');
    expect(errors).to.deep.equal([]);
    await runner.stop();
  });

  it("never show the survivors' P95 alone where a rule ended runs: in the API, on the command line and on the page", async () => {
    const batchId = await flown(loadStudy('monte_carlo', 200));
    const summary = (await (
      await fetch(`${suite.web.url}/batches/${batchId}/summary?quantiles=0.05,0.95`)
    ).json()) as StudySummary;
    expect(summary.excluded).to.deep.equal({ terminated: 108 });
    const [low, high] = summary.outputs.find((it) => it.name === 'max_nz')!.quantiles;
    expect(high!.value).to.be.below(3.8);
    expect(high!.bounds, 'unbounded above: more than 5 % of the runs were ended').to.deep.include.members([null]);
    expect(low!.bounds).to.not.equal(null);
    const env = { ...process.env, SVC_ENDPOINT: suite.web.url };
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'summary', batchId], { env });
    expect(stdout).to.match(/^statistics of 92 of 200 runs: 108 terminated early and left out/m);
    expect(stdout).to.match(/max_nz .*\[[\d.]+, inf\]/);
    const { page, errors } = await suite.open(`batches/${batchId}/plots?cards=statistics`);
    const table = page.getByRole('region', { name: 'Statistics of the outputs' });
    const row = table.getByRole('row').filter({ hasText: 'max_nz' });
    await row.waitFor();
    const cells = await row.getByRole('cell').allTextContents();
    for (const cell of cells.slice(4))
      expect(cell, 'a quantile with its interval').to.match(/^(> )?[\d.]+ (\[(−∞|[\d.]+), (∞|[\d.]+)\])?$/);
    expect(cells.at(-1)).to.match(/, ∞\]$/);
    await page.getByText('statistics of 92 of 200 runs: 108 terminated early and left out').first().waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('give the running mean an interval only where the sampling method has one', async () => {
    for (const method of ['monte_carlo', 'quasi_monte_carlo'] as SamplingMethod[]) {
      const { page } = await suite.open(
        `batches/${await flown(loadStudy(method, 64))}/plots?cards=convergence&target=o.max_nz`,
      );
      const plot = page.getByRole('img', { name: 'Mean of max_nz over the first runs', exact: true });
      await plot.waitFor();
      expect((await plot.locator('[data-mark="area"] path').count()) > 0, method).to.equal(method === 'monte_carlo');
      const said = await page.getByText(/^After \d+ runs of the complete prefix: /).textContent();
      expect(said!.includes(', 95 % interval'), method).to.equal(method === 'monte_carlo');
      await page.close();
    }
  });

  it("draw Sobol' indices with their intervals, of a design for them", async () => {
    const submission = descentStudy('indices', 64 * 5);
    submission.config.monte_carlo.sampling_method = 'saltelli';
    const uniform = { distribution: { type: 'uniform' as const, min: -1, max: 1 }, units: '' };
    submission.config.dispersions = { a: uniform, b: uniform, c: uniform };
    const batchId = await flown(submission, ({ job: { run_config: it } }) => ({
      metadata: { y: 2 * it.parameters['a']! + it.parameters['b']! },
    }));
    const { page, errors } = await suite.open(`batches/${batchId}`);
    await page.getByRole('heading', { name: 'Sobol’ indices of y' }).waitFor();
    const drawn = page.locator('.indices').getByRole('img');
    await drawn.first().waitFor();
    const [a, b, c] = await drawn.evaluateAll((all) => all.map((it) => it.getAttribute('aria-label')));
    // The variance is 4/3 + 1/3, and c has no part in it.
    const numberAfter = (text: string | null | undefined, word: string): number =>
      Number(new RegExp(`${word} (-?[\\d.]+)`).exec(text ?? '')?.[1]);
    expect(numberAfter(a, 'a: first')).to.be.closeTo(0.8, 0.25);
    expect(numberAfter(b, 'total')).to.be.closeTo(0.2, 0.15);
    expect(c).to.match(/^c: first .*, not told apart from 0, total .*, not told apart from 0$/);
    expect(await page.locator('.indices .pale').count()).to.be.at.least(2);
    expect(await page.getByText('[−∞, ∞]').count()).to.equal(0);
    await page.getByText(/The runs of a block share inputs/).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('list what each input of a probe changes, as simbatch probe prints it, and no table on the page of another study', async () => {
    const study = descentStudy('descent', 8);
    const plan = probePlan(study, true);
    const { batch_id: batchId } = await suite.web.coordinator.submit(plan.submission);
    const { page, errors } = await suite.open(`batches/${batchId}`);
    await page.getByText('No table yet: the probe has no runs yet').waitFor();
    const draws = plan.rows.map(() => 0);
    await suite.web.coordinator.appendRound(batchId, { key: 'probe', rows: [...plan.rows], draws });
    await suite.web.coordinator.closeBatch(batchId);
    const [first, second] = plan.inputs.map(({ name }) => name) as [string, string];
    const runner = await scriptedRunner(suite.web.coordinator, {
      id: 'lab-1',
      places: 2,
      runMs: 2,
      outcome: ({ job: { run_config: it } }): Outcome =>
        it.run_id === 3
          ? { reason: 'exit', message: 'too steep' }
          : { metadata: { y: 10 + Math.sign(it.parameters[first]! - plan.rows[0]![first]!), z: 1 } },
    });
    const table = page.getByRole('region', { name: 'What each input changes' });
    const cells = (name: string) =>
      table.getByRole('row').filter({ hasText: name }).getByRole('cell').allTextContents();
    await table.waitFor();
    expect(await table.getByRole('columnheader').allTextContents()).to.deep.equal([
      'Input',
      'Read',
      'Effect',
      'Low',
      'High',
      'y',
      'z',
    ]);
    expect((await cells(first)).toSpliced(3, 2)).to.deep.equal([
      first,
      'unknown',
      'some',
      '-10 % / +10 %',
      'same / same',
    ]);
    expect((await cells(second)).toSpliced(3, 2)).to.deep.equal([
      second,
      'unknown',
      'some',
      'crashed / same',
      'crashed / same',
    ]);
    expect(await cells('all inputs')).to.deep.equal(['all inputs', '-10 % / +10 %', 'same / same']);
    expect(await table.getByRole('row').count()).to.equal(plan.inputs.length + 2);
    const idle = plan.inputs.slice(2);
    for (const { name } of idle) {
      expect((await cells(name)).toSpliced(3, 2)).to.deep.equal([
        name,
        'unknown',
        'none',
        'same / same',
        'same / same',
      ]);
      await page.getByText(`parameter-without-effect: "${name}" at its 1 % and 99 % quantile`).waitFor();
    }
    expect(errors).to.deep.equal([]);
    await page.close();
    await runner.stop();
    const other = await suite.open(`batches/${await flown(study, () => ({ metadata: { y: 1 } }))}`);
    await other.page.getByRole('region', { name: 'Outputs' }).waitFor();
    expect(await other.page.getByText('What each input changes').count()).to.equal(0);
  });
});
