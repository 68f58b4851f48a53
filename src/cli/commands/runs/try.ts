/** `simbatch try`: executes one run of a study file on this machine, without a coordinator. */
import type { Command } from 'commander';
import { INT32_MAX } from '../../../contract/limits.ts';
import { ofRun, runMetadata } from '../../../domain/runs/run-metadata.ts';
import { selectedRuns } from '../../../domain/runs/run-selection.ts';
import { studySampler } from '../../../domain/sampling/sampler.ts';
import type { JobRunConfig } from '../../../contract/types.ts';
import { systemClock } from '../../../base/clock.ts';
import type { BatchSubmission } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { integerBetween } from '../../options.ts';
import { note } from '../../terminal/output.ts';
import { loadStudy, requireDrawn } from '../../study/check-study.ts';
import { givenOutputs, NO_OUTPUT } from './local/first-run.ts';
import { entrypointBeside } from '../../init/entrypoint-beside.ts';
import { executeLocally, localCommand } from './local-run.ts';
import type { LocalOptions } from './local-run.ts';

/** The seed of a study that has none, here: a trial is to be repeatable. */
export const TRIAL_SEED = 0;

export function tryCommand(): Command {
  return localCommand(
    'try',
    'execute one run of a study file here, with its sampled parameters, telemetry and early termination',
  )
    .argument('<study>', 'the study file, - for standard input')
    .option('--run <n>', 'the run of the design', integerBetween(0, INT32_MAX), 0)
    .action(async (file: string, options: LocalOptions & { run: number }) => {
      const { submission } = await loadStudy(file);
      const { config } = submission;
      if (selectedRuns(config, submission.runs_override).indexOf(options.run) === undefined) {
        const { runs } = config.monte_carlo;
        throw new Failure(
          EXIT.missing,
          `the study does not hold run ${options.run} of its design of ${runs} runs; choose another with --run`,
        );
      }
      const entrypoint =
        isConfigured(options) || submission.code ? undefined : entrypointBeside(file, config.simulation.name);
      const given = entrypoint === undefined ? options : { ...options, entrypoint: [entrypoint] };
      const end = await executeLocally(runConfigOf(options.run, config), submission, given);
      if (end.type !== 'complete' || givenOutputs(end.result.metadata).size > 0) return;
      note(NO_OUTPUT);
      process.exitCode = EXIT.runsFailed;
    });
}

/** True where the user says what is executed. */
const isConfigured = ({ entrypoint, config }: LocalOptions): boolean =>
  entrypoint !== undefined ||
  config !== undefined ||
  process.env['SVC_RUNNER_ENTRYPOINT'] !== undefined ||
  process.env['SVC_RUNNER_ENGINES'] !== undefined;

/** Run 0 of a study that was checked. */
export const firstRunConfig = (study: unknown): JobRunConfig => runConfigOf(0, (study as BatchSubmission).config);

function runConfigOf(run: number, config: Awaited<ReturnType<typeof loadStudy>>['submission']['config']): JobRunConfig {
  const seed = config.monte_carlo.seed ?? TRIAL_SEED;
  if (config.monte_carlo.seed == null)
    note(`the study has no seed: ${TRIAL_SEED} is used here, and the coordinator draws another`);
  requireDrawn(config);
  const sampler = studySampler(config, seed);
  return {
    run_id: run,
    parameters: sampler.parameters(run),
    metadata: ofRun(sampler, runMetadata(config, seed, new Date(systemClock.now()).toISOString()), run),
  };
}
