/** The identity of a runner: what it states when it registers, apart from the runs it holds. */
import type { RegisterRequest } from '../../contract/types.ts';
import { EXTRACTION_FEATURE, HISTORIES_FEATURE, SCENARIOS_FEATURE } from '../../domain/histories/feature.ts';
import { ALLOWED } from '../../domain/runner-settings.ts';
import { supportedSimulationTypes, type RunnerConfig } from '../config/config.ts';
import { countsOf } from '../config/resources.ts';

export type Identity = Omit<RegisterRequest, 'holding' | 'slots_lost' | 'replaces'>;

export interface Process {
  /** The random name of this process. */
  instance: string;
  pythonVersion: string | undefined;
  /** When the runner has left, as an instant; undefined: never. */
  endMs: number | undefined;
}

export function identityOf(config: RunnerConfig, { instance, pythonVersion, endMs }: Process): Identity {
  const resources = countsOf(config);
  return {
    id: config.id,
    name: config.name,
    capabilities: {
      max_concurrent_jobs: config.maxConcurrentJobs,
      cpu_cores: config.cpuCores,
      memory_gb: config.memoryGb,
      gpu_available: config.gpuAvailable || (config.devices ?? []).length > 0,
      supported_simulation_types: supportedSimulationTypes(config),
      ...(pythonVersion === undefined ? {} : { python_version: pythonVersion }),
      ...(config.containers.runtime === 'none'
        ? {}
        : { container_runtime: config.containers.runtime, container_images: [...config.containers.images] }),
      environment_allowed: [...ALLOWED, ...config.environmentAllowed],
      ...(resources === undefined ? {} : { resources: { ...resources } }),
      ...(config.onlyWith === undefined ? {} : { only_with: [...config.onlyWith] }),
      features: [HISTORIES_FEATURE, EXTRACTION_FEATURE, SCENARIOS_FEATURE],
    },
    tags: [...config.tags],
    instance,
    heartbeat_interval_secs: config.heartbeatIntervalSecs,
    ...(config.allocation === undefined ? {} : { allocation: config.allocation }),
    ...(endMs === undefined ? {} : { ends_at: new Date(endMs).toISOString() }),
    ...(config.isEphemeral ? { ephemeral: true } : {}),
    hostname: config.hostname,
  };
}
