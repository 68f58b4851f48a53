/** Starts a process for a run from its command. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { withoutInherited } from '../processes/inherited-descriptors.ts';
import { systemCode } from '../system-error.ts';
import type { Ending, Launch, LaunchContext, LaunchedProcess, Launcher } from './launcher.ts';

type Child = ChildProcessByStdio<null, Readable, Readable>;

export const coldLauncher: Launcher = {
  async launch(launch: Launch, { scope, onProcess, onExit }: LaunchContext): Promise<LaunchedProcess | Ending> {
    let child: Child;
    try {
      child = scope.launch(() =>
        spawn(launch.command, launch.args, {
          cwd: launch.cwd,
          env: { ...launch.env, ...launch.contract },
          detached: true,
          stdio: withoutInherited(['ignore', 'pipe', 'pipe']),
        }),
      );
    } catch (error) {
      // Some refusals of the system are thrown (E2BIG), others are emitted.
      return { type: 'failed-to-start', code: systemCode(error) };
    }
    if (child.pid !== undefined) onProcess(child.pid);
    const ended = new Promise<Ending>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (child.pid === undefined) resolve({ type: 'failed-to-start', code: error.code });
      });
      child.once('exit', (code, signal) => {
        onExit();
        resolve(signal === null ? { type: 'exit', code: code ?? 0 } : { type: 'signal', signal });
      });
    });
    return { stdout: child.stdout, stderr: child.stderr, ended };
  },
};
