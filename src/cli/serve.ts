/** `simbatch serve`: one coordinator on a data directory, from opening the store to closing it in order. */
import { relative, resolve, sep } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { Command, Option } from 'commander';
import { pino, type Logger } from 'pino';
import { isLoopbackAddress } from '../http/origin.ts';
import { startHttp, type HttpServer } from '../http/server.ts';
import { openCoordinator, type Coordinator } from '../system/coordinator.ts';
import { openStore } from '../system/store.ts';
import { realWorld } from '../system/world.ts';
import { EXIT } from './exit-codes.ts';
import { describeFailure, Failure } from './failure.ts';
import { integerBetween, texts } from './options.ts';
import { writeLine } from './output.ts';

/** How long running requests may still take when the coordinator is told to stop. */
const GRACE_MS = 8_000;
/** Beyond this the process ends whatever it is doing: everything acknowledged is on disk. */
const HARD_LIMIT_MS = 15_000;
const MAX_RETRIES = 1000;

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

interface ServeFlags {
  host: string;
  port: number;
  dataDir: string;
  allowedHost?: string[];
  allowUnauthenticated?: boolean;
  maxRetries?: number;
  logLevel: (typeof LEVELS)[number];
}

export function serveCommand(): Command {
  return new Command('serve')
    .description('start the coordinator')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <n>', 'where to listen; 0 takes any free port', integerBetween(0, 65_535), 7070)
    .option('--data-dir <dir>', 'where studies, jobs and results are kept', './data')
    .option(
      '--allow-unauthenticated',
      'listen on an address that other machines reach although nobody needs credentials',
    )
    .option('--allowed-host <names>', 'host names under which this coordinator is reached, besides localhost', texts)
    .option('--max-retries <n>', 'retries of a failed job where the study does not say', integerBetween(0, MAX_RETRIES))
    .addOption(new Option('--log-level <level>', 'how much to log to stderr').choices(LEVELS).default('info'))
    .action(serve);
}

async function serve(flags: ServeFlags): Promise<void> {
  refuseOpenDoor(flags);
  // Signals are taken from here on, so that one during the start ends in order as well.
  const running = new Running();
  const log = pino({ level: flags.logLevel }, pino.destination({ fd: 2, sync: true }));
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
      // The disk did not take a change: nothing more may be acknowledged, and closing could not write either.
      process.exit(EXIT.failed);
    });
  } catch (error) {
    grace.uninstall();
    await running.close();
    throw error;
  }
  await writeLine(`simbatch is listening on ${running.url} (data in ${shownPath(flags.dataDir)})`);
}

/** What has been opened so far; closed in the opposite order. */
class Running {
  #coordinator: Coordinator | undefined;
  #http: HttpServer | undefined;

  get url(): string {
    return this.#http?.url ?? '';
  }

  async open(flags: ServeFlags, log: Logger, stop: (error: unknown) => void): Promise<void> {
    const store = await openStore(resolve(flags.dataDir));
    const settings = flags.maxRetries === undefined ? {} : { defaultMaxRetries: flags.maxRetries };
    this.#coordinator = await openCoordinator(store, realWorld, {
      ...settings,
      news: {
        fault: (operation, error) => log.error({ operation, err: error }, 'a request was rolled back after a fault'),
        failed: stop,
      },
    }).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    this.#http = await startHttp({
      coordinator: this.#coordinator,
      host: flags.host,
      port: flags.port,
      log,
      world: realWorld,
      allowedHosts: flags.allowedHost ?? [],
    });
  }

  async close(): Promise<void> {
    this.#coordinator?.releaseWaiting();
    await this.#http?.close(GRACE_MS);
    await this.#coordinator?.close();
  }
}

/** Without credentials anybody who reaches the address may submit, cancel and read everything. */
function refuseOpenDoor({ host, allowUnauthenticated }: ServeFlags): void {
  if (host === 'localhost' || isLoopbackAddress(host) || allowUnauthenticated === true) return;
  throw new Failure(
    EXIT.usage,
    `--host ${host} can be reached by other machines, and nobody needs credentials; add --allow-unauthenticated if that is meant`,
  );
}

/** Relative where that is shorter: `./data`, not the whole path. */
function shownPath(directory: string): string {
  const path = relative(process.cwd(), resolve(directory));
  if (path === '') return '.';
  return path.startsWith('..') ? resolve(directory) : `.${sep}${path}`;
}
