// Makes a fresh clone runnable: installs the locked packages and builds, each only when it is out of date.
// Plain JavaScript on Node's own modules, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.simbatch-setup');
const lockHash = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

/** Runs npm quietly; what it printed is shown only when it failed. */
function npm(...args) {
  const done = spawnSync(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { cwd: root, encoding: 'utf8' });
  if (done.status === 0) return;
  process.stderr.write(`${done.stdout ?? ''}${done.stderr ?? ''}\nset-up failed: npm ${args.join(' ')}\n`);
  process.exit(1);
}

const isFirst = !existsSync(stamp) || readFileSync(stamp, 'utf8') !== lockHash;
if (isFirst) {
  console.error('simbatch: installing packages (about a minute) ...');
  npm('ci', '--no-audit', '--no-fund', '--loglevel=error');
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lockHash);
}
if (!process.argv.includes('--no-build')) {
  if (isFirst) console.error('simbatch: building ...');
  npm('run', 'build', '--silent');
  if (isFirst) {
    console.error('simbatch: ready. `npm run demo` shows a study; the command itself, as `npm link` installs it:');
    console.error(`  alias simbatch="node ${join(root, 'dist', 'bin', 'simbatch.js')}"`);
  }
}
