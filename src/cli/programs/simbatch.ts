/** The command `simbatch`: the entry of its bundle. What it imports at the top is compiled at each start. */
import { keepCompiledCode } from '../../base/v8/compiled-code.ts';

keepCompiledCode();
const [{ run }, { endQuietlyOnClosedPipe }] = await Promise.all([
  import('../program.ts'),
  import('../terminal/output.ts'),
]);
endQuietlyOnClosedPipe();
process.exitCode = await run(process.argv.slice(2));
