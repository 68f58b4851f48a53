#!/usr/bin/env node
/** The command `simbatch`. */
import { endQuietlyOnClosedPipe } from '../src/cli/terminal/output.ts';
import { run } from '../src/cli/program.ts';

endQuietlyOnClosedPipe();
process.exitCode = await run(process.argv.slice(2));
