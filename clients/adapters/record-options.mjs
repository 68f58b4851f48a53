// Loaded before a script of Node that `simbatch init` looks at: `util.parseArgs` writes the options with a number as their
// default to the file that is the last argument, and ends the script.
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import util from 'node:util';

const report = process.argv.pop();

util.parseArgs = ({ options = {} } = {}) => {
  const found = Object.entries(options).flatMap(([name, { type, default: value, multiple }]) => {
    const isNumber = type === 'string' && multiple !== true && typeof value === 'string' && value.trim() !== '';
    return isNumber && Number.isFinite(Number(value)) ? [{ name, value: Number(value), whole: false }] : [];
  });
  writeFileSync(report, JSON.stringify(found));
  process.exit(0);
};
syncBuiltinESMExports();
