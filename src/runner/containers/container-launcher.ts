/** Starts the container of a run, and makes its processes part of the run's scope. */
import type { Clock } from '../../base/clock.ts';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { CgroupLimits } from '../processes/cgroups.ts';
import type { Ending, Launch, LaunchContext, LaunchedProcess, Launcher } from '../launch/launcher.ts';
import { withoutInherited } from '../processes/inherited-descriptors.ts';
import { systemCode } from '../system-error.ts';
import type { ContainerRun, ContainerRuntime, ResolvedImage } from './runtime.ts';

export interface ContainerLauncherOptions extends Omit<ContainerRun, 'image' | 'cwd'> {
  runtime: ContainerRuntime;
  /** The image as the study names it. */
  image: string;
  resolve: () => Promise<ResolvedImage | Error>;
  clock: Clock;
}

/** Exit codes above this are the number of a signal and 128. */
const SIGNAL_BASE = 128;
/** Bytes of stderr that are kept, to distinguish a fault of the runtime from a failure of the simulation. */
const KEPT_BYTES = 4096;
/** How long the message of a runtime may follow its exit. */
const MESSAGE_MS = 250;

export class ContainerLauncher implements Launcher {
  readonly #options: ContainerLauncherOptions;

  constructor(options: ContainerLauncherOptions) {
    this.#options = options;
  }

  async launch(
    launch: Launch,
    { scope, onProcess, onExit, cancelled }: LaunchContext,
  ): Promise<LaunchedProcess | Ending> {
    const { runtime, resolve, image, limits, name, environment, clock } = this.#options;
    const resolved = await resolve();
    if (cancelled.aborted) return { type: 'signal', signal: 'SIGKILL' };
    if (resolved instanceof Error) {
      return {
        type: 'failed-to-start',
        code: undefined,
        detail: `the image ${image} cannot be used: ${resolved.message}`,
      };
    }
    if (launch.image !== undefined && resolved.digest !== launch.image) return { type: 'code-changed' };
    const { args, env } = runtime.commandOf({
      ...this.#options,
      image: resolved.reference,
      cwd: launch.cwd,
      environment: { ...environment, ...launch.contract },
    });
    const { detached } = runtime;
    if (detached !== undefined) {
      let killing: Promise<void> | undefined;
      scope.attach({
        what: `container ${name}`,
        // The scope asks again and again; a client of the runtime is a process.
        kill: () => (killing ??= detached.kill(name).finally(() => (killing = undefined))),
        isRunning: () => detached.isRunning(name),
        ignored: (Object.keys(limits) as (keyof CgroupLimits)[]).filter((it) => !runtime.enforces[it]),
      });
    }
    let child;
    try {
      child = scope.launch(() =>
        spawn(runtime.program, args, {
          cwd: launch.cwd,
          env,
          detached: true,
          stdio: withoutInherited(['ignore', 'pipe', 'pipe']),
        }),
      );
    } catch (error) {
      return { type: 'failed-to-start', code: systemCode(error) };
    }
    if (child.pid !== undefined) onProcess(child.pid);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-KEPT_BYTES);
    });
    const ended = new Promise<Ending>((settle) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        if (child.pid === undefined) settle({ type: 'failed-to-start', code: error.code });
      });
      child.once('exit', (code, signal) => {
        onExit();
        // The message of the runtime may arrive after the exit.
        // A client that was ended by a signal did not wait for its container.
        if (signal !== null) {
          settle({ type: 'signal', signal });
          return;
        }
        scope.detach();
        if (code === 0) settle({ type: 'exit', code });
        else {
          const judge = (): void => settle(this.#endingOf(code ?? 0, errors));
          child.stderr.once('close', judge);
          clock.after(MESSAGE_MS, judge);
        }
      });
    });
    const container = {
      runtime: runtime.version,
      image,
      ...(resolved.digest === undefined ? {} : { digest: resolved.digest }),
    };
    return { stdout: child.stdout, stderr: child.stderr, ended, container };
  }

  #endingOf(code: number, errors: string): Ending {
    const fault = this.#options.runtime.faultOf(code, errors);
    if (fault !== undefined) return { type: 'failed-to-start', code: undefined, detail: fault };
    const [signal] = Object.entries(constants.signals).find(([, number]) => number === code - SIGNAL_BASE) ?? [];
    return signal === undefined ? { type: 'exit', code } : { type: 'signal', signal: signal as NodeJS.Signals };
  }
}
