// Runs groups of tests, each in processes side by side: `node bin/test.mjs quick e2e`. The groups follow from the folders.
// The list of files is made from the sources, so that tests of an earlier build are not run.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** One coordinator, one runner, one study: the test of real processes that belongs to the quick ones. */
const SMOKE = 'e2e/whole/first-study.test.ts';
const isE2e = (file) => file.startsWith('e2e/') && file !== SMOKE;
/** Tests of more than about 10 s of processor time a file. */
const isLong = (file) => file.endsWith('.long.test.ts');
const isNightly = (file) => file.startsWith('night/');
/** Tests that wait for a part of their time: for engines, time limits, and hosts that are silent. */
const isWaiting = (file) => /^e2e\/(clients|launcher|object-store|runner|site)\//.test(file);
const isSimulation = (file) => /^sim\/(launcher\/)?[a-z]+(\.long)?\.test\.ts$/.test(file);
/** Tests of real processes that try a part of the cases by day, chosen by chance, or fewer runs. */
const isSampled = (file) => ['e2e/launcher/whole.test.ts', 'e2e/object-store/stores.test.ts'].includes(file);

/**
 * The files of a group, and their order: a process takes the next file when it has finished one, so the files and folders with the longest
 * tests are first, by the beginnings of their paths. The files of `spread` are at equal distances between the others.
 */
const GROUPS = {
  quick: {
    has: (file) => !isE2e(file) && !isLong(file) && !isNightly(file),
    first: ['sim/', 'coordinator/', 'e2e/', 'http/'],
    about: 'tests that need nothing but Node',
    command: 'npm test',
  },
  e2e: {
    has: (file) => isE2e(file) || isLong(file),
    first: [
      // Minutes each.
      ...['clients/python-package', 'runner/hostile', 'site/images', 'object-store/stores'].map((it) => `e2e/${it}.`),
      ...['whole/rare-events', 'launcher/whole', 'launcher/ssh/engine', 'whole/selftest', 'whole/release'].map(
        (it) => `e2e/${it}.`,
      ),
      ...['clients', 'object-store', 'launcher', 'site', 'runner', 'web', 'whole', 'cli'].map((it) => `e2e/${it}/`),
      'sim/',
      'coordinator/',
    ],
    spread: isWaiting,
    about: 'tests that start processes, browsers, servers or compilers, and the long ones',
    jobs: 5,
    command: 'npm run test:all',
  },
  night: {
    has: (file) => isNightly(file) || isSimulation(file) || isSampled(file),
    first: ['sim/', 'night/'],
    about:
      'injected bugs, 20,000 worlds in the simulation, the launcher killed at each step, and extractions of 400 runs',
    command: 'npm run test:night',
    env: { SIM_SEEDS: '20000', LAUNCHER_STRIDE: '1', EXTRACTED_RUNS: '400' },
  },
};

function filesOf({ has, first, spread = () => false }) {
  const rank = (file) => (first.findIndex((it) => file.startsWith(it)) + first.length + 1) % (first.length + 1);
  const files = readdirSync(join(root, 'test'), { recursive: true })
    .map((it) => it.replaceAll('\\', '/'))
    .filter((it) => it.endsWith('.test.ts') && has(it))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const placed = [files.filter((it) => !spread(it)), files.filter(spread)].flatMap((them) =>
    them.map((it, index) => ({ it, at: (index + 0.5) / them.length })),
  );
  return placed.sort((a, b) => a.at - b.at).map(({ it }) => join('dist', 'test', it.replace(/\.ts$/, '.js')));
}

/** Runs Mocha; resolves with its exit code. */
function mocha(files, args, env, jobs) {
  const program = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const child = spawn(process.execPath, [program, '--parallel', '--jobs', String(jobs), ...args, ...files], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

const option = process.argv.findIndex((it) => it.startsWith('-'));
const names = process.argv.slice(2, option === -1 ? undefined : option);
const args = option === -1 ? [] : process.argv.slice(option);
const unknown = names.filter((it) => !(it in GROUPS));
if (names.length === 0 || unknown.length > 0) {
  console.error(
    `tests not run: ${unknown.join(', ') || 'no group'} is not a group; name some of ${Object.keys(GROUPS).join(', ')}`,
  );
  process.exit(64);
}

const folder = mkdtempSync(join(tmpdir(), 'simbatch-tests-'));
const tallies = join(folder, 'tallies');

/** The tallies of the test files of each run of Mocha so far; a run that broke off has none. */
const counted = () =>
  readFileSync(tallies, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter(Boolean)
    .map((it) => JSON.parse(it));

/**
 * A second try, by itself, of the files of real processes that failed: browsers and engines of others share two cores. A fault
 * of the product fails again; what passes now is named, since it is either the machine or a race.
 */
const AGAIN_AT_MOST = 3;
async function again(name, tally) {
  const failed = Object.entries(tally).filter(([, { failures }]) => failures > 0);
  if (name !== 'e2e' || failed.length === 0 || failed.length > AGAIN_AT_MOST) return 1;
  const files = failed.map(([file]) => file);
  console.log(`\nagain, by themselves: ${files.join(', ')}`);
  const code = await mocha(files, args, { SIMBATCH_TEST_TALLIES: tallies }, 1);
  if (code === 0) console.log(`UNSTEADY: failed beside other files, passed alone: ${files.join(', ')}`);
  return code;
}

/** Compiles the Python package: a Python of the tests keeps no compiled code, and many of them import it. */
function compilePython() {
  const kept = readdirSync(root).filter((it) => it.startsWith('.venv-3.'));
  for (const python of ['python3', ...kept.map((it) => join(root, it, 'bin', 'python3'))])
    spawnSync(python, ['-m', 'compileall', '-q', join(root, 'clients', 'python')], { stdio: 'ignore' });
}

let exitCode = 0;
const files = {};
if (names.includes('e2e')) compilePython();
for (const name of names) {
  const { about, env = {}, jobs = 3 } = GROUPS[name];
  console.log(`${name}: ${about}`);
  const before = counted().length;
  const code = await mocha(filesOf(GROUPS[name]), args, { ...env, SIMBATCH_TEST_TALLIES: tallies }, jobs);
  const tally = counted()[before];
  if (tally === undefined || (code !== 0 && (await again(name, tally)) !== 0)) exitCode = 1;
  Object.assign(files, ...counted().slice(before));
}
rmSync(folder, { recursive: true });
for (const [name, group] of Object.entries(GROUPS)) {
  if (!names.includes(name))
    console.log(`left out: ${filesOf(group).length} files of ${group.about}; run them with \`${group.command}\``);
}
if (names.length > 1) {
  const sum = { passes: 0, failures: 0, pending: 0 };
  for (const tally of Object.values(files)) for (const [key, count] of Object.entries(tally)) sum[key] += count;
  console.log(`\n${sum.passes} passed, ${sum.failures} failed, ${sum.pending} skipped`);
}
process.exit(exitCode);
