/** The telemetry of drawn runs: what is decoded, what is kept, and what a file that cannot be read leads to. */
import { expect } from 'chai';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { TelemetryBand } from '../../../../src/contract/answers/band.ts';
import { telemetryBandOf } from '../../../../src/analysis/band/telemetry.ts';
import { DrawnRuns, type TelemetryReading } from '../../../../src/coordinator/answers/worker/telemetry/drawn-runs.ts';
import { samplesIn } from '../../../../src/coordinator/answers/worker/telemetry/samples.ts';
import { runIdOf } from '../../../../src/domain/ids.ts';
import { strictFaults } from '../../../support/strict-schema.ts';
import { tableOf, times } from '../../../analysis/tables.ts';

type Value = number | null;

/** A telemetry file of samples 1 s apart, the first one at `first` ns. */
function telemetryOf(columns: Record<string, Value[]>, { order = (at: number) => at, first = 0n } = {}): Uint8Array {
  const rows = Object.values(columns)[0]!.length;
  const clock = Array.from({ length: rows }, (_, at) => first + BigInt(order(at)) * 1_000_000_000n);
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'timestamp_ns', data: clock, type: 'INT64' },
        ...Object.entries(columns).map(([name, data]) => ({ name, data, type: 'DOUBLE', nullable: true }) as const),
      ],
    }),
  );
}

const BATCH_ID = '0195a1b2-c3d4-8e5f-a012-345600000000';
const study = (runs: number) => ({ ...tableOf(times(runs, 1)), batchId: BATCH_ID });

describe('coordinator/answers/worker/telemetry: samples', () => {
  it('keeps the zero of a simulation, and counts from the first sample by the clock of the machine', async () => {
    const simulated = await samplesIn(telemetryOf({ a: [1, 2] }, { first: 10_000_000_000n }));
    expect([simulated.startSecs, simulated.endSecs]).to.deep.equal([10, 11]);
    const timed = await samplesIn(telemetryOf({ a: [1, 2] }, { first: 1_770_000_000_123_456_789n }));
    expect([timed.startSecs, timed.endSecs]).to.deep.equal([0, 1]);
  });

  it('leaves out values that are missing or not finite', async () => {
    const { endSecs, variables } = await samplesIn(
      telemetryOf({ a: [1, null, NaN, 4], b: [null, null, Infinity, null] }),
    );
    expect(endSecs).to.equal(3);
    expect([...variables.keys()]).to.deep.equal(['a']);
    expect(variables.get('a')).to.deep.equal({ secs: Float64Array.of(0, 3), values: Float64Array.of(1, 4) });
  });

  it('brings samples into the order of time', async () => {
    const { variables } = await samplesIn(telemetryOf({ a: [1, 2, 3] }, { order: (at) => [0, 2, 1][at]! }));
    expect(variables.get('a')).to.deep.equal({ secs: Float64Array.of(0, 1, 2), values: Float64Array.of(1, 3, 2) });
  });

  it('keeps a bounded number of samples, the first and the last among them', async () => {
    const { variables } = await samplesIn(telemetryOf({ a: Array.from({ length: 10_001 }, (_, at) => at) }));
    const { secs, values } = variables.get('a')!;
    expect(secs.length).to.be.within(1_000, 2_001);
    expect([values[0], values.at(-1), secs.at(-1)]).to.deep.equal([0, 10_000, 10_000]);
  });

  it('refuses a file that is not telemetry', async () => {
    const other = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'x', data: [1, 2], type: 'DOUBLE' }] }));
    for (const bytes of [other, new Uint8Array(100), new TextEncoder().encode('PAR1 nothing PAR1')]) {
      let refusal = '';
      await samplesIn(bytes).catch((error: Error) => (refusal = error.message));
      expect(refusal).to.not.equal('');
    }
  });
});

describe('coordinator/answers/worker/telemetry: drawn runs', () => {
  const clock = { monotonicMs: () => 0 };

  /** The telemetry band of drawn runs. */
  async function bandOf(runs: DrawnRuns, count: number, without?: number) {
    const { telemetry, isLasting } = await runs.of(study(count), 1000, { without });
    return { band: telemetryBandOf(study(count), telemetry), isLasting };
  }

  it('say how many runs they are made of, and which could not be read', async () => {
    const reads: number[] = [];
    let isBack = false;
    const bands = new DrawnRuns(async (job): Promise<TelemetryReading> => {
      const run = runIdOf(job);
      reads.push(run);
      if (run === 3) return { why: 'it has no telemetry', isLasting: true };
      if (run === 5 && !isBack) return { why: 'runner "r" is gone', isLasting: false };
      if (run === 6) return { bytes: new Uint8Array(7) };
      return { bytes: telemetryOf({ y: [run, run + 1] }) };
    }, clock);
    const first = await bandOf(bands, 10, 0);
    expect(strictFaults(TelemetryBand, first.band)).to.deep.equal([]);
    expect(first.isLasting).to.equal(false);
    const { of, drawn_from, sampled, read, unread, sentence, variables } = first.band;
    expect({ of, drawn_from, sampled, read }).to.deep.equal({ of: 10, drawn_from: 9, sampled: 9, read: 6 });
    expect(sentence).to.equal('band of 6 of 10 runs; 3 runs could not be read');
    expect(unread.map((it) => `${it.run_id}: ${it.reason}`)).to.include.members([
      '3: it has no telemetry',
      '5: runner "r" is gone',
    ]);
    expect(unread[2]!.reason).to.match(/^its telemetry file is not readable: /);
    // Runs 1, 2, 4, 7, 8 and 9.
    expect(variables[0]!.median[0]).to.equal(5.5);
    isBack = true;
    reads.length = 0;
    const second = await bandOf(bands, 10, 0);
    expect(reads, 'files that were read are not read again').to.deep.equal([3, 5, 6]);
    expect([second.isLasting, second.band.read]).to.deep.equal([true, 7]);
  });

  it('read at most 64 files of a large study, four at a time, within their time', async () => {
    let [running, most, files] = [0, 0, 0];
    let now = 0;
    const bands = new DrawnRuns(
      async (): Promise<TelemetryReading> => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        files++;
        if (files === 20) now = 2000;
        return { bytes: telemetryOf({ y: [1, 2] }) };
      },
      { monotonicMs: () => now },
    );
    const { band, isLasting } = await bandOf(bands, 5000);
    expect(most).to.equal(4);
    expect([band.sampled, band.read + band.unread.length, isLasting]).to.deep.equal([64, 64, false]);
    expect(band.read).to.be.within(20, 24);
    expect(band.unread[0]!.reason).to.equal('the time for reading was over');
    now = 0;
    expect((await bandOf(bands, 5000)).band.read).to.equal(64);
  });
});
