/** Tests of the histograms: their text must be that of prom-client's own histograms. */
import { expect } from 'chai';
import { Histogram, Registry } from 'prom-client';
import { OperationHistogram, PlainHistogram } from '../../src/http/histogram.ts';

const BUCKETS = [0.001, 0.01, 0.1, 1];
/** Below, at, between and above the bounds. */
const VALUES = [0, 0.0005, 0.001, 0.0011, 0.01, 0.05, 0.1, 1, 1.0001, 1e6, -1, 0.1, 0.2, 0.3];

describe('http/histogram', () => {
  it('writes the text that a histogram of prom-client with the same labels writes', async () => {
    const [expected, actual] = [new Registry(), new Registry()];
    const options = { name: 'took_seconds', help: 'Time "it" took.\nIn seconds.', buckets: BUCKETS };
    const reference = new Histogram({ ...options, labelNames: ['operation', 'status'], registers: [expected] });
    const own = new OperationHistogram<number>({ ...options, label: 'status', registry: actual });
    expect(await actual.metrics()).to.equal(await expected.metrics());
    for (const [index, value] of VALUES.entries()) {
      const [operation, status] = [index % 2 === 0 ? 'claim"Jobs' : 'none', index % 3 === 0 ? 404 : 200];
      reference.labels(operation, String(status)).observe(value);
      own.observe(operation, status, value);
      expect(await actual.metrics()).to.equal(await expected.metrics());
    }
    expect(await actual.metrics()).to.include('took_seconds_bucket{le="+Inf",operation="none",status="404"} 2');
    expect(await actual.getMetricsAsJSON()).to.have.length(1);
  });

  it('writes a histogram without labels from its start', async () => {
    const [expected, actual] = [new Registry(), new Registry()];
    const options = { name: 'records', help: 'Records written.', buckets: BUCKETS };
    const reference = new Histogram({ ...options, registers: [expected] });
    const own = new PlainHistogram({ ...options, registry: actual });
    expect(await actual.metrics()).to.equal(await expected.metrics());
    for (const value of VALUES) {
      reference.observe(value);
      own.observe(value);
    }
    expect(await actual.metrics()).to.equal(await expected.metrics());
    expect(await actual.metrics()).to.include('records_bucket{le="0.001"} 4');
  });
});
