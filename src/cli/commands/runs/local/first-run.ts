/** The first run of a simulation, on this machine: it shows the outputs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../base/clock.ts';
import type { JobRunConfig } from '../../../../contract/types.ts';
import type { AttemptEnd } from '../../../../runner/attempt/outcome.ts';
import { numberOf, outputsOf } from '../../../../domain/runs/outputs.ts';

/** A run that takes longer is ended: outputs can be named without it. */
export const FIRST_RUN_SECS = 600;

export const NO_OUTPUT =
  'no output was found: return a dictionary from the function, print lines such as "range_m = 75.3" under simbatch init, or write a JSON object of numbers to metadata.json in SVC_OUTPUT_DIR: docs/simulation-authors.md';

export interface FirstRun {
  /** Output -> value; a missing value is null. */
  outputs: ReadonlyMap<string, number | null>;
  tookSecs: number;
  /** Why it failed; undefined where it has completed. */
  fault: string | undefined;
}

/** Executes the run and removes all that it leaves. Ctrl-C ends it. */
export async function firstRun(
  runConfig: JobRunConfig,
  entrypoint: string,
  pythonExecutable: string | undefined,
): Promise<FirstRun> {
  const { openLocalSite } = await import('./site.ts');
  const folder = await mkdtemp(join(tmpdir(), 'simbatch-first-'));
  const stop = new AbortController();
  const end = (): void => stop.abort();
  const cancel = systemClock.after(FIRST_RUN_SECS * 1000, end);
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    const directory = join(folder, 'run-0');
    const options = { entrypoint: [entrypoint], ...(pythonExecutable === undefined ? {} : { pythonExecutable }) };
    const site = await openLocalSite(undefined, { simulation: runConfig.metadata.simulation_name, options, directory });
    try {
      return ended(await site.execute(runConfig, directory, stop.signal));
    } finally {
      site.close();
    }
  } finally {
    cancel();
    process.off('SIGINT', end).off('SIGTERM', end);
    await rm(folder, { recursive: true, force: true });
  }
}

/** The outputs that the simulation gave: numbers, and null where one is missing; texts and notes of the runner are none. */
export function givenOutputs(metadata: object): Map<string, number | null> {
  const found = new Map<string, number | null>();
  for (const [name, value] of outputsOf(metadata))
    if (!name.startsWith('simbatch_') && (value === null || numberOf(value) !== undefined))
      found.set(name, numberOf(value) ?? null);
  return found;
}

function ended(end: AttemptEnd): FirstRun {
  if (end.type === 'complete') {
    const outputs = givenOutputs(end.result.metadata);
    return { outputs, tookSecs: end.result.execution_time_secs, fault: undefined };
  }
  const fault = 'error_message' in end ? end.error_message : `it was stopped, at the latest after ${FIRST_RUN_SECS} s`;
  return { outputs: new Map(), tookSecs: 0, fault };
}
