/** Options, execution and output that `run-one` and `replay` share. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { SimbatchError } from '../../../domain/errors.ts';
import { stringifyExact } from '../../../base/json/json-writing.ts';
import type { BatchSubmission, JobRunConfig } from '../../../contract/types.ts';
import type { FieldName } from '../../../runner/config/fields.ts';
import { systemClock } from '../../../base/clock.ts';
import { configOptions, configSources } from '../pool/runner.ts';

const FIELDS_OF_A_RUN: readonly FieldName[] = [
  'engines',
  'entrypoint',
  'allow_functions',
  'python_executable',
  'working_directory',
  'environment_inherited',
  'environment_allowed',
];

export interface LocalOptions {
  [name: string]: unknown;
  outputDir?: string;
  quiet?: boolean;
}

/** Adds the options of both commands. */
export function withLocalOptions(command: Command): Command {
  command.option('--config <file>', "a runner's YAML configuration file, for its engines and interpreter");
  for (const option of configOptions(FIELDS_OF_A_RUN)) command.addOption(option);
  return command
    .option('--output-dir <directory>', 'output directory; must not exist (default: ./run-<run_id>)')
    .option('--quiet', 'do not show telemetry while it runs');
}

/** Executes the run, prints its telemetry on stderr and its result on stdout, and sets the exit code. */
export async function executeLocally(
  runConfig: JobRunConfig,
  study: Pick<BatchSubmission, 'config' | 'code'> | undefined,
  options: LocalOptions,
): Promise<void> {
  // Loaded on demand, so that other commands start fast.
  const { localFunction, requireConsent } = await import('./local-function.ts');
  requireConsent(study, options['allowFunctions'] === true);
  const { resolveConfig } = await import('../../../runner/config/config.ts');
  const { chooseEngine, findPython } = await import('../../../runner/attempt/engine.ts');
  const { inheritedEnvironment } = await import('../../../runner/attempt/environment.ts');
  const { openProcessTools } = await import('../../../runner/processes/process-tools.ts');
  const { ONLY_COLD } = await import('../../../runner/launch/launchers.ts');
  const { Waits } = await import('../../../runner/waits.ts');
  const { createLog } = await import('../../../runner/log.ts');
  const { freeDirectory, LiveTelemetry, runLocally } = await import('../../../runner/local-run.ts');
  const config = resolveConfig(configSources(options));
  const name = runConfig.metadata.simulation_name;
  const directory =
    options.outputDir === undefined ? freeDirectory(process.cwd(), runConfig.run_id) : resolve(options.outputDir);
  const log = createLog(process.stderr, { format: 'text', level: 'warn' });
  const python = await findPython(config.pythonExecutable, process.env['PATH'] ?? '');
  const carried = await localFunction(study, runConfig, { python, directory });
  const engine = carried?.engine ?? chooseEngine(config.engines, name);
  if (engine === undefined)
    throw new SimbatchError('invalid-configuration', `no engine for ${name}; give --entrypoint`);
  const live = new LiveTelemetry(
    () => systemClock.monotonicMs(),
    (line) => process.stderr.write(`${line}\n`),
  );
  const stop = new AbortController();
  const onInterrupt = (): void => {
    stop.abort();
  };
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt);
  process.stderr.write(`${engine.entrypoint}: run ${String(runConfig.run_id)} of ${name}, output in ${directory}\n`);
  const processes = openProcessTools(config.cgroup, `${directory} ${String(process.pid)}`, log);
  const waits = new Waits(systemClock);
  const end = await runLocally(
    {
      waits,
      processes,
      clock: systemClock,
      log,
      launchers: ONLY_COLD,
      python: python?.executable,
      env: inheritedEnvironment(process.env, config.environmentInherited),
      environmentAllowed: config.environmentAllowed,
      workingDirectory: config.workingDirectory,
      ...(carried === undefined ? {} : { functions: carried.functions }),
      ...(options.quiet === true ? {} : { onSample: live.take }),
    },
    {
      runConfig,
      engine,
      study: study?.config,
      directory,
      ...(carried === undefined ? {} : { code: carried.code }),
    },
    stop.signal,
  );
  processes.cgroups?.close();
  process.off('SIGINT', onInterrupt).off('SIGTERM', onInterrupt);
  process.stdout.write(`${stringifyExact(end)}\n`);
  if (end.type === 'fail') process.stderr.write(`failed (${end.reason}): ${end.error_message}\n`);
  if (end.type === 'abandoned') process.exitCode = 130;
  else if (end.type === 'fail') process.exitCode = 1;
}
