// `npm run release -- VERSION [--dry-run]`: packs the version, installs the file in an empty folder, flies the demo from there, and only
// then writes the version, commits and tags. A failure and a dry run leave the checkout as it was; nothing is sent anywhere.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { notesOf, RELEASED, releasedFiles, versionFault } from './release-files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

function fail(why) {
  process.stderr.write(`release failed: ${why}\n`);
  process.exit(1);
}

/** Runs a program in a folder and returns its output; a failure ends the release with it. */
function run(title, cwd, command, ...args) {
  process.stdout.write(`${title} ...\n`);
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (done.status !== 0) fail(`${title}: ${done.error?.message ?? ''}${done.stdout ?? ''}${done.stderr ?? ''}`);
  return done.stdout;
}

/** The arguments, checked against the checkout. */
function plan() {
  const options = { 'dry-run': { type: 'boolean' }, 'no-build': { type: 'boolean' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0) fail('one version is needed: npm run release -- 1.2.0 [--dry-run]');
  const fault = versionFault(version, JSON.parse(read('package.json')).version);
  if (fault !== undefined) fail(fault);
  const notes = notesOf(read('CHANGELOG.md'));
  if (notes === undefined) fail('CHANGELOG.md has no notes for a version that is not yet released; write them');
  const tag = `v${version}`;
  if (git('tag', '--list', tag) !== '') fail(`the tag ${tag} is there already; give a later version`);
  const isDry = values['dry-run'] === true;
  const changed = git('status', '--porcelain');
  if (!isDry && changed !== '') fail(`the work tree has changes; commit them:\n${changed}`);
  return { version, tag, notes, isDry, builds: values['no-build'] !== true };
}

/** The packed file of this version: the files of the built checkout, with the texts of the release. */
function pack(folder, version, texts) {
  const command = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const first = run('pack', root, 'npm', ...command).trim();
  run('unpack', folder, 'tar', '-xzf', first);
  rmSync(join(folder, first));
  const staged = join(folder, 'package');
  for (const [path, text] of texts) if (path !== 'package-lock.json') writeFileSync(join(staged, path), text);
  run(`pack ${version}`, staged, 'npm', ...command);
  return join(folder, `simbatch-${version}.tgz`);
}

/** Installs the file in an empty folder and uses it there as a program. */
function tryOut(file, folder, version) {
  const home = join(folder, 'project');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n');
  run(
    'install the file in an empty folder',
    home,
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    file,
  );
  const program = join(home, 'node_modules', '.bin', 'simbatch');
  const reported = run('simbatch --version', home, program, '--version').trim();
  if (reported !== version) fail(`the installed program says that it is ${reported}, and not ${version}`);
  run('simbatch demo 6', home, program, 'demo', '6');
}

const { version, tag, notes, isDry, builds } = plan();
const texts = releasedFiles(version, new Date().toISOString().slice(0, 10), read);
if (builds) run('build', root, 'npm', 'run', '--silent', 'build');
const folder = mkdtempSync(join(tmpdir(), 'simbatch-release-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const file = pack(folder, version, texts);
tryOut(file, folder, version);
if (isDry) {
  const changed = RELEASED.filter((path) => texts.get(path) !== read(path));
  process.stdout.write(`dry run: ${tag} would change ${changed.join(', ')}; its notes:\n\n${notes}\n`);
} else {
  for (const [path, text] of texts) writeFileSync(join(root, path), text);
  git('commit', '--quiet', '-m', `release: ${version}`, '--', ...RELEASED);
  git('tag', '--annotate', '--cleanup=verbatim', '-m', `simbatch ${version}\n\n${notes}\n`, tag);
  const kept = join(root, 'dist', 'release', `simbatch-${version}.tgz`);
  mkdirSync(join(root, 'dist', 'release'), { recursive: true });
  copyFileSync(file, kept);
  process.stdout.write(`${tag} is committed and tagged; the file is ${kept}\nsend both: git push --follow-tags\n`);
}
