/** Options, execution and output that `run-one`, `try` and `replay` share. */
import { resolve } from 'node:path';
import { shortCode } from '../../../domain/code-name.ts';
import type { BatchSubmission, CodeIdentity, JobRunConfig } from '../../../contract/types.ts';
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
import { configOptions } from '../pool/runner.ts';
import { resultPairs } from './run.ts';

/** The settings of a runner that a run on this machine has. */
export const FIELDS_OF_A_RUN: readonly FieldName[] = [
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
  format: string;
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

/** Executes the run, prints its telemetry on stderr and its result in the format of `--format`, sets the exit code, and returns the end. */
export async function executeLocally(
  runConfig: JobRunConfig,
  study: Pick<BatchSubmission, 'config' | 'code'> | undefined,
  options: LocalOptions,
): Promise<AttemptEnd> {
  // Loaded on demand, so that other commands start fast.
  const { openLocalSite } = await import('./local/site.ts');
  const { freePlace, LiveTelemetry, runDirectory } = await import('../../../runner/local-run.ts');
  const name = runConfig.metadata.simulation_name;
  const directory =
    options.outputDir === undefined
      ? freePlace(runDirectory(process.cwd(), runConfig.run_id))
      : resolve(options.outputDir);
  const live = new LiveTelemetry(
    () => systemClock.monotonicMs(),
    (line) => process.stderr.write(`${line}\n`),
  );
  const local = await openLocalSite(study, {
    simulation: name,
    options,
    directory,
    ...(options.quiet === true ? {} : { onSample: live.take }),
  });
  const stop = new AbortController();
  const onInterrupt = (): void => {
    stop.abort();
  };
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt);
  process.stderr.write(
    `${local.engine.entrypoint}: run ${String(runConfig.run_id)} of ${name}, output in ${directory}\n`,
  );
  const identity = await local.identity();
  const end = await local.execute(runConfig, directory, stop.signal);
  local.close();
  process.off('SIGINT', onInterrupt).off('SIGTERM', onInterrupt);
  const failure = failureOf(end);
  if (options.format === 'json') {
    await writeJson(identity === undefined ? end : { ...end, code: identity });
    if (failure !== undefined) process.stderr.write(`${JSON.stringify(problemOf(failure))}\n`);
  } else {
    await printEnd(end, runConfig, { directory, identity });
    // A terminal has shown the message.
    if (end.type !== 'abandoned' && failure !== undefined && destination().isTTY !== true)
      process.stderr.write(`${failure.message}\n`);
  }
  if (failure !== undefined) process.exitCode = failure.exitCode;
  return end;
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
