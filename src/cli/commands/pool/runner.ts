/** `simbatch runner`: reads flags and environment, runs one runner, and stops it on signals. */
import os from 'node:os';
import { Command, Option } from 'commander';
import type { ConfigSources } from '../../../runner/config/config.ts';
import { FIELDS } from '../../../runner/config/fields.ts';
import type { FieldName, Kind } from '../../../runner/config/fields.ts';
import type { LogFormat, LogLevel } from '../../../runner/log.ts';
import { systemClock } from '../../../base/clock.ts';

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
};

const DEFAULTS: Partial<Record<FieldName, string>> = {
  runner_id: 'host name and output root',
  name: 'the runner id',
  endpoint: 'http://127.0.0.1:7070',
  max_concurrent_jobs: 'CPU cores',
  heartbeat_interval_secs: '5',
  grace_secs: '30',
  python_executable: 'python3, then python',
  output_root: './simbatch-output',
  working_directory: 'where the runner is started',
  cpu_cores: "the machine's",
  memory_gb: "the machine's",
};

/** The options of the table in `runner/config/fields.ts`; `entrypoint` may be repeated. */
export function configOptions(names?: readonly FieldName[]): Option[] {
  return FIELDS.filter((field) => names === undefined || names.includes(field.name)).map((field) => {
    const placeholder = field.name === 'entrypoint' ? ' <[engine=]path>' : PLACEHOLDERS[field.kind];
    const fallback = DEFAULTS[field.name];
    const text = `${field.text}${fallback === undefined ? '' : ` (default: ${fallback})`} [${field.env}]`;
    const option = new Option(`--${field.flag}${placeholder}`, text);
    if (field.name !== 'entrypoint') return option;
    return option.argParser((value: string, former: string[] | undefined) => [...(former ?? []), value]);
  });
}

/** From commander's options to what `resolveConfig` takes, with this machine's environment. */
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
    },
  };
}

export function runnerCommand(): Command {
  const command = new Command('runner')
    .description('execute jobs of a coordinator on this machine')
    .option('--config <file>', 'YAML configuration file');
  for (const option of configOptions()) command.addOption(option);
  return command
    .addOption(new Option('--log-format <format>', 'default: text on a terminal, else json').choices(['text', 'json']))
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addHelpText(
      'after',
      '\nThe credential comes from --token-file, --token-fd, SVC_TOKEN or systemd. See docs/runner.md.',
    )
    .action(async (options: Record<string, unknown> & { logFormat?: LogFormat; logLevel: LogLevel }) => {
      // Loaded on demand, so that other commands start fast.
      const { resolveHere } = await import('../../../runner/preflight.ts');
      const { hideVariable, TOKEN_VARIABLE } = await import('../../../runner/config/credential.ts');
      const { createLog } = await import('../../../runner/log.ts');
      const { startRunner } = await import('../../../runner/start.ts');
      const sources = configSources(options);
      const exposed = hideVariable(TOKEN_VARIABLE);
      delete process.env[TOKEN_VARIABLE];
      const resolved = await resolveHere(sources);
      const format = options.logFormat ?? (process.stderr.isTTY ? 'text' : 'json');
      const log = createLog(process.stderr, { format, level: options.logLevel });
      if (exposed !== undefined) {
        log.warn(
          `${TOKEN_VARIABLE} stays readable for other processes of this user: ${exposed}; use --token-file instead`,
        );
      }
      const { agent, spool } = await startRunner(resolved, {
        clock: systemClock,
        log,
        env: sources.env,
        pid: process.pid,
      });

      let signals = 0;
      const onSignal = (signal: NodeJS.Signals): void => {
        signals += 1;
        log.info(signals === 1 ? `${signal}: leaving; once more to leave at once` : `${signal}: leaving at once`);
        if (signals === 1) agent.leave();
        else {
          agent.killAll();
          process.exit(1);
        }
      };
      const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
      for (const name of names) process.on(name, onSignal);
      try {
        await agent.run();
      } finally {
        for (const name of names) process.off(name, onSignal);
        await spool.close();
      }
    });
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
