/** `simbatch runner`: reads flags and environment, runs one runner, and stops it on signals. */
import os from 'node:os';
import { Command, Option } from 'commander';
import type { ConfigSources } from '../../../runner/config/config.ts';
import { FIELDS } from '../../../runner/config/fields.ts';
import type { FieldName, Kind } from '../../../runner/config/fields.ts';
import type { Log, LogFormat, LogLevel } from '../../../runner/log.ts';
import type { StartedRunner } from '../../../runner/start.ts';
import type { Waits } from '../../../runner/waits.ts';
import { settlesWithin, sleep, systemClock } from '../../../base/clock.ts';
import { shownNames } from '../../../base/text/variables.ts';
import { setGarbageCollector } from '../../../base/v8/garbage-collector.ts';
import { optimizeLater } from '../../../base/v8/optimizer.ts';

/** How long leaving may take after the grace time: ending the simulations, delivering and signing off. */
const LEAVE_MARGIN_MS = 60_000;
/** How long an immediate end waits for the runs to be handed back. */
const QUICK_END_MS = 2000;
/** How long an immediate end waits for operations in progress. */
const SETTLE_MS = 500;

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

const PLACEHOLDERS: Record<Kind, string> = {
  text: ' <text>',
  id: ' <id>',
  path: ' <path>',
  program: ' <program>',
  list: ' <a,b,...>',
  count: ' <n>',
  size: ' <number>',
  boolean: '',
  'artifacts mode': ' <mode>',
  'cgroup mode': ' <mode>',
  'container runtime': ' <name>',
  resources: ' <name=n,...>',
  duration: ' <time>',
  instant: ' <instant>',
};

const DEFAULTS: Partial<Record<FieldName, string>> = {
  runner_id: 'host name and output root',
  name: 'the runner id',
  endpoint: 'http://127.0.0.1:7070',
  max_concurrent_jobs: 'CPU cores',
  heartbeat_interval_secs: '5',
  grace_secs: '30',
  preload: 'those that the entrypoint imports at its top',
  python_executable: 'python3, then python',
  output_root: './simbatch-output',
  artifacts: 'files',
  cgroup: 'auto',
  serve_files_max_gb: '1',
  checkpoint_dir: '.checkpoints in the output root',
  checkpoint_interval: '60s',
  checkpoint_max_gb: '4',
  lifetime_margin: '60s',
  working_directory: 'where the runner is started',
  cpu_cores: "the machine's",
  memory_gb: "the machine's",
};

/** The options of the table in `runner/config/fields.ts`; `entrypoint` may be repeated. */
export function configOptions(names?: readonly FieldName[]): Option[] {
  return FIELDS.filter((field) => names === undefined || names.includes(field.name)).map((field) => {
    const placeholder = field.name === 'entrypoint' ? ' <[engine=]path>' : PLACEHOLDERS[field.kind];
    const fallback = DEFAULTS[field.name];
    const text = `${field.text}${fallback === undefined ? '' : ` (default: ${fallback})`} [${shownNames(field.env)}]`;
    const option = new Option(`--${field.flag}${placeholder}`, text);
    if (field.name !== 'entrypoint') return option;
    return option.argParser((value: string, former: string[] | undefined) => [...(former ?? []), value]);
  });
}

/** Turns the options of commander into the sources of `resolveConfig`, with this machine's environment. */
export function configSources(options: Record<string, unknown>): ConfigSources {
  const flags: ConfigSources['flags'] = {};
  for (const field of FIELDS) {
    const value = options[camelCase(field.flag)];
    if (typeof value === 'string' || typeof value === 'boolean') flags[field.name] = value;
    else if (Array.isArray(value)) flags[field.name] = value.map(String);
  }
  const { config } = options;
  const memoryBytes = Math.min(os.totalmem(), process.constrainedMemory() || Infinity);
  return {
    flags,
    ...(typeof config === 'string' ? { file: config } : {}),
    env: { ...process.env },
    cwd: process.cwd(),
    host: {
      hostname: os.hostname(),
      cpuCores: os.availableParallelism(),
      memoryGb: Math.round((memoryBytes / 2 ** 30) * 10) / 10,
      uid: process.getuid?.(),
    },
  };
}

export function runnerCommand(): Command {
  const command = new Command('runner')
    .description('execute runs of a coordinator on this machine')
    .option('--config <file>', 'YAML configuration file');
  for (const option of configOptions()) command.addOption(option);
  return command
    .addOption(new Option('--log-format <format>', 'default: text on a terminal, else json').choices(['text', 'json']))
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addHelpText(
      'after',
      '\nThe credential comes from --token-file, --token-fd, SIMBATCH_TOKEN or systemd.\nSee docs/runner.md.',
    )
    .action(async (options: Record<string, unknown> & { logFormat?: LogFormat; logLevel: LogLevel }) => {
      setGarbageCollector();
      optimizeLater(systemClock);
      // Loaded on demand, so that other commands start fast.
      const { resolveHere } = await import('../../../runner/preflight.ts');
      const { hideVariable, TOKEN_VARIABLE } = await import('../../../runner/config/credential.ts');
      const { createLog } = await import('../../../runner/log.ts');
      const { startRunner } = await import('../../../runner/start.ts');
      const sources = configSources(options);
      // The command line has given the token one name in `process.env`; the block that the process was started with has either.
      const exposed = [TOKEN_VARIABLE, shownNames(TOKEN_VARIABLE)].map(hideVariable).find((it) => it !== undefined);
      delete process.env[TOKEN_VARIABLE];
      const resolved = await resolveHere(sources);
      const format = options.logFormat ?? (process.stderr.isTTY ? 'text' : 'json');
      const log = createLog(process.stderr, { format, level: options.logLevel });
      if (exposed !== undefined) {
        log.warn(
          `${TOKEN_VARIABLE} stays readable for other processes of this user: ${exposed}; use --token-file instead`,
        );
      }
      const started = await startRunner(resolved, {
        clock: systemClock,
        log,
        env: sources.env,
        pid: process.pid,
      });
      await runUntilStopped(started, log, resolved.config.graceSecs);
    });
}

/**
 * Runs until it ends by itself or by signals: the first asks it to leave, with a deadline; the second ends it at once; a
 * third does so without waiting for anything.
 */
async function runUntilStopped({ agent, waits, close }: StartedRunner, log: Log, graceSecs: number): Promise<void> {
  const work = async (): Promise<void> => {
    try {
      await agent.run();
    } finally {
      await close().catch((error: unknown) => {
        log.warn(`the spool could not be closed: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
  };
  const finished = work();
  const endNow = async (): Promise<void> => {
    process.exitCode = 1;
    agent.killAll();
    await settlesWithin(systemClock, QUICK_END_MS, finished).catch(() => {});
    await exit(waits, 1);
  };
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals += 1;
    if (signals > 2) process.kill(process.pid, 'SIGKILL');
    log.info(signals === 1 ? `${signal}: leaving; once more to leave at once` : `${signal}: leaving at once`);
    if (signals > 1) void endNow();
    else {
      agent.leave(signal);
      systemClock.after(graceSecs * 1000 + LEAVE_MARGIN_MS, () => {
        log.error(`still not done ${String(LEAVE_MARGIN_MS / 1000)} s after the grace time; leaving at once`);
        void endNow();
      });
    }
  };
  const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const name of names) process.on(name, onSignal);
  try {
    await finished;
  } finally {
    for (const name of names) process.off(name, onSignal);
    if (waits.pending > 0) {
      log.error(`ending although the system does not answer: ${waits.overdue.join(', ')}`);
      await exit(waits, 1);
    }
  }
}

/** Ends this process, whatever the machine does. */
async function exit(waits: Waits, code: number): Promise<never> {
  await Promise.race([waits.idle(), sleep(systemClock, SETTLE_MS)]);
  // Node waits for its threads before it ends; a thread in the kernel may never return.
  if (waits.pending > 0) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
