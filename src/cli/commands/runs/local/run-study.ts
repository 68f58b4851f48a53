/** `simbatch run STUDY`: a coordinator, a runner of this machine and the study in a browser, in one command. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { sleep, systemClock } from '../../../../base/clock.ts';
import type { Client } from '../../../../client/client.ts';
import { clientOf } from '../../../../client/http-fetch.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';
import { requireEntrypoint } from '../../../init/entrypoint-beside.ts';
import {
  announceLocal,
  LOCAL_FOLDER,
  localCoordinator,
  localToken,
  localTokenFile,
  makeLocalFolder,
} from '../../../local-folder.ts';
import { Processes } from '../../../processes.ts';
import { loadStudy, type CheckedStudy } from '../../../study/check-study.ts';
import { note } from '../../../terminal/output.ts';
import { openBrowser } from '../../open.ts';
import { createStudy } from '../../studies/submit.ts';
import { watchBatch } from '../../studies/watch.ts';

/** Between two looks for the runner. */
const ASK_MS = 100;

export interface RunStudyFlags {
  endpoint?: string;
  format: string;
  entrypoint?: string;
  workers?: number;
  continue?: boolean;
  /** False with `--no-browser`. */
  browser: boolean;
  exit?: boolean;
  strict?: boolean;
  pythonExecutable?: string;
}

/** Runs the study to its end; on a terminal the dashboard stays until Ctrl-C. The exit code is that of `simbatch watch`. */
export async function runStudy(file: string, flags: RunStudyFlags): Promise<void> {
  const study = await loadStudy(file);
  const { submission } = study;
  if (submission.code !== undefined)
    throw new Failure(
      EXIT.usage,
      `${file} carries a function, which study.run() in Python executes here; or start: simbatch runner --allow-functions`,
    );
  const simulation = submission.config.simulation.name;
  const entrypoint = flags.entrypoint === undefined ? requireEntrypoint(file, simulation) : resolve(flags.entrypoint);
  if (!existsSync(entrypoint))
    throw new Failure(EXIT.missing, `no file ${entrypoint}: name the simulation with --entrypoint`);
  const processes = new Processes();
  const interrupted = new AbortController();
  const onSignal = (): void => {
    if (interrupted.signal.aborted) processes.kill();
    interrupted.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  let withdraw = (): void => {};
  try {
    const { url, token, pid } = await coordinatorFor(flags.endpoint, processes);
    const isOwn = pid !== undefined;
    if (isOwn) withdraw = announceLocal({ url, pid });
    const client = clientOf({ endpoint: url, ...(token === undefined ? {} : { token }) });
    const id = `run-${createHash('sha256').update(entrypoint).digest('hex').slice(0, 8)}`;
    // Another command in this folder may have started the same runner.
    if (isOwn || !(await isConnected(client, id))) startRunner(processes, { id, url, simulation, entrypoint, flags });
    await Promise.race([waitForRunner(client, id, interrupted.signal), processes.died]);
    await Promise.race([execute(client, { file, study, flags }, interrupted.signal), processes.died]);
    if (flags.exit !== true && isOwn && process.stderr.isTTY && !interrupted.signal.aborted) {
      note(`the dashboard stays at ${url} until Ctrl-C; the study is kept in ${LOCAL_FOLDER}`);
      await Promise.race([aborted(interrupted.signal), processes.died]);
    }
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    throw new Failure(
      EXIT.interrupted,
      `stopped; its runs are kept in ${LOCAL_FOLDER}; continue it: simbatch run ${file} --continue`,
    );
  } finally {
    withdraw();
    await processes.stop();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });

interface Place {
  url: string;
  token: string | undefined;
  /** The process of the coordinator that this command has started. */
  pid?: number;
}

/** The coordinator that the user names, else that of the folder where it runs, else a new one on the data of the folder. */
async function coordinatorFor(endpoint: string | undefined, processes: Processes): Promise<Place> {
  if (endpoint !== undefined && endpoint !== '') return { url: endpoint, token: process.env['SVC_TOKEN'] };
  const running = localCoordinator();
  if (running !== undefined) return running;
  makeLocalFolder();
  const { started, listening } = processes.launchCoordinator(join(LOCAL_FOLDER, 'data'));
  return { url: await listening, token: localToken('read'), pid: started.child.pid ?? process.pid };
}

async function isConnected(client: Client, id: string): Promise<boolean> {
  const { runners } = await client.runners();
  return runners.some((it) => it.id === id && it.status !== 'Offline');
}

/** Until it is there, the study would be reported as blocked. */
async function waitForRunner(client: Client, id: string, signal: AbortSignal): Promise<void> {
  while (!(await isConnected(client, id))) {
    await sleep(systemClock, ASK_MS, signal);
    if (signal.aborted) throw new Failure(EXIT.interrupted, 'stopped before the runner was ready');
  }
}

interface RunnerPlace {
  id: string;
  url: string;
  simulation: string;
  entrypoint: string;
  flags: RunStudyFlags;
}

function startRunner(processes: Processes, { id, url, simulation, entrypoint, flags }: RunnerPlace): void {
  const python = flags.pythonExecutable;
  processes.start(
    'the runner',
    [
      'runner',
      '--endpoint',
      url,
      '--runner-id',
      id,
      '--log-level',
      'warn',
      '--grace-secs',
      '5',
      '--entrypoint',
      `${simulation}=${entrypoint}`,
      '--max-concurrent-jobs',
      String(flags.workers ?? availableParallelism()),
      // This machine is the user's: neither cores nor memory of a study's requests keep runs from it.
      '--cpu-cores',
      '0',
      '--memory-gb',
      '0',
      '--output-root',
      join(LOCAL_FOLDER, 'output'),
      '--serve-files',
      ...(python === undefined ? [] : ['--python-executable', python]),
      ...codeOf(entrypoint),
      ...(flags.endpoint === undefined && localToken('runner') !== undefined
        ? ['--token-file', localTokenFile('runner')]
        : []),
    ],
    {},
  );
}

/** The code of an adapter is that of the simulation in another language, too: without git, every file of its folder. */
function codeOf(entrypoint: string): string[] {
  const isAdapter = /\.run\.(mjs|py)$/.test(entrypoint);
  return isAdapter && !isInGit(dirname(entrypoint)) ? ['--code', `*,!${LOCAL_FOLDER},!${LOCAL_FOLDER}/**`] : [];
}

function isInGit(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  return dirname(folder) !== folder && isInGit(dirname(folder));
}

async function execute(
  client: Client,
  { file, study, flags }: { file: string; study: CheckedStudy; flags: RunStudyFlags },
  signal: AbortSignal,
): Promise<void> {
  const { answer, lines } = await createStudy(client, study, flags);
  for (const line of lines) note(line);
  const page = `${client.endpoint.replace(/\/$/, '')}/#/batches/${answer.batch_id}`;
  const isShown = flags.browser && process.stderr.isTTY && (await openBrowser(page));
  note(`${isShown ? 'shown in the browser' : 'see it'}: ${page}`);
  process.exitCode = await watchBatch(client, answer.batch_id, flags);
  if (signal.aborted) throw new Failure(EXIT.interrupted, `stopped: ${file}`);
}
