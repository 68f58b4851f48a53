// A simulation for a test to kill: sends a sample every few hundred microseconds to the address in its argument, and never ends.
import { connect } from '../../../runner/telemetry/support.ts';

const call = connect(process.argv[2] ?? '').Stream(() => undefined);
call.on('error', () => undefined);
for (let step = 0; ; step += 1) {
  call.write({ timestamp_ns: step, values: { step } });
  if (step % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
}
