/** `npm run demo [-- RUNS]`: see `src/cli/demo/demo.ts`. */
import { demo } from '../src/cli/demo/demo.ts';

const given = process.argv[2];
if (given !== undefined && !/^[1-9]\d{0,5}$/.test(given)) {
  process.stderr.write(`demo: "${given}" is no number of runs from 1 to 999999\n`);
  process.exit(64);
}
process.exitCode = await demo(given === undefined ? undefined : Number(given));
