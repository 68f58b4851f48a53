/** The memory of a runner that takes a million samples. */
import { expect } from 'chai';
import { recoverTelemetry } from '../../../../src/runner/telemetry/recover.ts';
import { atEnd, cleanUp, connect, send, temporaryDirectory } from '../../../runner/telemetry/support.ts';
import { startElsewhere } from './processes.ts';

const SERVICE = '/svc.telemetry.v1.Telemetry';
const raw = (bytes: Buffer): Buffer => bytes;

/** An encoded SampleBatch; all its times differ, those of the next are the same again. */
function batchOf(samples: number, variables: number): Buffer {
  const encoded = Array.from({ length: samples }, (_, time) => {
    const entries = Array.from({ length: variables }, (_unused, index) => {
      const entry = Buffer.concat([
        Buffer.from([0x0a, 10]),
        Buffer.from(`variable_${index}`),
        Buffer.from([0x11]),
        Buffer.alloc(8),
      ]);
      entry.writeDoubleLE(Math.sin(time + index), entry.length - 8);
      return Buffer.concat([Buffer.from([0x12, entry.length]), entry]);
    });
    const sample = Buffer.concat([Buffer.from([0x08, 0x80 | (time & 0x7f), time >> 7]), ...entries]);
    return Buffer.concat([Buffer.from([0x0a, 0x80 | (sample.length & 0x7f), sample.length >> 7]), sample]);
  });
  return Buffer.concat(encoded);
}

describe('runner/telemetry: memory', () => {
  afterEach(cleanUp);

  it('a million samples pass within bounded memory, and none is lost', async () => {
    const directory = temporaryDirectory();
    const { url, ask, child, exited } = await startElsewhere(directory, 'usual');
    const client = connect(url);
    atEnd(() => client.close());
    const message = batchOf(200, 8);
    const open = (done: unknown) => client.makeClientStreamRequest(`${SERVICE}/StreamBatch`, raw, raw, done);
    await send(open, Array.from<Buffer>({ length: 1000 }).fill(message));
    const early = Number(await ask('peak'));
    await send(open, Array.from<Buffer>({ length: 4000 }).fill(message));
    const late = Number(await ask('peak'));
    await ask('flush');
    child.kill('SIGKILL');
    await exited;
    expect(await recoverTelemetry(directory)).to.include({ rows: 1_000_000 });
    // Kept in memory, 800,000 rows of eight doubles would be 83 MB at least.
    expect((late - early) / 2 ** 20).to.be.lessThan(70);
  });
});
