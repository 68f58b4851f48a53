/**
 * The selftest: a study with a coordinator, two runners and simulations, undisturbed first and then with SIGKILL at named points;
 * the results of both must be equal. Everything happens in a folder of its own.
 */
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { verifyStore } from '../../coordinator/repair/verify.ts';
import type { BatchSubmission } from '../../contract/types.ts';
import { isDirectory, isWritable } from '../../base/directories.ts';
import { systemClock } from '../../base/clock.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { measureDisk } from './disk.ts';
import { Draws } from './draws.ts';
import { countExecutions, executeDisturbed, executeUndisturbed } from './execute.ts';
import { planKills } from './kill-points.ts';
import { isPassed, type SelftestReport } from './report.ts';
import { Site } from './site.ts';
import { toyStudy, writeToySimulation } from './toy-study.ts';

export interface SelftestOptions {
  /** The folder of the test is created in it. */
  dir: string;
  kills: number;
  runs: number;
  /** In [0, 2^32 - 1]; decides which process is killed when. */
  seed: number;
  /** Keeps the folder of a test that passes. */
  keep: boolean;
  signal: AbortSignal;
  progress: (phase: string, done: number, total: number) => void;
}

/** A study to execute in a folder: its submission, and the entrypoint of its simulation. */
export interface Trial {
  submission: BatchSubmission;
  entrypoint: string;
  slots: number;
  /** Further options of the runners. */
  runnerOptions?: readonly string[];
}

const SLOTS = 3;

/**
 * Runs the selftest. No process is left when it ends, also when `signal` is aborted.
 * @throws Failure when it could not be carried out; the folder is kept then and named
 */
export async function selftest(options: SelftestOptions): Promise<SelftestReport> {
  return trial(options, (folder) => ({
    submission: toyStudy(options.runs),
    entrypoint: writeToySimulation(folder),
    slots: SLOTS,
  }));
}

/** Does the same as `selftest`, with a study of the caller. */
export async function trial(options: SelftestOptions, prepare: (folder: string) => Trial): Promise<SelftestReport> {
  const parent = resolve(options.dir);
  if (!isDirectory(parent) || !isWritable(parent))
    throw new Failure(EXIT.cannotOpen, `${parent} is not a folder that can be written; name another one with --dir`);
  const folder = await mkdtemp(join(parent, 'simbatch-selftest-'));
  let isKept = true;
  try {
    const report = await execute(options, folder, prepare(folder));
    isKept = options.keep || !isPassed(report);
    return { ...report, isKept };
  } catch (error) {
    if (options.signal.aborted) {
      isKept = options.keep;
      throw new Failure(EXIT.interrupted, 'the selftest was stopped');
    }
    if (!(error instanceof Failure)) throw error;
    throw new Failure(
      error.exitCode,
      `the selftest failed: ${error.message}; the folder ${folder} is kept`,
      error.details,
    );
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true });
  }
}

async function execute(options: SelftestOptions, folder: string, study: Trial): Promise<SelftestReport> {
  const { signal, progress, seed, kills } = options;
  const disk = await measureDisk(folder, (done, total) => progress('disk', done, total));
  const [reference, undisturbedSecs] = await timed(() =>
    withSite(join(folder, 'undisturbed'), study, signal, (site) =>
      executeUndisturbed(site, study.submission, signal, (done, total) => progress('undisturbed', done, total)),
    ),
  );
  const draws = new Draws(seed);
  const place = join(folder, 'disturbed');
  const [{ disturbed, executions, dataDir }, disturbedSecs] = await timed(() =>
    withSite(place, study, signal, async (site) => {
      const outcome = await executeDisturbed(
        site,
        study.submission,
        planKills(kills, draws),
        draws,
        reference.runs,
        signal,
        (done, total) => progress('kills', done, total),
      );
      const counted = countExecutions(site);
      // The data directory is verified as a crash leaves it.
      await site.crashCoordinator();
      return { disturbed: outcome, executions: counted, dataDir: site.dataDir };
    }),
  );
  const verified = await verifyStore(dataDir, (_phase, done, total) => progress('verify', done, total));
  const runs = reference.runs.length;
  return { seed, folder, isKept: true, runs, undisturbedSecs, disturbedSecs, disturbed, executions, verified, disk };
}

/** Starts a site, uses it and stops all its processes; an abort kills them at once. */
async function withSite<T>(
  folder: string,
  study: Trial,
  signal: AbortSignal,
  use: (site: Site) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  mkdirSync(folder);
  const site = new Site({ folder, ...study });
  const kill = (): void => site.kill();
  signal.addEventListener('abort', kill, { once: true });
  try {
    await site.start();
    return await use(site);
  } finally {
    await site.stop();
    signal.removeEventListener('abort', kill);
  }
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const fromMs = systemClock.monotonicMs();
  const value = await work();
  return [value, (systemClock.monotonicMs() - fromMs) / 1000];
}
