/** The beam: its simulation agrees with the closed form, and the probability in its README with the design of its study. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { normalTails } from '../../../src/base/distributions/normal.ts';
import { loadStudy } from '../../../src/cli/study/check-study.ts';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { root, runProgram } from '../clients/program.ts';

const folder = `${root}examples/beam/`;
const PYTHON = ['python3', `${folder}simulation.py`];
const page = readFileSync(`${folder}README.md`, 'utf8');

/** The margin in MPa of a cantilever of 2 m with a section modulus of 100 cm3. */
const margin = ({ load_n = Number.NaN, yield_mpa = Number.NaN }: Record<string, number>): number =>
  yield_mpa - (load_n * 2) / 1e-4 / 1e6;

function needsPython(context: Mocha.Context): void {
  if (spawnSync('python3', ['--version']).status === 0) return;
  if (process.env.SIMBATCH_REQUIRE_ALL === '1') throw new Error('python3 is needed');
  context.skip();
}

describe('examples/beam', () => {
  it('is a valid study', async () => {
    const { submission } = await loadStudy(`${folder}study.yaml`);
    expect(submission.requirements).to.have.length(2);
  });

  it('computes stress, margin and deflection by their closed forms', async function () {
    needsPython(this);
    const parameters = { load_n: 12_345, yield_mpa: 251.5, modulus_gpa: 205 };
    const ended = await runProgram({ command: PYTHON, config: { run_id: 3, parameters, metadata: {} } });
    expect(ended.stderr).to.equal('');
    const found = ended.metadata as Record<string, number>;
    expect(found['margin_mpa']).to.be.closeTo(margin(parameters), 1e-9);
    expect(found['stress_mpa']).to.be.closeTo(246.9, 1e-9);
    expect(found['deflection_mm']).to.be.closeTo((1e3 * 12_345 * 8) / (3 * 205e9 * 5e-6), 1e-9);
  });

  it('refuses a configuration without its parameters in one line', async function () {
    needsPython(this);
    const ended = await runProgram({ command: PYTHON, config: { run_id: 3, parameters: {}, metadata: {} } });
    expect(ended.code).to.equal(2);
    expect(ended.stderr).to.match(/^beam: .*load_n is missing or is not a number\n$/);
  });

  it('holds with the probability that its README gives', () => {
    const tails = { p: 0, q: 0 };
    normalTails((250 - 200) / Math.hypot(15, 20), tails);
    const exact = tails.p;
    expect(page).to.include(exact.toFixed(6));
    const { config } = parse(readFileSync(`${folder}study.yaml`, 'utf8')) as BatchSubmission;
    const runs = 65_536;
    const plan = { ...config.monte_carlo, runs, sampling_method: 'quasi_monte_carlo', seed: 1 } as const;
    const sampler = createSampler(config.dispersions, plan);
    let held = 0;
    for (let run = 0; run < runs; run++) held += Number(margin(sampler.parameters(run)) >= 0);
    expect(held / runs).to.be.closeTo(exact, 5e-4);
  });
});
