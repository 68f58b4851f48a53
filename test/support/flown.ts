/** A study with runs of several classes, outputs of several types and rules: what answers are about. */
import type * as contract from '../../src/contract/types.ts';
import type { Scene } from './scene.ts';
import { study } from './studies.ts';

const REQUIREMENT = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5 };
const RULES = [{ variable: 'nz', condition: '> 3.8', description: 'load' }];

export interface FlownOptions {
  runs?: number;
  done?: number;
  version?: string;
  outputs?: NonNullable<contract.BatchSubmission['outputs']>;
  /** The rule ends no run; it would have ended every fifth. */
  shadow?: boolean;
  crashes?: boolean;
  /** Samples that each fifth run has lost. */
  lost?: number;
  method?: contract.SamplingMethod;
  run_ids?: string;
}

/** Submits a study with a requirement and reports its first runs: every seventh fails, every eleventh is terminated. */
export async function flown(scene: Scene, options: FlownOptions = {}): Promise<string> {
  const { runs = 60, done = runs, version = '1.0', outputs = { miss: { units: 'm' } }, shadow = false } = options;
  const { crashes = true, lost = 0, method = 'monte_carlo', run_ids = null } = options;
  const submission = study({
    runs,
    config: {
      simulation: { version },
      monte_carlo: { sampling_method: method, run_ids },
      early_termination: { enabled: true, check_frequency_hz: 1, conditions: RULES, shadow },
    },
  });
  const { batch_id } = await scene.api.submit({
    ...submission,
    requirements: [REQUIREMENT],
    outputs,
  });
  const { assignments } = await scene.claimRaw('a', done);
  const reports = assignments.flatMap(({ job, attempt }): contract.Report[] => {
    const { run_id: run, parameters } = job.run_config;
    const { wind = 0 } = parameters;
    const result = {
      execution_time_secs: 2,
      output_files: [],
      metadata: { miss: 10 * wind, nested: { hit: wind < 0 }, mode: run % 2 === 0 ? 'a' : 'b', list: [1] },
      ...(run % 5 === 0 && (shadow || lost > 0)
        ? { telemetry: { seen: ['nz'], samples: 9, lost: 1, refused: 0 } }
        : {}),
      ...(run % 5 === 0 && shadow ? { would_terminate: { ...RULES[0]!, value: 4, time_s: 1 } } : {}),
    };
    const end = { job_id: job.id, attempt };
    const failed = (reason: contract.FailReason, error_message: string): contract.Report => ({
      type: 'fail',
      ...end,
      reason,
      error_message,
      result,
    });
    const started: contract.Report = { type: 'start', ...end };
    if (crashes && run % 7 === 6) return [started, failed('invalid', `bad value ${run}`)];
    if (!shadow && run % 11 === 10)
      return [
        started,
        failed('early_termination', 'terminated early: nz > 3.8 was met by nz = 4 at telemetry time 1 s'),
      ];
    return [started, { type: 'complete', ...end, result }];
  });
  await scene.api.reports('a', { instance: scene.instance('a'), reports });
  return batch_id;
}
