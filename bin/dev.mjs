// Development server: coordinator, runner and dashboard from the TypeScript sources, restarted when a source file changes.
// Plain JavaScript, because it runs before anything is built.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dataDir = join(root, 'data', 'dev');
const port = process.env.SIMBATCH_DEV_PORT ?? '7070';
const endpoint = `http://127.0.0.1:${port}`;
const example = join(root, 'examples', 'sounding-rocket', 'simulation.mjs');
const tsx = join(root, 'node_modules', '.bin', 'tsx');
const vite = join(root, 'node_modules', '.bin', 'vite');
const program = join(root, 'src', 'cli', 'programs', 'simbatch.ts');

mkdirSync(dataDir, { recursive: true });
/** The processes, in the order in which they are started. `tsx watch` restarts its program when an imported file changes. */
const PROCESSES = [
  ['coordinator', tsx, ['watch', program, 'serve', '--port', port, '--data-dir', dataDir]],
  [
    'runner',
    tsx,
    [
      'watch',
      program,
      'runner',
      '--runner-id',
      'dev',
      '--max-concurrent-jobs',
      '1',
      '--engines',
      'sounding-rocket',
      '--entrypoint',
      example,
      '--output-root',
      join(dataDir, 'output'),
    ],
  ],
  ['dashboard', vite, ['-c', 'web/vite.config.ts', '--host', '127.0.0.1', '--clearScreen', 'false']],
];

const children = PROCESSES.map(([name, command, args]) => {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, SVC_ENDPOINT: endpoint, SIMBATCH_DEV_PORT: port, NODE_OPTIONS: '--enable-source-maps' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      for (const line of text.split('\n')) if (line !== '') process.stdout.write(`${name.padEnd(12)} ${line}\n`);
    });
  }
  child.on('exit', (code, signal) => {
    process.stdout.write(`${name.padEnd(12)} ended (${signal ?? `exit code ${code}`})\n`);
    stop();
  });
  return child;
});

function stop() {
  for (const child of children) if (child.exitCode === null) child.kill('SIGTERM');
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
