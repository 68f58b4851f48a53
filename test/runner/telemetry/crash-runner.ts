// A process for crash.test.ts to kill: telemetry of one job in the directory named by its argument, with row groups so
// small that journal, row groups and footers alternate. Tells its parent the address; flushes when it is told to.
import { startTelemetry } from '../../../src/runner/telemetry/server.ts';
import { telemetryConfig, timers } from './support.ts';

const telemetry = await startTelemetry({
  telemetry: telemetryConfig({
    buffer_flush_interval_seconds: 0,
    storage: { s3_bucket: '', s3_prefix: '', compression: 'snappy' },
  }),
  earlyTermination: { enabled: false, check_frequency_hz: 1, conditions: [] },
  directory: process.argv[2] ?? '',
  onConditionMet: () => undefined,
  world: timers,
  limits: { rowGroupValues: 3000, rowGroupRows: 1500, rowGroupValuesAtFlush: 600 },
});
process.on('message', () => {
  void telemetry.flush().then(() => process.send?.('flushed'));
});
process.send?.(telemetry.url);
