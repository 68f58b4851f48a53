/** A runner that leaves: its last runs, outcomes and files, then its sign-off. */
import { plural } from '../../domain/plural.ts';
import type { Clock } from '../../base/clock.ts';
import type { RunnerConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { signOff, type SignOffOptions } from './sign-off.ts';

/** The last outcomes are delivered within the grace time, or within this time when less is left. */
const SHORTEST_FLUSH_MS = 2000;
/** How long ending the simulations may take after the grace time. */
const ABANDON_MS = 20_000;

/** The runner, as far as it is needed for leaving. */
export interface LeavingRunner extends Omit<SignOffOptions, 'runnerId'> {
  clock: Clock;
  log: Log;
  config: Pick<RunnerConfig, 'id' | 'graceSecs' | 'outputRoot'>;
  attempts: { readonly running: number; readonly size: number; interruptAll: (why: string) => void };
  /** Runs with files to send. */
  uploads: { readonly size: number };
  checkpoints: { readonly followed: number; readonly handBackMs: number };
  /** `stayMs`: how long it may stay for files, in ms. */
  lifetime: { readonly stayMs: number };
  /** Why it leaves, as a clause or the name of a signal. */
  why: string;
  /** A signal asked it to leave: it does not stay for files. */
  isSignalled: () => boolean;
  /** Resolves when the condition holds, after `ms`, or when the runner is stopped at once. */
  until: (holds: () => boolean, ms: number) => Promise<void>;
}

/** Why a runner takes no more runs; undefined while it does. `withFiles`: runs that have ended and have files to send. */
export function leavingReason(leaving: AbortSignal, running: number, withFiles: number): string | undefined {
  if (!leaving.aborted) return undefined;
  if (running > 0) return `it finishes ${plural(running, 'run')}`;
  return withFiles > 0
    ? `it sends the files of ${plural(withFiles, 'run')} to the object store`
    : 'it delivers its outcomes';
}

/** Waits for the grace time, hands back what is left, ends the heartbeats and signs off. */
export async function finish(runner: LeavingRunner): Promise<void> {
  const { config, clock, log, attempts, uploads, checkpoints, stop, until } = runner;
  log.info(`leaving: ${String(attempts.running)} runs in progress, ${String(config.graceSecs)} s of grace`);
  const graceEndMs = clock.monotonicMs() + config.graceSecs * 1000;
  await until(() => attempts.running === 0, config.graceSecs * 1000);
  const grace = `${String(config.graceSecs)} s of grace`;
  attempts.interruptAll(`it was stopped (${runner.why}), and the run did not end within ${grace}`);
  await until(() => attempts.running === 0, ABANDON_MS);
  // Runs that are handed back: their last checkpoints are sent before the sign-off gives them to other runners.
  const lastMs = checkpoints.followed > 0 ? checkpoints.handBackMs : 0;
  const flushMs = Math.max(lastMs + SHORTEST_FLUSH_MS, graceEndMs - clock.monotonicMs());
  await until(() => attempts.size === 0 && uploads.size === 0, flushMs);
  await stayForFiles(runner);
  if (stop.aborted) return;
  if (attempts.running > 0) {
    log.error(`${String(attempts.running)} runs could not be ended; not signing off, their lease protects them`);
    return;
  }
  await signOff({ ...runner, runnerId: config.id });
}

/** A runner that leaves by itself sends its files first. After a signal it keeps them in its spool, and says so. */
async function stayForFiles({ log, config, uploads, isSignalled, lifetime, until }: LeavingRunner): Promise<void> {
  const { stayMs } = lifetime;
  const runs = (): string => plural(uploads.size, 'run');
  if (uploads.size > 0 && !isSignalled() && stayMs > 0) {
    const most = `${String(Math.ceil(stayMs / 1000))} s at most`;
    log.info(`stays for ${most} to send the files of ${runs()}; claims no runs`);
    await until(() => uploads.size === 0 || isSignalled(), stayMs);
  }
  if (uploads.size === 0) return;
  const push = `simbatch files push --output-root ${config.outputRoot}`;
  log.warn(
    `the files of ${runs()} are not sent, and stay in ${config.outputRoot}: start this runner again, or ${push}`,
  );
}
