/** The command `simbatch`: the entry of its bundle. */
import { run } from '../program.ts';
import { endQuietlyOnClosedPipe } from '../terminal/output.ts';

endQuietlyOnClosedPipe();
process.exitCode = await run(process.argv.slice(2));
