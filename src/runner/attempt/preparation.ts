/** The things a run needs before its process exists: a program to execute, its directory, its configuration, its logs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { stringifyExact } from '../../base/json/json-writing.ts';
import { imageEntrypoint } from '../config/image-entrypoint.ts';
import type { AttemptCheckpoint } from './attempt-checkpoint.ts';
import { EXTRACTION_CODE } from './extraction/extraction-code.ts';
import type { RunCode } from '../code/engine-codes.ts';
import { adoptCheckpoint, makeCheckpointDirectory } from '../checkpoints/checkpoints.ts';
import { entrypointFault } from '../launch/engine.ts';
import { environmentFault } from '../launch/environment.ts';
import { environmentOf, type ExecutionPlan, type ExecutionSite } from './execution-site.ts';
import { markUnread } from '../files/look-ups.ts';
import { infrastructure } from './outcome.ts';
import type { AttemptEnd } from './outcome.ts';
import { ProcessScope } from '../processes/process-scope.ts';
import { systemCode } from '../system-error.ts';
import type { Launcher } from '../launch/launcher.ts';
import { logsIn } from './simulation-process.ts';
import type { Logs } from './simulation-process.ts';

/** How long a look at the working directory counts, and one at an entrypoint, in milliseconds: short runs share them. */
const DIRECTORY_VALID_MS = 1000;
const ENTRYPOINT_VALID_MS = 20;
/** How long the engine of runs that share processes counts as prepared. */
const SHARED_VALID_MS = 1000;

/** A look at a file: its fault, and since when it is known to have none, in milliseconds of the clock. */
interface Look {
  fault: Promise<string | undefined>;
  /** It has ended without a fault. */
  isFine: boolean;
  sinceMs: number;
}

/** The latest looks at the files of a site. */
const looks = new WeakMap<ExecutionSite, Map<string, Look>>();

/**
 * Fetches the function, the image and the checkpoint of a run: a failure shows when the attempt prepares itself.
 * @returns the code that the run would execute now; undefined: not known.
 */
export async function prepareMachine(
  site: ExecutionSite,
  plan: ExecutionPlan,
  checkpoint: AttemptCheckpoint | undefined,
): Promise<RunCode | undefined> {
  if (plan.isComputed === true) return EXTRACTION_CODE;
  if (planFault(plan, site) !== undefined) return undefined;
  const study = dirname(dirname(plan.directory));
  // Once for many short runs of a study, by its folder.
  const once = (what: string, operation: () => Promise<void>): Promise<unknown> | undefined =>
    plan.isShared === true
      ? unlessSeen(site, `${what} of ${study}`, SHARED_VALID_MS, () => operation().then(noFault))
      : operation();
  await once('code', () => fetchCode(site, plan));
  const own = await site.codes?.of(plan, 'lately');
  const digest = own?.identity.digest;
  await once(`engine ${digest ?? ''}`, () => prepareEngine(site, plan, digest));
  await checkpoint?.fetchAwhile(site.clock);
  return own;
}

async function fetchCode(site: ExecutionSite, { code, container }: ExecutionPlan): Promise<void> {
  if (code !== undefined) await site.functions?.fetch(code.batchId, code.sha256).catch(() => {});
  if (site.containers !== undefined && container !== undefined) await site.containers.prepare(container.image);
}

async function prepareEngine(site: ExecutionSite, plan: ExecutionPlan, digest: string | undefined): Promise<void> {
  if (isContained(site, plan)) return;
  const env = environmentOf(site, plan);
  await site.launchers.prepare(plan.engine, env, digest);
  if (plan.isShared !== true) return;
  const scope = new ProcessScope(site.processes, site.log, plan.directory, plan.limits);
  await site.launchers.sharedOf(plan.engine, env, plan, digest)?.prepare(scope);
}

export interface Prepared {
  logs: Logs;
  /** Notes for the reader of the result. */
  notes: readonly string[];
}

/**
 * Makes the directory, the run configuration and the logs.
 * @returns the logs, or the end of a run that cannot be executed here.
 * @throws the system's error, e.g. of a full disk.
 */
export async function prepareRun(site: ExecutionSite, plan: ExecutionPlan): Promise<Prepared | AttemptEnd> {
  const { engine, directory, runConfigPath, runConfig, code } = plan;
  // A container uses the interpreter of its image.
  const python = isContained(site, plan) ? IN_IMAGE_PYTHON : site.python;
  const absent = await unlessSeen(site, engine.entrypoint, ENTRYPOINT_VALID_MS, () =>
    entrypointFault(engine.entrypoint, python),
  );
  if (absent !== undefined) return infrastructure(absent);
  // Starting a process in a directory that does not answer would stop the whole runner.
  await unlessSeen(site, site.workingDirectory, DIRECTORY_VALID_MS, () =>
    stat(site.workingDirectory).then(noFault, noFault),
  );
  if (code !== undefined) await site.functions?.fetch(code.batchId, code.sha256);
  const notes = await prepareCheckpoint(site, plan);
  await makeFolder(dirname(directory));
  // The file system has answered just now; without waiting, a directory or a small file takes a tenth of the time.
  makeOwnDirectory(directory);
  writeFileSync(runConfigPath, `${stringifyExact(runConfig)}\n`);
  markUnread(runConfigPath, site.clock.now());
  return { logs: logsIn(directory), notes };
}

/** Makes the folder of a run, whose study's folder is there in most cases. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch {
    // The parents of the folder are made too; it exists where the run had an earlier attempt.
    await mkdir(folder, { recursive: true });
  }
}

/** @throws Error when there is one: it belongs to another attempt. */
function makeOwnDirectory(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw new Error(`${directory} exists already`, { cause: error });
    throw error;
  }
}

/** True when the run is executed in a container. */
export const isContained = ({ containers }: Pick<ExecutionSite, 'containers'>, { container }: ExecutionPlan): boolean =>
  containers !== undefined && container !== undefined;

/** How the run is started: in the container that its study names where there are containers, else by its engine. */
export function launcherOf(
  { launchers, containers }: ExecutionSite,
  plan: ExecutionPlan,
  own: Readonly<Record<string, string>>,
): Launcher {
  const { engine, container } = plan;
  if (containers === undefined || container === undefined) return launchers.of(engine, own);
  return containers.launcherOf(engine, container, plan);
}

/** The interpreter of a container, which is not a file of this machine. */
const IN_IMAGE_PYTHON = 'python3';

/** A first attempt finds no checkpoint, and only a container needs the directory before there is one. */
export async function prepareCheckpoint(site: ExecutionSite, plan: ExecutionPlan): Promise<string[]> {
  const { attempt, checkpointDirectory } = plan;
  if (checkpointDirectory === undefined) return [];
  const from = attempt > 1 ? await adoptCheckpoint(checkpointDirectory, attempt) : undefined;
  if (from !== undefined) {
    site.log.info(`attempt ${String(attempt)} continues at the checkpoint of attempt ${String(from)}`, {
      directory: checkpointDirectory,
    });
    return [`it continued at the checkpoint of attempt ${String(from)}`];
  }
  if (isContained(site, plan)) await makeCheckpointDirectory(checkpointDirectory);
  return [];
}

/** Removes the directory and the configuration of a run that was not executed. @throws the system's error. */
export async function removePrepared({ directory, runConfigPath }: ExecutionPlan): Promise<void> {
  await unlink(runConfigPath);
  await rmdir(directory);
  // The folder of the run stays where it has another attempt.
  await rmdir(dirname(directory)).catch(() => {});
}

/** Why no runner, or none with this configuration, can execute the plan. */
export function planFault(plan: ExecutionPlan, site: PlanSite): string | undefined {
  const { parameters } = plan.runConfig;
  const name = Object.keys(parameters).find((it) => !Number.isFinite(parameters[it]));
  if (name !== undefined) return `parameter ${JSON.stringify(name)} is not a finite number`;
  const { container, engine } = plan;
  if (site.containers !== undefined && container !== undefined) {
    const refusal = site.containers.refusalOf(container.image);
    if (refusal !== undefined) return refusal;
  } else if (imageEntrypoint(engine.entrypoint) !== undefined) {
    return `the entrypoint ${engine.entrypoint} of this runner is a file of an image: name one in container.image`;
  }
  return environmentFault(plan.environment, site.environmentAllowed);
}

type PlanSite = Pick<ExecutionSite, 'environmentAllowed' | 'containers'>;

const noFault = (): undefined => undefined;

/** Looks at a file, unless it is being looked at, or was found without fault less than `validMs` ago. Returns its fault. */
function unlessSeen(
  site: ExecutionSite,
  path: string,
  validMs: number,
  look: () => Promise<string | undefined>,
): Promise<string | undefined> | undefined {
  const seen = looks.get(site) ?? new Map<string, Look>();
  looks.set(site, seen);
  const known = seen.get(path);
  if (known !== undefined && site.clock.monotonicMs() - known.sinceMs < validMs)
    return known.isFine ? undefined : known.fault;
  const entry: Look = { fault: look(), isFine: false, sinceMs: site.clock.monotonicMs() };
  seen.set(path, entry);
  const settled = (isFine: boolean): void => {
    entry.isFine = isFine;
    if (!isFine && seen.get(path) === entry) seen.delete(path);
  };
  entry.fault.then(
    (fault) => settled(fault === undefined),
    () => settled(false),
  );
  return entry.fault;
}
