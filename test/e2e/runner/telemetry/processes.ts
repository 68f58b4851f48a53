/** Processes of the telemetry tests: a runner to kill, and a reader of Parquet files. */
import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../../runner/telemetry/support.ts';

interface OtherRunner {
  url: string;
  child: ChildProcess;
  exited: Promise<unknown>;
  /** Sends a message and resolves to the next answer. */
  ask: (message: string) => Promise<unknown>;
}

/** Telemetry of a made-up job in a process of its own: see crash-runner.ts. */
export async function startElsewhere(directory: string, size: 'small' | 'usual'): Promise<OtherRunner> {
  const script = fileURLToPath(new URL('./crash-runner.js', import.meta.url));
  const child = fork(script, [directory, size], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const next = () => new Promise<unknown>((resolve) => child.once('message', resolve));
  atEnd(() => {
    child.kill('SIGKILL');
    return exited;
  });
  const url = await next();
  if (typeof url !== 'string') throw new Error('no address came');
  const ask = (message: string) => {
    const answer = next();
    child.send(message);
    return answer;
  };
  return { url, child, exited, ask };
}

/** Runs a Python script that needs pyarrow; undefined when the machine has none, unless everything is required. */
export function python(script: string, ...args: string[]): unknown {
  const guarded = `import sys\ntry:\n import pyarrow.parquet\nexcept ImportError:\n sys.exit(77)\n${script}`;
  const done = spawnSync('python3', ['-c', guarded, ...args], { encoding: 'utf8' });
  if (done.error !== undefined || done.status === 77) {
    if (process.env.SIMBATCH_REQUIRE_ALL === '1') throw new Error('python3 with pyarrow is required');
    return undefined;
  }
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout);
}
