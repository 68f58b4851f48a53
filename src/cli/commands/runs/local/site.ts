/** The place where runs are executed on this machine for a person: settings, engine, interpreter, code. Loaded on demand. */
import { systemClock } from '../../../../base/clock.ts';
import type { BatchSubmission, CodeIdentity, JobRunConfig } from '../../../../contract/types.ts';
import { SimbatchError } from '../../../../domain/errors.ts';
import type { ExecutionSite } from '../../../../runner/attempt/execution-site.ts';
import type { AttemptEnd } from '../../../../runner/attempt/outcome.ts';
import { EngineCodes } from '../../../../runner/code/engine-codes.ts';
import { resolveConfig, type Engine, type RunnerConfig } from '../../../../runner/config/config.ts';
import { chooseEngine, findPython } from '../../../../runner/launch/engine.ts';
import { inheritedEnvironment } from '../../../../runner/launch/environment.ts';
import { ONLY_COLD } from '../../../../runner/launch/launchers.ts';
import { runLocally } from '../../../../runner/local-run.ts';
import { createLog } from '../../../../runner/log.ts';
import { openProcessTools } from '../../../../runner/processes/process-tools.ts';
import { Waits } from '../../../../runner/waits.ts';
import { configSources } from '../../pool/runner.ts';
import { localFunction, requireConsent } from './function.ts';

export interface LocalSite {
  config: RunnerConfig;
  engine: Engine;
  /** Looks at the code that a run executes now; undefined: not known. */
  identity(): Promise<CodeIdentity | undefined>;
  /** Executes a run here. @param place its folder, which must not exist */
  execute(runConfig: JobRunConfig, place: string, stop: AbortSignal): Promise<AttemptEnd>;
  close(): void;
}

interface Place {
  simulation: string;
  options: Readonly<Record<string, unknown>>;
  /** The output directory; the function of the study is written beside it. */
  directory: string;
  onSample?: ExecutionSite['onSample'];
}

/**
 * @throws Failure where the study carries a function and the person has not allowed to execute it
 * @throws SimbatchError `invalid-configuration` without an engine for the simulation
 */
export async function openLocalSite(
  study: Pick<BatchSubmission, 'config' | 'code'> | undefined,
  { simulation, options, directory, onSample }: Place,
): Promise<LocalSite> {
  requireConsent(study, options['allowFunctions'] === true);
  const config = resolveConfig(configSources(options));
  const log = createLog(process.stderr, { format: 'text', level: 'warn' });
  const python = await findPython(config.pythonExecutable, process.env['PATH'] ?? '');
  const carried = await localFunction(study, simulation, { python, directory });
  const engine = carried?.engine ?? chooseEngine(config.engines, simulation);
  if (engine === undefined)
    throw new SimbatchError('invalid-configuration', `no engine for ${simulation}; give --entrypoint`);
  const processes = openProcessTools(config.cgroup, `${directory} ${String(process.pid)}`, log);
  const code = carried?.code;
  const codes = new EngineCodes({
    config: { ...config, engines: [engine] },
    containers: undefined,
    clock: systemClock,
    log,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
  });
  const site: ExecutionSite = {
    waits: new Waits(systemClock),
    processes,
    clock: systemClock,
    log,
    launchers: ONLY_COLD,
    python: python?.executable,
    env: inheritedEnvironment(process.env, config.environmentInherited),
    environmentAllowed: config.environmentAllowed,
    workingDirectory: config.workingDirectory,
    ...(carried === undefined ? {} : { functions: carried.functions }),
    ...(onSample === undefined ? {} : { onSample }),
  };
  const executed = { engine, study: study?.config, ...(code === undefined ? {} : { code }) };
  return {
    config,
    engine,
    execute: (runConfig, place, stop) => runLocally(site, { ...executed, runConfig, directory: place }, stop),
    identity: async () => (await codes.of(code === undefined ? { engine } : { engine, code }))?.identity,
    close: () => processes.cgroups?.close(),
  };
}
