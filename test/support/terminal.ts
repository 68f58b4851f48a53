/** The real program in a terminal of 80 columns and 24 rows. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Context } from 'mocha';
import { PROGRAM } from './program.ts';

/** Opens a pseudo-terminal of the given size, starts a program in it, and copies what it writes and reads. */
const IN_TERMINAL = `
import fcntl, os, pty, select, struct, sys, termios
rows, columns = int(sys.argv[1]), int(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
open_input = True
while True:
    ready, _, _ = select.select([terminal] + ([0] if open_input else []), [], [])
    if terminal in ready:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if data:
            os.write(terminal, data)
        else:
            open_input = False
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

export interface TerminalOutcome {
  code: number | null;
  /** Everything on the screen in the order of its writing, with control sequences, without carriage returns before line ends. */
  screen: string;
}

export interface TerminalOptions {
  env?: Record<string, string>;
  /** The program in place of this one, with its arguments. */
  program?: readonly string[];
  /** Typed when the text before it has appeared. */
  typed?: readonly (readonly [after: RegExp, keys: string])[];
  /** Called once, when the text has appeared. */
  seen?: { text: RegExp; act: () => void };
  columns?: number;
  rows?: number;
}

/** Skips a test where there is no Python to open a terminal; in the gate it has to be there. */
export function needTerminal(context: Context): void {
  if (spawnSync('python3', ['-c', 'import pty']).status === 0) return;
  if (process.env['SIMBATCH_REQUIRE_ALL'] === '1')
    throw new Error('python3 with pty is missing, which opens terminals');
  context.skip();
}

/** Runs a command in the terminal to its end. */
export async function inTerminal(args: readonly string[], options: TerminalOptions = {}): Promise<TerminalOutcome> {
  const { env = {}, program = [process.execPath, PROGRAM], typed = [], columns = 80, rows = 24 } = options;
  const child = spawn('python3', ['-c', IN_TERMINAL, String(rows), String(columns), ...program, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  const left = [...typed];
  let { seen } = options;
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    screen += piece;
    if (seen?.text.test(screen) === true) {
      seen.act();
      seen = undefined;
    }
    const [next] = left;
    if (next !== undefined && next[0].test(screen)) {
      left.shift();
      child.stdin.write(next[1]);
    }
  });
  // A command that does not end by itself is killed, and fails its test with `code` null.
  const limit = setTimeout(() => child.kill('SIGKILL'), 90_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  return { code, screen: screen.replaceAll('\r\n', '\n') };
}

// eslint-disable-next-line no-control-regex -- control sequences are removed
const SEQUENCES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** The text without colours and movements of the cursor. */
export const plain = (screen: string): string => screen.replaceAll(SEQUENCES, '').replaceAll('\r', '');
