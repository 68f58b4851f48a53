/** The runs of a probe executed on this machine, without a coordinator, as `simbatch try` executes one. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runClassOf } from '../../../analysis/table/run-class.ts';
import { inParallel } from '../../../base/async/in-parallel.ts';
import { systemClock } from '../../../base/clock.ts';
import type { BatchSubmission, CodeIdentity, JobRunConfig } from '../../../contract/types.ts';
import type { ProbePlan } from '../../../domain/probe/plan.ts';
import { probeTable, type ProbeRun, type ProbeTable } from '../../../domain/probe/table.ts';
import { outputsOf } from '../../../domain/runs/outputs.ts';
import { runMetadata } from '../../../domain/runs/run-metadata.ts';
import { studySampler } from '../../../domain/sampling/sampler.ts';
import type { AttemptEnd } from '../../../runner/attempt/outcome.ts';
import { freePlace, runDirectory } from '../../../runner/local-run.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { interruptible, RunsProgress } from '../../points/persist.ts';
import { plural } from '../../terminal/format.ts';
import { note } from '../../terminal/output.ts';
import { openLocalSite } from '../runs/local/site.ts';
import { TRIAL_SEED } from '../runs/try.ts';

export interface LocalProbe {
  /** Has a folder for each run. */
  directory: string;
  /** Undefined: not known. */
  code: CodeIdentity | undefined;
  table: ProbeTable;
  /** Why the nominal run has failed. */
  nominalError?: string;
}

/** Executes the runs, several at the same time as a runner does, and compares them. @param study the study that is probed */
export async function probeHere(
  study: BatchSubmission,
  plan: ProbePlan,
  options: Readonly<Record<string, unknown>> & { outputDir?: string },
): Promise<LocalProbe> {
  const directory = options.outputDir === undefined ? freePlace(resolve('probe')) : resolve(options.outputDir);
  if (existsSync(directory)) throw new Failure(EXIT.cannotOpen, `${directory} exists; give another --output-dir`);
  const configs = runConfigs(plan);
  const place = { simulation: study.config.simulation.name, options, directory: join(directory, 'code') };
  const local = await openLocalSite(study, place);
  await mkdir(directory, { recursive: true });
  const { config, engine } = local;
  const { max_parallel_jobs: cap } = study.config.compute;
  const atOnce = Math.min(config.maxConcurrentJobs, cap > 0 ? cap : Infinity, configs.length);
  note(`${engine.entrypoint}: ${plural(configs.length, 'run')}, ${atOnce} at once, output in ${directory}`);
  try {
    const identity = await local.identity();
    const counts: Record<string, number> = { open: configs.length };
    const progress = new RunsProgress('probe');
    let nominalError: string | undefined;
    const runs = await interruptible(
      () => `the probe was stopped before its end; the output of its runs is in ${directory}`,
      (signal) =>
        inParallel(configs, atOnce, async (runConfig) => {
          signal.throwIfAborted();
          const end = await local.execute(runConfig, runDirectory(directory, runConfig.run_id), signal);
          signal.throwIfAborted();
          if (runConfig.run_id === 0 && 'error_message' in end) nominalError = end.error_message;
          const probed = probeRun(runConfig.run_id, end);
          counts['open'] = counts['open']! - 1;
          counts[probed.class] = (counts[probed.class] ?? 0) + 1;
          progress.show(counts);
          return probed;
        }),
    );
    const probed = { directory, code: identity, table: probeTable(plan, runs) };
    return nominalError === undefined ? probed : { ...probed, nominalError };
  } finally {
    local.close();
  }
}

/** The run configurations that a coordinator would give: all runs have the draw 0. */
function runConfigs({ submission, inputs, rows }: ProbePlan): JobRunConfig[] {
  const { config } = submission;
  const seed = config.monte_carlo.seed ?? TRIAL_SEED;
  // The inputs of a probe are sorted, as the chosen names of a sampler are.
  const values = rows.map((row) => Float64Array.from(inputs, ({ name }) => row[name]!));
  const rowOf = (run: number) => ({ draw: 0, values: values[run]!, offset: 0 });
  const sampler = studySampler(config, seed, undefined, rowOf);
  const metadata = { ...runMetadata(config, seed, new Date(systemClock.now()).toISOString()), draw: 0 };
  return rows.map((_, run) => ({ run_id: run, parameters: sampler.parameters(run), metadata }));
}

function probeRun(run: number, end: AttemptEnd): ProbeRun {
  const result = 'result' in end ? end.result : undefined;
  const outputs = result === undefined ? {} : Object.fromEntries(outputsOf(result.metadata ?? {}));
  const probed = { run_id: run, class: classOf(end), outputs };
  const read = result?.parameters_read;
  return read === undefined ? probed : { ...probed, parameters_read: read };
}

function classOf(end: AttemptEnd): ProbeRun['class'] {
  if (end.type === 'complete') return 'ok';
  return end.type === 'fail' ? runClassOf('Failed', end.reason) : 'lost';
}
