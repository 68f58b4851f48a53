/** Histories and derived outputs through real runners: closed forms of a throw, simulations that give histories themselves, bad input, a flood. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type {
  BatchConfig,
  DerivedConfig,
  HistoryConfig,
  OutcomeReport,
  ReportedResult,
} from '../../../../src/contract/types.ts';
import { packageRoot } from '../../../../src/base/package.ts';
import { historyValues } from '../../../../src/domain/histories/values.ts';
import { skipWithout, withoutProgram } from '../../support.ts';
import { freshSite } from '../../../support/fresh-site.ts';
import type { FakeCoordinator, FakeJob, JobSpec } from '../../../support/fake-coordinator.ts';
import { pythonFault } from '../../../support/runner-modes.ts';
import type { RunnerProcess, Site } from '../../../support/runner-process.ts';

const SIMULATIONS = join(packageRoot, 'test/support/simulations');
const [SPEED, GRAVITY, LIMIT] = [40, 9.80665, 50];
const ROOT = Math.sqrt(SPEED ** 2 - 2 * GRAVITY * LIMIT);
const FLIGHT = (2 * SPEED) / GRAVITY;

const HISTORIES: HistoryConfig[] = [
  { variable: 'z', at: { from: 0, to: 10, step: 0.25 } },
  { name: 'around', variable: 'z', at: { points: [-2, -0.5, 0, 1.25] }, origin: 'first(vz < 0)' },
  { name: 'own', variable: 'own', at: { points: [0, 1, 2] } },
];
const DERIVED: DerivedConfig[] = [
  { name: 'apogee', take: 'max', telemetry: 'z' },
  { name: 'apogee_at', take: 'time', at: 'first(vz < 0)' },
  { name: 'flight', take: 'time', at: 'first(z < 0)' },
  { name: 'crossing', take: 'time', at: `first(z > ${LIMIT})` },
  { name: 'above', take: 'duration', while: `z > ${LIMIT}` },
  { name: 'speed_there', take: 'value', telemetry: 'vz', at: `first(z > ${LIMIT})` },
  { name: 'doubled', expression: 'outputs.above * 2 + outputs.landed + 0 * parameters.mass' },
  { name: 'none', take: 'time', at: 'first(z > 1000)' },
];
const DECLARED: Pick<BatchConfig, 'histories' | 'derived'> = { histories: HISTORIES, derived: DERIVED };

const valuesOf = (result: ReportedResult | undefined, name: string): number[] => [
  ...historyValues(Buffer.from(result?.histories?.[name] ?? '', 'base64')),
];

function expectThrow(result: ReportedResult | undefined): void {
  // A linear crossing is off by at most g dt^2 / 8 over the speed there.
  const wanted: Record<string, number> = {
    apogee: SPEED ** 2 / (2 * GRAVITY),
    apogee_at: SPEED / GRAVITY,
    flight: FLIGHT,
    crossing: (SPEED - ROOT) / GRAVITY,
    above: (2 * ROOT) / GRAVITY,
    speed_there: ROOT,
    doubled: (4 * ROOT) / GRAVITY + 1,
  };
  for (const [name, value] of Object.entries(wanted))
    expect(result?.metadata?.[name], name).to.be.closeTo(
      value,
      name === 'apogee' || name === 'speed_there' ? 2e-4 : 2e-5,
    );
  expect(result?.metadata).not.to.have.property('none');
  expect(result?.derived_missing).to.deep.equal({ none: 'there was no first(z > 1000)' });
  const z = valuesOf(result, 'z');
  expect(z).to.have.length(41);
  for (const [index, value] of z.entries()) {
    const time = index / 4;
    if (time > FLIGHT + 0.01) expect(value, `at ${time}`).to.be.NaN;
    else expect(value, `at ${time}`).to.be.closeTo(SPEED * time - (GRAVITY / 2) * time * time, 1e-9);
  }
  for (const [index, offset] of [-2, -0.5, 0, 1.25].entries())
    expect(valuesOf(result, 'around')[index]).to.be.closeTo(
      SPEED ** 2 / (2 * GRAVITY) - (GRAVITY / 2) * offset ** 2,
      2e-4,
    );
}

describe('runner: histories and derived outputs', () => {
  let fake: FakeCoordinator;
  let site: Site;
  freshSite((it) => ({ fake, site } = it));

  const env = { PYTHONPATH: join(packageRoot, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' };
  const start = (entrypoint: string, flags: readonly string[] = []): RunnerProcess =>
    site.start(fake.url, ['--entrypoint', entrypoint, ...flags], env);
  const isOver = (job: FakeJob): boolean => ['Completed', 'Failed'].includes(job.job.status);

  async function ended(spec: JobSpec): Promise<OutcomeReport & { type: 'complete' | 'fail' }> {
    const [job] = fake.add({ declared: DECLARED, telemetry: { sampling_rate_hz: 1, variables: ['vz'] }, ...spec });
    await fake.until('it is over', () => isOver(job!));
    const last = job!.accepted.at(-1);
    if (last?.type !== 'complete' && last?.type !== 'fail') throw new Error('it has not ended');
    return last;
  }

  const compiled = (): string => {
    const program = join(site.folder, 'throw');
    execFileSync('cc', ['-O1', '-o', program, join(SIMULATIONS, 'throw.c')]);
    return program;
  };
  const node = () => join(SIMULATIONS, 'throw.mjs');
  const python = () => join(SIMULATIONS, 'throw.py');

  const WAYS: {
    title: string;
    entrypoint: () => string;
    flags?: string[];
    isShared?: boolean;
    isMissing?: boolean;
    needs?: string;
  }[] = [
    { title: 'a Node process', entrypoint: node },
    { title: 'a Node that waits', entrypoint: node, flags: ['--warm'] },
    { title: 'a Python process', entrypoint: python, isMissing: pythonFault() !== undefined },
    {
      title: 'a fork of a warm Python',
      entrypoint: python,
      flags: ['--warm'],
      isMissing: pythonFault() !== undefined,
    },
    {
      title: 'an interpreter that executes run after run',
      entrypoint: python,
      flags: ['--warm'],
      isShared: true,
      isMissing: pythonFault() !== undefined || !existsSync('/proc/self/environ'),
    },
    { title: 'a program in C', entrypoint: compiled, needs: 'cc' },
  ];
  for (const { title, entrypoint, flags, isShared, isMissing: skipped, needs } of WAYS)
    it(`have the closed forms of a throw in ${title}, of all samples before their reduction`, async function () {
      if (skipped === true) return this.skip();
      if (needs !== undefined) skipWithout(this, withoutProgram(needs));
      if (isShared === true) fake.isolation = 'shared';
      start(entrypoint(), flags);
      const isC = title.endsWith('C');
      const derived = isC
        ? DERIVED.map((it) => (it.name === 'doubled' ? { ...it, expression: '2 * outputs.above + 1' } : it))
        : DERIVED;
      for (let run = 0; run < 2; run++) {
        const end = await ended({ declared: { ...DECLARED, derived } });
        expect(end.type, JSON.stringify(end)).to.equal('complete');
        expectThrow(end.result);
        expect(valuesOf(end.result, 'own')).to.deep.equal([NaN, NaN, NaN]);
        const notes = end.result?.metadata?.['simbatch_notes'];
        expect(notes).to.deep.equal(['the history "own" has no value: no sample of "own" arrived']);
      }
    });

  for (const simulation of ['throw.mjs', 'throw.py'])
    it(`${simulation} gives a history itself, one of another length fails the run, and so does an output of a derived name`, async function () {
      if (simulation.endsWith('.py') && pythonFault() !== undefined) return this.skip();
      start(join(SIMULATIONS, simulation));
      const given = await ended({ environment: { SIM_THROW: 'given' } });
      expect(given.type, JSON.stringify(given)).to.equal('complete');
      expect(valuesOf(given.result, 'own')).to.deep.equal([1, NaN, 3]);
      expect(given.result?.metadata).not.to.have.any.keys('histories', 'simbatch_notes');
      expectThrow(given.result);
      const short = await ended({ environment: { SIM_THROW: 'short' } });
      expect(short).to.include({
        type: 'fail',
        reason: 'invalid',
        error_message:
          'the history "own" in metadata.json has 2 values, and the study declares 3 times; give one number or null for each',
      });
      const twice = await ended({ environment: { SIM_THROW: 'twice' } });
      expect(twice).to.include({
        type: 'fail',
        reason: 'invalid',
        error_message: 'the simulation wrote the output "apogee", which the study derives; rename one of them',
      });
      expect(twice.result?.metadata).to.include({ apogee: 1, landed: true });
      const undeclared = await ended({ environment: { SIM_THROW: 'given' }, declared: {} });
      expect(undeclared.type).to.equal('complete');
      expect(undeclared.result).not.to.have.property('histories');
      expect(undeclared.result?.metadata?.['simbatch_notes']).to.deep.equal([
        'the history "own" in metadata.json is not used: the study declares none of this name',
      ]);
    });

  it('the runner says at its registration that it computes them', async () => {
    start(node());
    await fake.until('it is registered', () => fake.registrations.length > 0);
    expect(fake.registrations[0]?.capabilities.features).to.deep.equal(['histories', 'extraction', 'scenarios']);
  });

  it('samples that came too late are counted by variable in the result, which completes', async () => {
    start(join(SIMULATIONS, 'measured.mjs'));
    const histories = ['a', 'b'].map((variable): HistoryConfig => ({ variable, at: { points: [5, 101] } }));
    const end = await ended({ environment: { MEASURE: 'late' }, declared: { histories } });
    expect(end.type, JSON.stringify(end)).to.equal('complete');
    expect(valuesOf(end.result, 'a')).to.deep.equal([NaN, 1000]);
    expect(valuesOf(end.result, 'b')).to.deep.equal([NaN, NaN]);
    expect(end.result?.telemetry).to.deep.include({ samples: 70_010, lost: 0 });
    expect(end.result?.metadata?.['simbatch_notes']).to.deep.equal([
      'the history "b" has no value: no sample of "b" arrived in time: 10 came too late',
      '10 telemetry values of "b" came too late to be put in the order of their times: histories and derived outputs are without them',
    ]);
  });

  it('a flood with 32 histories in bounded memory: nothing is lost, and other runs are not held up', async () => {
    const runner = start(join(SIMULATIONS, 'measured.mjs'));
    const histories = Array.from({ length: 32 }, (_, index): HistoryConfig => ({
      name: `h${index}`,
      variable: index % 2 === 0 ? 'a' : 'b',
      at: { from: 0, to: 1000, step: 0.5 },
      ...(index < 16 ? {} : { origin: `first(a > ${index})` }),
    }));
    const derived: DerivedConfig[] = [{ name: 'mean_a', take: 'mean', telemetry: 'a' }];
    const declared = { histories, derived };
    const [flood] = fake.add({ environment: { MEASURE: 'flood', SAMPLES: '1000000' }, declared });
    await fake.until('it runs', () => flood!.job.status === 'Running');
    const [other] = fake.add({ environment: { MEASURE: 'table' } });
    await fake.until('both are over', () => isOver(flood!) && isOver(other!));
    expect([flood!.job.status, other!.job.status]).to.deep.equal(['Completed', 'Completed']);
    const last = flood!.accepted.at(-1);
    if (last?.type !== 'complete') throw new Error('not completed');
    const { result } = last;
    expect(result.telemetry).to.deep.include({ samples: 1_000_000, lost: 0 });
    expect(result.metadata?.['mean_a']).to.be.closeTo(499_999.5, 1e-6);
    for (let index = 0; index < 32; index++) {
      const origin = index < 16 ? 0 : index / 1000;
      const wanted = Array.from({ length: 2001 }, (_, at) => {
        const time = origin + at * 0.5;
        if (time > 999.999) return NaN;
        return (index % 2 === 0 ? 1 : -1) * time * 1000;
      });
      for (const [at, value] of valuesOf(result, `h${index}`).entries()) {
        if (Number.isNaN(wanted[at])) expect(value).to.be.NaN;
        else expect(value).to.be.closeTo(wanted[at]!, 1e-6);
      }
    }
    // The samples that were read a second time have left no file.
    const run = join(site.folder, 'out', flood!.job.batch_id);
    expect(readdirSync(run, { recursive: true }).filter((it) => String(it).endsWith('.samples'))).to.deep.equal([]);
    const status = readFileSync(`/proc/${runner.process.pid}/status`, 'utf8');
    const peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    expect(peakMb).to.be.below(600);
  });
});
