/** `simbatch files push`: sends files that runners of this machine could not send, with the credential of the runner. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import type { Client } from '../../../client/client.ts';
import type { PushedRunner, RunnerOrigin } from '../../../runner/files/push.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { OutputCommand } from '../../output-command.ts';
import { WorkProgress } from '../../progress/work-progress.ts';
import { plural, printable } from '../../terminal/format.ts';
import { writeJson, writeLine } from '../../terminal/output.ts';
import { configOptions, configSources } from '../pool/runner.ts';

/** The settings of a runner that a push needs. */
const SETTINGS = ['output_root', 'endpoint', 'token_file', 'token_fd'] as const;

interface PushFlags {
  format: string;
  [name: string]: unknown;
}

export function filesPushCommand(): OutputCommand {
  const command = new OutputCommand('push', ['table', 'json'])
    .description('send files that runners of this machine could not send to the object store')
    .argument('[study]', 'the id of a study, or its beginning; otherwise all')
    .option('--config <file>', 'YAML configuration file of the runner');
  for (const option of configOptions(SETTINGS)) command.addOption(option);
  return command.action(pushFiles);
}

async function pushFiles(study: string | undefined, flags: PushFlags): Promise<void> {
  if (study !== undefined && !/^[0-9a-f][0-9a-f-]{0,35}$/i.test(study)) {
    throw new Failure(
      EXIT.usage,
      `the study ${JSON.stringify(study)} is not an id: this machine does not know names; give the id, its beginning, or nothing for all studies`,
    );
  }
  // Loaded on demand, so that other commands start fast.
  const { readConfig } = await import('../../../runner/config/config.ts');
  const { push, runnersIn } = await import('../../../runner/files/push.ts');
  const outputRoot = rootOf(readConfig(configSources(flags)).config.outputRoot);
  if (runnersIn(outputRoot).length === 0) {
    throw new Failure(
      EXIT.missing,
      `no runner has left files in ${outputRoot}: run this in the folder in which the runner was started, or name its --output-root`,
    );
  }
  const bar = new WorkProgress();
  const runners: PushedRunner[] = [];
  try {
    const options = {
      outputRoot,
      study: study?.toLowerCase(),
      clientOf: await clientsFor(flags),
      clock: systemClock,
      onProgress: (done: number, total: number) => bar.show('files sent', done, total),
    };
    for await (const pushed of push(options)) runners.push(pushed);
  } finally {
    bar.end();
    await show(runners, flags.format);
  }
  process.exitCode = exitCodeOf(runners);
}

/** The output root: the one of the settings, or the working directory where the command is called inside of a root. */
function rootOf(configured: string): string {
  const here = resolve('.');
  return !existsSync(resolve(configured, '.simbatch-runner')) && existsSync(resolve(here, '.simbatch-runner'))
    ? here
    : configured;
}

/** Settings count in the order flags, environment, file; then those with which the runner was started. */
async function clientsFor(flags: PushFlags): Promise<(origin: RunnerOrigin) => Client> {
  const { readConfig } = await import('../../../runner/config/config.ts');
  const { readCredential } = await import('../../../runner/config/credential.ts');
  const { clientOf } = await import('../../../client/http-fetch.ts');
  return ({ endpoint, tokenFile }) => {
    const sources = configSources(flags);
    const isStored = sources.file === undefined;
    const hasToken = sources.env['SVC_TOKEN'] !== undefined || sources.flags.token_fd !== undefined;
    const stored = {
      ...(isStored && endpoint !== undefined ? { SVC_ENDPOINT: endpoint } : {}),
      ...(isStored && !hasToken && tokenFile !== undefined ? { SVC_TOKEN_FILE: tokenFile } : {}),
    };
    const { config, faults: all } = readConfig({ ...sources, env: { ...stored, ...sources.env } });
    const { token, faults } = readCredential({ ...config, env: sources.env });
    // A push executes nothing: the settings of simulations are those of the runner.
    const found = [...all.filter((it) => SETTINGS.some((name) => it.includes(`${name} is `))), ...faults];
    if (found.length > 0) throw new Failure(EXIT.configuration, found.join('; '));
    return clientOf({ endpoint: config.endpoint, ...(token === undefined ? {} : { token }) });
  };
}

async function show(runners: readonly PushedRunner[], format: string): Promise<void> {
  if (format === 'json') return writeJson({ runners });
  if (runners.length === 0) return writeLine('no files wait here');
  for (const { runner_id, sent, left, lost, superseded, reason } of runners) {
    const parts = [
      ...(sent > 0 ? [`${plural(sent, 'file')} sent`] : []),
      ...(left > 0 ? [`${plural(left, 'file')} left`] : []),
      ...(lost.length > 0 ? [`${plural(lost.length, 'file')} lost`] : []),
      ...(superseded > 0 ? [`${plural(superseded, 'file')} of attempts that do not count, left where they are`] : []),
    ];
    const why = reason === undefined ? '' : `${parts.length > 0 ? ': ' : ''}${printable(reason)}`;
    await writeLine(`runner ${printable(runner_id)}: ${parts.join(', ')}${why}`);
    for (const text of lost) await writeLine(`  ${printable(text)}`);
  }
}

/** 75: only runners that run are left, and they send their files themselves; 1: files are left or lost. */
function exitCodeOf(runners: readonly PushedRunner[]): number {
  if (runners.some(({ left, lost }) => left > 0 || lost.length > 0)) return EXIT.failed;
  return runners.some(({ sent, superseded, reason }) => sent + superseded === 0 && reason !== undefined)
    ? EXIT.conflict
    : EXIT.ok;
}
