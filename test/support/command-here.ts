/** A command line in this process: what it prints and its exit code, without the start of a program. */
import { run } from '../../src/cli/program.ts';
import type { Outcome } from './program.ts';

/** Runs a command to its end. One at a time, since it takes the output of the process. */
export async function commandHere(...args: readonly string[]): Promise<Outcome & { code: number }> {
  const printed = { stdout: '', stderr: '' };
  const streams = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (piece: string | Uint8Array, ...rest: unknown[]): boolean => {
      printed[name] += typeof piece === 'string' ? piece : Buffer.from(piece).toString();
      const done = rest.at(-1);
      if (typeof done === 'function') process.nextTick(done);
      return true;
    };
    return () => (stream.write = write);
  });
  try {
    return { code: await run(args), ...printed };
  } finally {
    for (const restore of streams) restore();
  }
}
