/** Options, execution and output that `run-one`, `try` and `replay` share. */
import { resolve } from 'node:path';
import { SimbatchError } from '../../../domain/errors.ts';
import { shortCode } from '../../../domain/code-name.ts';
import type { BatchSubmission, CodeIdentity, JobRunConfig } from '../../../contract/types.ts';
import type { ExecutionPlan } from '../../../runner/attempt/execution-site.ts';
import type { Engine, RunnerConfig } from '../../../runner/config/config.ts';
import type { Log } from '../../../runner/log.ts';
import type { AttemptEnd } from '../../../runner/attempt/outcome.ts';
import type { FieldName } from '../../../runner/config/fields.ts';
import { systemClock } from '../../../base/clock.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { problemOf } from '../../terminal/failure-text.ts';
import { OutputCommand } from '../../output-command.ts';
import { destination } from '../../terminal/destination.ts';
import { printable } from '../../terminal/format.ts';
import { outputWidth, writeJson, writeLine, writeText } from '../../terminal/output.ts';
import { renderPairs, type Pair } from '../../terminal/table.ts';
import { configOptions, configSources } from '../pool/runner.ts';
import { resultPairs } from './run.ts';

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
  output: string;
  outputDir?: string;
  quiet?: boolean;
}

/** Returns a command that executes a run here, with the options of all three. */
export function localCommand(name: string, summary: string): OutputCommand {
  const command = new OutputCommand(name).description(summary);
  command.option('--config <file>', "a runner's YAML configuration file, for its engines and interpreter");
  for (const option of configOptions(FIELDS_OF_A_RUN)) command.addOption(option);
  command
    .option('--output-dir <directory>', 'output directory; must not exist (default: ./run-<run_id>)')
    .option('--quiet', 'do not show telemetry while it runs');
  return command;
}

/** Executes the run, prints its telemetry on stderr and its result in the format of `--output`, and sets the exit code. */
export async function executeLocally(
  runConfig: JobRunConfig,
  study: Pick<BatchSubmission, 'config' | 'code'> | undefined,
  options: LocalOptions,
): Promise<void> {
  // Loaded on demand, so that other commands start fast.
  const { localFunction, requireConsent } = await import('./local-function.ts');
  requireConsent(study, options['allowFunctions'] === true);
  const { resolveConfig } = await import('../../../runner/config/config.ts');
  const { chooseEngine, findPython } = await import('../../../runner/launch/engine.ts');
  const { inheritedEnvironment } = await import('../../../runner/launch/environment.ts');
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
  const identity = await localCode(config, engine, carried?.code, log);
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
  const failure = failureOf(end);
  if (options.output === 'json') {
    await writeJson(identity === undefined ? end : { ...end, code: identity });
    if (failure !== undefined) process.stderr.write(`${JSON.stringify(problemOf(failure))}\n`);
  } else {
    await printEnd(end, runConfig, { directory, identity });
    // A terminal has shown the message.
    if (end.type !== 'abandoned' && failure !== undefined && destination().isTTY !== true)
      process.stderr.write(`${failure.message}\n`);
  }
  if (failure !== undefined) process.exitCode = failure.exitCode;
}

/** A run that did not succeed, as the failure of the command; its exit code is that of docs/runner.md. */
function failureOf(end: AttemptEnd): Failure | undefined {
  switch (end.type) {
    case 'complete':
      return undefined;
    case 'fail':
      return new Failure(EXIT.failed, `failed (${end.reason}): ${end.error_message}`);
    case 'lost':
      return new Failure(EXIT.failed, `lost: ${end.error_message}`);
    case 'abandoned':
    case 'released':
      return new Failure(EXIT.interrupted, 'the run was stopped before its end');
  }
}

/** The words of `simbatch run` for the end of an attempt. */
const OUTCOMES: Readonly<Record<AttemptEnd['type'], string>> = {
  complete: 'completed',
  fail: 'failed',
  lost: 'lost',
  abandoned: 'abandoned',
  released: 'interrupted',
};

/** The code that the run executes, looked at before its start; undefined: not known. */
async function localCode(
  config: RunnerConfig,
  engine: Engine,
  carried: ExecutionPlan['code'],
  log: Log,
): Promise<CodeIdentity | undefined> {
  const { EngineCodes } = await import('../../../runner/code/engine-codes.ts');
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const codes = new EngineCodes({
    config: { ...config, engines: [engine] },
    containers: undefined,
    clock: systemClock,
    log,
    env,
  });
  return (await codes.of(carried === undefined ? { engine } : { engine, code: carried }))?.identity;
}

/** `9f3c12ab34cd, commit v1.2, with changes`. */
function codeText(identity: CodeIdentity | undefined): string {
  if (identity === undefined) return 'not known';
  const { digest, git, note: remark } = identity;
  const changes = git?.dirty === true ? ', with changes' : git?.dirty === null ? ', changes not known' : '';
  const commit = git === undefined ? '' : `, commit ${git.describe ?? git.commit.slice(0, 12)}${changes}`;
  return `${shortCode(digest)}${commit}${remark === undefined ? '' : ` (${remark})`}`;
}

async function printEnd(
  end: AttemptEnd,
  { run_id, metadata }: JobRunConfig,
  { directory, identity }: { directory: string; identity: CodeIdentity | undefined },
): Promise<void> {
  const outcome = OUTCOMES[end.type] + (end.type === 'fail' ? ` (${end.reason})` : '');
  const pairs: Pair[] = [
    ['run', run_id],
    ['simulation', `${metadata.simulation_name} ${metadata.simulation_version}`],
    ['outcome', outcome, end.type === 'complete' ? 'good' : 'bad'],
    ['code', codeText(identity)],
    ['output in', directory],
    ...('result' in end && end.result !== undefined ? resultPairs(end.result) : []),
  ];
  await writeLine(renderPairs(pairs, outputWidth()));
  if ('error_message' in end)
    await writeText(['', 'error', ...end.error_message.split('\n').map((line) => `  ${printable(line)}`.trimEnd())]);
}
