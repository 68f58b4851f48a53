/** Histories and derived outputs from telemetry: what a run keeps for a second reading, its limits, and telemetry that is odd. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { DerivedConfig, HistoryConfig } from '../../../../src/contract/types.ts';
import { planOf } from '../../../../src/domain/histories/stream/plan.ts';
import { HistoryCollector } from '../../../../src/runner/telemetry/histories/collector.ts';
import { DEFAULT_LIMITS } from '../../../../src/runner/telemetry/limits.ts';
import { Sample } from '../../../../src/runner/telemetry/sample.ts';
import { VariableTable } from '../../../../src/runner/telemetry/variables.ts';
import { openBelow } from '../../../support/open-files.ts';
import { cleanUp, send, start, telemetryConfig, temporaryDirectory } from '../support.ts';

const HISTORIES: HistoryConfig[] = [
  { variable: 'z', at: { from: 0, to: 100, step: 10 } },
  { name: 'late', variable: 'z', at: { points: [-2, 0, 1] }, origin: 'last(v > 0)' },
];
const DERIVED: DerivedConfig[] = [
  { name: 'mean', take: 'mean', telemetry: 'z' },
  { name: 'there', take: 'value', telemetry: 'z', at: 'first(v < 50)' },
];
const NONE = { parameters: {}, outputs: new Map<string, unknown>() };
const NEVER = { aborted: false };

/** A collector, and a function that gives it z = t and v = 100 - t at `t` seconds. */
function collecting(directory: string, maxBytes?: number) {
  const collector = new HistoryCollector(planOf({ histories: HISTORIES, derived: DERIVED }), directory, maxBytes);
  const table = new VariableTable([], [], () => undefined, DEFAULT_LIMITS, collector.variables);
  const variables = ['v', 'z', 'w'].map((name) => table.find(Buffer.from(name), 0, 1));
  const sample = new Sample(3);
  const give = (t: number, [v, z]: [number, number] = [100 - t, t]): void => {
    const time = BigInt(Math.round(t * 1e9));
    sample.low = Number(BigInt.asUintN(32, time));
    sample.high = Number(time >> 32n);
    for (const [index, value] of [v, z, 7].entries()) {
      const variable = variables[index];
      if (typeof variable !== 'object') throw new Error('no variable');
      sample.variables[index] = variable;
      sample.values[index] = value;
    }
    sample.count = 3;
    collector.take(sample);
  };
  return { collector, give };
}

/** Samples every millisecond for 110 s, as far as telemetry is not held up. */
async function flood({ collector, give }: ReturnType<typeof collecting>): Promise<number> {
  let pauses = 0;
  for (let step = 0; step <= 110_000; step++) {
    give(step / 1000);
    if (!collector.pressed) continue;
    pauses++;
    await new Promise<void>((resolve) => collector.whenRelieved(resolve));
  }
  return pauses;
}

describe('runner/telemetry/histories', () => {
  afterEach(cleanUp);

  it('reads the samples of a long run a second time, from a file that has no name', async () => {
    const directory = join(temporaryDirectory(), 'attempt-1');
    const it = collecting(directory);
    await flood(it);
    await it.collector.complete(NEVER);
    expect(openBelow(dirname(directory))).to.deep.equal([]);
    const { histories, derived, late } = it.collector.evaluate(NONE);
    expect([...histories.get('z')!]).to.deep.equal(Array.from({ length: 11 }, (_, index) => index * 10));
    for (const [index, offset] of [-2, 0, 1].entries())
      expect(histories.get('late')![index]).to.be.closeTo(100 + offset, 1e-9);
    expect(derived.get('mean')).to.be.closeTo(55, 1e-9);
    expect(derived.get('there')).to.be.closeTo(50, 1e-9);
    expect(late.size).to.equal(0);
    expect(readdirSync(dirname(directory))).to.deep.equal([]);
  });

  const losses: [title: string, make: () => ReturnType<typeof collecting>, stop: { aborted: boolean }, why: RegExp][] =
    [
      [
        'its samples are more than are kept',
        () => collecting(join(temporaryDirectory(), 'a'), 1_000_000),
        NEVER,
        /^the run sent more than the 1000000 bytes of samples that are kept for it$/,
      ],
      [
        'the disk takes none',
        () => collecting('/dev/null/a'),
        NEVER,
        /^its samples could not be kept: E(EXIST|NOTDIR)/,
      ],
      [
        'reading them takes too long',
        () => collecting(join(temporaryDirectory(), 'a')),
        { aborted: true },
        /^reading its samples again took too long$/,
      ],
    ];
  for (const [title, make, stop, why] of losses)
    it(`computes the rest, and says what is missing, where ${title}`, async () => {
      const it = make();
      await flood(it);
      await it.collector.complete(stop);
      const { histories, derived, missing, empty } = it.collector.evaluate(NONE);
      expect([...histories.get('z')!]).to.deep.equal(Array.from({ length: 11 }, (_, index) => index * 10));
      expect([...histories.get('late')!]).to.deep.equal([NaN, NaN, NaN]);
      expect(empty.get('late')).to.match(why);
      expect(missing.get('there')).to.match(why);
      expect(derived.get('mean')).to.be.closeTo(55, 1e-9);
    });

  it('puts descending times in order within the buffer, and counts those beyond it', async () => {
    for (const [seconds, isWhole] of [
      [20, true],
      [110, false],
    ] as const) {
      const it = collecting(join(temporaryDirectory(), 'a'));
      for (let step = seconds * 1000; step >= 0; step--) it.give(step / 1000);
      await it.collector.complete(NEVER);
      const { derived, late } = it.collector.evaluate(NONE);
      if (isWhole) expect(derived.get('mean')).to.be.closeTo(10, 1e-9);
      expect(late.size > 0).to.equal(!isWhole);
    }
  });

  it('has no values of a run that sends nothing, or NaN alone, with the reasons', async () => {
    for (const [samples, why] of [
      [0, 'no sample of "z" arrived'],
      [5, 'every sample of "z" is NaN'],
    ] as const) {
      const it = collecting(join(temporaryDirectory(), 'a'));
      for (let step = 0; step < samples; step++) it.give(step, [NaN, NaN]);
      await it.collector.complete(NEVER);
      const { histories, missing, empty } = it.collector.evaluate(NONE);
      expect([...histories.get('z')!].every(Number.isNaN)).to.equal(true);
      expect([...histories.get('late')!]).to.deep.equal([NaN, NaN, NaN]);
      expect(missing.get('mean')).to.equal(why);
      expect(empty.get('z')).to.equal(why);
      expect(missing.get('there')).to.equal(why.replace('"z"', '"v"'));
    }
  });

  it('takes every sample of variables that are not stored, at full rate, beyond the limit of variables', async () => {
    const histories = new HistoryCollector(planOf({ histories: HISTORIES, derived: DERIVED }), temporaryDirectory());
    const limits = { maxVariables: 1 };
    const { telemetry, client } = await start({
      histories,
      limits,
      telemetry: telemetryConfig({ sampling_rate_hz: 1 }),
    });
    const samples = Array.from({ length: 1101 }, (_, step) => ({
      timestamp_ns: step * 1e8,
      values: { other: 1, z: step / 10, v: 100 - step / 10 },
    }));
    await send((callback) => client.Stream(callback), samples);
    const { rows, refusedValues } = await telemetry.close();
    await histories.complete(NEVER);
    const { derived, histories: values } = histories.evaluate(NONE);
    expect([rows, refusedValues]).to.deep.equal([111, 0]);
    expect(derived.get('mean')).to.be.closeTo(55, 1e-9);
    expect(derived.get('there')).to.be.closeTo(50, 1e-9);
    expect([...values.get('late')!]).to.deep.equal([98, 100, 101]);
  });
});
