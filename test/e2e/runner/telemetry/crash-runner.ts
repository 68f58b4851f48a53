// A process for the tests to kill or to weigh: telemetry of one job in the directory named by its first argument; with
// `small` as the second, row groups are so small that journal, row groups and footers alternate. Reports to its parent the
// address; answers `flush` when it has, and `peak` with the most memory it has used, in bytes.
import { startTelemetry } from '../../../../src/runner/telemetry/server.ts';
import { telemetryConfig, timers } from '../../../runner/telemetry/support.ts';

const telemetry = await startTelemetry({
  telemetry: telemetryConfig({
    buffer_flush_interval_seconds: 0,
    storage: { s3_bucket: '', s3_prefix: '', compression: 'snappy' },
  }),
  earlyTermination: { enabled: false, check_frequency_hz: 1, conditions: [] },
  directory: process.argv[2] ?? '',
  token: 'not sent',
  isOwnPeer: async () => true,
  onConditionMet: () => undefined,
  world: timers,
  limits: process.argv[3] === 'small' ? { rowGroupValues: 3000, rowGroupRows: 1500, rowGroupValuesAtFlush: 600 } : {},
});
process.on('message', (message) => {
  if (message === 'peak') process.send?.(process.resourceUsage().maxRSS * 1024);
  else void telemetry.flush().then(() => process.send?.('flushed'));
});
process.send?.(telemetry.url);
