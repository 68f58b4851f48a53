/**
 * `simbatch serve`: runs a coordinator on a data directory.
 *
 *   signals are handled ─► port (alive, not ready) ─► store ─► coordinator ─► HTTP server ─► renewal of certificates ─► ready
 *                               │                      │          │              │                                       │
 *                               └──────────────────────┴──────────┴── fails ─────┴──► close ◄── signal or fault ─────────┘
 *
 *   close: renewal, long polls, HTTP server (running requests have 8 s), coordinator with its store; the process ends after 15 s at most
 *   a write fails: the waiting clients get 503 within a second, and the process ends with exit code 1
 */
import { join, relative, resolve, sep } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { statfs } from 'node:fs/promises';
import { Command, Option } from 'commander';
import type { Logger } from 'pino';
import type { HttpLimits } from '../../../http/limits.ts';
import { remoteStoreWarning } from '../../../base/file-systems/mounts.ts';
import { packageRoot } from '../../../base/package.ts';
import { Metrics } from '../../../http/metrics.ts';
import { openDoor, type Door } from '../../../http/door.ts';
import type { Audit } from '../../../http/security/audit/audit.ts';
import { startHttp, type HttpServer } from '../../../http/server.ts';
import { openCoordinator, type Coordinator } from '../../../coordinator/coordinator.ts';
import type { CoordinatorOptions } from '../../../coordinator/options.ts';
import { openStore } from '../../../coordinator/kernel/storage/open-store.ts';
import { refuseLostTokens } from '../../../coordinator/kernel/storage/tokens.ts';
import { systemClock } from '../../../base/clock.ts';
import { accessFor, refuseOpenDoor, type AccessFlags } from './serve/access.ts';
import { certificateOf, portOf, withPort, type PortFlags } from './serve/port.ts';
import { notificationsOf, withNotify, type NotifyFlags } from './notify.ts';
import { objectStoreOf, withObjectStore, type ObjectStoreFlags } from './object-store.ts';
import { INTERPRETERS, type Interpreter } from '../../../base/interpreters/interpreters.ts';
import { limitGarbage, setGarbageCollector } from '../../../base/v8/garbage-collector.ts';
import { optimizeLater } from '../../../base/v8/optimizer.ts';
import { EXIT } from '../../exit-codes.ts';
import { describeFailure } from '../../terminal/failure-text.ts';
import { budgetOption } from '../../budget-option.ts';
import { resourceOption } from '../../resource-option.ts';
import { hooksOf, LOG_LEVELS, openLog, type LogLevel } from './log.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { dataDirOption, integerBetween, texts } from '../../options.ts';
import { writeLine } from '../../terminal/output.ts';
import { WorkProgress } from '../../progress/work-progress.ts';

/** Grace time of running requests when the coordinator stops. */
const GRACE_MS = 8_000;
/** Hard limit of the stop: then the process exits. Everything acknowledged is on disk. */
const HARD_LIMIT_MS = 15_000;
/** Time for the last answers after a write has failed. */
const REFUSE_MS = 1_000;
const MAX_RETRIES = 1000;
/** A body is one string in memory; Node's strings are limited to this length. */
const MAX_BODY_MB = 400;

interface ServeFlags extends PortFlags, ObjectStoreFlags, NotifyFlags, AccessFlags {
  allowedHost?: string[];
  maxRetries?: number;
  maxRuns?: number;
  maxBodyMb?: number;
  maxReportsMb?: number;
  retainDays?: number;
  quarantine?: boolean;
  resource?: Record<string, number>;
  budget?: ReadonlyMap<string, number>;
  interpreter: Interpreter;
  logLevel: LogLevel;
}

export function serveCommand(): Command {
  return withNotify(withObjectStore(withPort(new Command('serve').description('start the coordinator'))))
    .addOption(dataDirOption())
    .option('--allow-unauthenticated', 'listen on an address that other machines reach, without tokens')
    .option('--allowed-host <names>', 'host names of this coordinator, besides localhost and --host', texts)
    .option('--trust-user-header <name>', 'header in which a trusted proxy names the user; needs --trusted-proxy')
    .option('--trusted-proxy <ranges>', 'addresses of proxies whose user header counts, such as 10.0.0.0/8', texts)
    .option(
      '--max-retries <n>',
      'retries of a failed run, unless the study sets them (default: 3)',
      integerBetween(0, MAX_RETRIES),
    )
    .option('--max-runs <n>', 'most runs of one study (default: 10000000)', integerBetween(0, INT32_MAX))
    .option('--max-body-mb <n>', 'largest submission, in MiB (default: 16)', integerBetween(1, MAX_BODY_MB))
    .option(
      '--max-reports-mb <n>',
      "largest request of a runner's reports, in MiB (default: 64)",
      integerBetween(1, MAX_BODY_MB),
    )
    .option(
      '--retain-days <n>',
      'delete studies that ended, and forget runners last seen, more than n days ago (default: never)',
      integerBetween(1, 36_500),
    )
    .addOption(resourceOption())
    .addOption(budgetOption())
    .option('--quarantine', 'give a runner whose attempts fail more than those of others no new work for an hour')
    .addOption(
      new Option('--interpreter <logic>', 'how the state machines run: compiled, or by XState itself, which is slower')
        .choices(INTERPRETERS)
        .default('compiled'),
    )
    .addOption(
      new Option('--log-level <level>', 'how much to log to stderr')
        .choices(LOG_LEVELS)
        .env('SVC_LOG_LEVEL')
        .default('info'),
    )
    .action(serve);
}

async function serve(flags: ServeFlags): Promise<void> {
  // Files in the data directory are for its owner only.
  process.umask(0o077);
  refuseOpenDoor(flags);
  setGarbageCollector();
  optimizeLater(systemClock);
  // Signals are handled from here on, so that a signal during the start ends in order too.
  const running = new Running();
  const log = openLog(flags.logLevel, process.stderr.isTTY);
  const grace = closeWithGrace(
    { delay: HARD_LIMIT_MS, logger: null, skip: ['SIGHUP', 'beforeExit'] },
    async ({ signal, err }) => {
      if (err !== undefined) log.fatal({ err }, 'stopping after a fault');
      else log.debug({ signal }, 'stopping');
      await running.close();
    },
  );
  try {
    await running.open(flags, log, (error) => {
      process.stderr.write(`simbatch: ${describeFailure(error).lines.join('\n')}\n`);
      // A write failed: nothing more is acknowledged. The waiting clients get 503 before the process ends.
      void running.refuseAll();
    });
  } catch (error) {
    grace.uninstall();
    await running.close();
    throw error;
  }
  await writeLine(`simbatch is listening on ${running.url} (data in ${shownPath(flags.dataDir)})`);
}

/** Resources opened so far; closed in reverse order. */
class Running {
  #coordinator: Coordinator | undefined;
  #http: HttpServer | undefined;
  #door: Door | undefined;
  #endRenewal: (() => void) | undefined;
  #audit: Audit | undefined;

  get url(): string {
    return this.#http?.url ?? '';
  }

  async open(flags: ServeFlags, log: Logger, stop: (error: unknown) => void): Promise<void> {
    const settings = settingsOf(flags, () => this.url);
    const certificate = certificateOf(flags);
    // Handled from here on: an unhandled SIGHUP ends the process. At a terminal it means that the terminal closed, and ends it.
    if (certificate !== undefined && !isAtTerminal()) process.on('SIGHUP', () => certificate.lookNow());
    const metrics = new Metrics();
    metrics.watchProcess();
    const listening = { ...portOf(flags, certificate), limits: limitsOf(flags) };
    this.#door = await openDoor(listening);
    const directory = resolve(flags.dataDir);
    const remote = remoteStoreWarning(directory);
    if (remote !== undefined) log.warn(remote);
    const bar = new WorkProgress();
    const onProgress = (done: number, total: number): void => bar.show('files verified', done, total);
    const store = metrics.timed(await openStore(directory, { onProgress }).finally(() => bar.end()));
    await refuseLostTokens(directory, store).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    this.#coordinator = await openCoordinator(store, systemClock, {
      ...settings,
      hooks: hooksOf(log, metrics, stop),
    }).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    limitGarbage();
    metrics.watch(this.#coordinator);
    const access = await accessFor(flags, log, metrics);
    this.#audit = access.audit;
    this.#http = await startHttp({
      ...listening,
      door: this.#door,
      metrics,
      settings,
      coordinator: this.#coordinator,
      live: this.#coordinator,
      webRoot: join(packageRoot, 'dist/web'),
      ...access,
      log,
      clock: systemClock,
      allowedHosts: flags.allowedHost ?? [],
    });
    const http = this.#http;
    this.#endRenewal = certificate?.keepFresh({ take: (pair) => http.renewCertificate(pair), world: systemClock, log });
  }

  /** Ends the process after a failed write: answers the waiting requests and closes all connections within a second. */
  async refuseAll(): Promise<never> {
    try {
      await this.#http?.close(REFUSE_MS);
    } finally {
      process.exit(EXIT.failed);
    }
  }

  async close(): Promise<void> {
    this.#endRenewal?.();
    this.#coordinator?.releaseWaiting();
    if (this.#http === undefined) this.#door?.close();
    await this.#http?.close(GRACE_MS);
    await this.#audit?.close();
    await this.#coordinator?.close();
  }
}

function settingsOf(flags: ServeFlags, ownUrl: () => string): Partial<CoordinatorOptions> {
  const { maxRetries, retainDays, quarantine = false, interpreter, dataDir, resource, budget } = flags;
  const objectStore = objectStoreOf(flags, process.env);
  const notifications = notificationsOf(flags, ownUrl);
  return {
    ...(objectStore === undefined ? {} : { objectStore, watchesStore: true }),
    ...(notifications === undefined ? {} : { notifications }),
    freeBytes: () =>
      statfs(dataDir).then(
        ({ bavail, bsize }) => bavail * bsize,
        () => undefined,
      ),
    ...(maxRetries === undefined ? {} : { defaultMaxRetries: maxRetries }),
    quarantine,
    interpreter,
    ...(resource === undefined ? {} : { resources: resource }),
    ...(budget === undefined ? {} : { budgets: budget }),
    ...(retainDays === undefined ? {} : { retainMs: retainDays * 86_400_000 }),
  };
}

function limitsOf({ maxRuns, maxBodyMb, maxReportsMb }: ServeFlags): Partial<HttpLimits> {
  return {
    ...(maxRuns === undefined ? {} : { runsPerBatch: maxRuns }),
    ...(maxBodyMb === undefined ? {} : { submissionBytes: maxBodyMb * 1024 * 1024 }),
    ...(maxReportsMb === undefined ? {} : { reportsBytes: maxReportsMb * 1024 * 1024 }),
  };
}

const isAtTerminal = (): boolean => process.stdin.isTTY || process.stderr.isTTY;

/** Returns a relative path where that is shorter: `./data`. */
function shownPath(directory: string): string {
  const path = relative(process.cwd(), resolve(directory));
  if (path === '') return '.';
  return path.startsWith('..') ? resolve(directory) : `.${sep}${path}`;
}
