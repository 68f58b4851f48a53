/** A coordinator on a store in memory and a simulated clock, with short methods for requests of clients and runners. */
import type { ActorFailed } from '../../machines/protocol.ts';
import { SimbatchError } from '../../src/domain/errors.ts';
import { jobId, runIdOf } from '../../src/domain/ids.ts';
import type {
  AttemptRef,
  ClaimResponse,
  FailReason,
  Job,
  RegisterRequest,
  RegisterResponse,
  RunnerCapabilities,
  Uuid,
} from '../../src/contract/types.ts';
import type { Listing } from '../../src/coordinator/reads/listings.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import type { CoordinatorOptions } from '../../src/coordinator/options.ts';
import type { TurnObserver } from '../../src/coordinator/kernel/turn/measured-turns.ts';
import type { Store } from '../../src/coordinator/kernel/storage/store.ts';
import { MemoryStore, type MemoryStoreOptions } from './memory-store.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { study, type StudyOptions } from './studies.ts';

export const RESULT = { execution_time_secs: 1, output_files: ['out.csv'], metadata: { miss: 1 } };

export interface RunnerOptions extends Partial<RegisterRequest> {
  slots?: number;
  types?: string[];
  cpuCores?: number;
  memoryGb?: number;
}

export class Scene {
  readonly world = new SimulatedClock();
  readonly faults: unknown[] = [];
  readonly failures: SimbatchError[] = [];
  readonly failedActors: ActorFailed[] = [];
  readonly #instances = new Map<string, string>();
  readonly #settings: Partial<CoordinatorOptions>;
  #onTurn: TurnObserver | undefined;
  store: MemoryStore;
  api!: Coordinator;

  private constructor(store: MemoryStore, settings: Partial<CoordinatorOptions>) {
    this.store = store;
    this.#settings = settings;
  }

  static async open(
    options: MemoryStoreOptions & Partial<CoordinatorOptions> & { onTurn?: TurnObserver } = {},
  ): Promise<Scene> {
    const { beforeWrite, onTurn, ...settings } = options;
    const scene = new Scene(new MemoryStore(new Map(), beforeWrite === undefined ? {} : { beforeWrite }), settings);
    scene.#onTurn = onTurn;
    await scene.#begin(scene.store);
    return scene;
  }

  async #begin(store: Store): Promise<void> {
    const news = {
      fault: (_operation: string, error: unknown) => void this.faults.push(error),
      failed: (error: SimbatchError) => void this.failures.push(error),
      actorFailed: (failure: ActorFailed) => void this.failedActors.push(failure),
      ...(this.#onTurn === undefined ? {} : { turn: this.#onTurn }),
    };
    this.api = await openCoordinator(store, this.world, { ...this.#settings, hooks: news });
  }

  /** Crashes the coordinator, and opens another one on the same disk. */
  async restart(options: MemoryStoreOptions = {}): Promise<void> {
    this.store.crash();
    // The thread of its answers ends with the process.
    const { thread } = this.api.parts.answers;
    if (thread.worker !== undefined) await thread.stop();
    this.store = new MemoryStore(this.store.disk, options);
    await this.#begin(this.store);
  }

  async submit(options: StudyOptions = {}): Promise<Uuid> {
    return (await this.api.submit(study(options))).batch_id;
  }

  register(id: string, options: RunnerOptions = {}): Promise<RegisterResponse> {
    const { slots = 1, types = [], cpuCores = 0, memoryGb = 0, ...request } = options;
    const capabilities: RunnerCapabilities = {
      max_concurrent_jobs: slots,
      cpu_cores: cpuCores,
      memory_gb: memoryGb,
      gpu_available: false,
      supported_simulation_types: types,
    };
    const instance = request.instance ?? `${id}-1`;
    this.#instances.set(id, instance);
    return this.api.register({ id, instance, capabilities, ...request });
  }

  instance(id: string): string {
    return this.#instances.get(id) ?? 'none';
  }

  async claim(id: string, max = 1, holding?: AttemptRef[]): Promise<number[]> {
    return runs(await this.claimRaw(id, max, 0, holding));
  }

  claimRaw(id: string, max = 1, waitSecs = 0, holding?: AttemptRef[], abandoned?: AbortSignal): Promise<ClaimResponse> {
    const request = { instance: this.instance(id), max_jobs: max, wait_seconds: waitSecs };
    return this.api.claim(id, holding === undefined ? request : { ...request, holding }, abandoned);
  }

  beat(id: string, holding: AttemptRef[] = []): ReturnType<Coordinator['heartbeat']> {
    return this.api.heartbeat(id, { instance: this.instance(id), holding });
  }

  start(batch: Uuid, run: number, runner: string, attempt = 1): Promise<Job> {
    return this.api.start(jobId(batch, run), { runner_id: runner, attempt });
  }

  complete(batch: Uuid, run: number, runner: string, attempt = 1): Promise<Job> {
    return this.api.complete(jobId(batch, run), { runner_id: runner, attempt, result: RESULT });
  }

  /** A message that repeats is final. */
  fail(
    batch: Uuid,
    run: number,
    runner: string,
    attempt = 1,
    reason: FailReason = 'exit',
    error_message = 'broke',
  ): Promise<Job> {
    return this.api.fail(jobId(batch, run), { runner_id: runner, attempt, reason, error_message });
  }

  /** Claims one run and starts it; the runner needs a free slot. */
  async running(batch: Uuid, run: number, runner: string, attempt = 1): Promise<void> {
    const claimed = await this.claim(runner);
    if (claimed[0] !== run) throw new Error(`claimed ${claimed.join()} and not ${run}`);
    await this.start(batch, run, runner, attempt);
  }

  async jobStatus(batch: Uuid, run: number): Promise<string> {
    return (await this.api.job(jobId(batch, run))).status;
  }

  /** The batch's status and its counts that are not zero: `Running: 2 Pending, 1 Claimed`. */
  async status(batch: Uuid): Promise<string> {
    const it = await this.api.batch(batch);
    const counts = Object.entries(it.jobs_by_status).filter(([, count]) => count > 0);
    return `${it.batch.status}: ${counts.map(([status, count]) => `${count} ${status}`).join(', ')}`;
  }

  async runnerStatus(id: string): Promise<string> {
    return (await this.api.runner(id)).status;
  }
}

/** The run ids of the assignments. */
export const runs = (response: ClaimResponse): number[] => response.assignments.map((it) => it.job.run_config.run_id);

export const ref = (batch: Uuid, run: number, attempt = 1): AttemptRef => ({ job_id: jobId(batch, run), attempt });

export const runOf = (job: { id: Uuid }): number => runIdOf(job.id);

/** The code of the refusal, or `ok`. */
export async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return 'ok';
  } catch (error) {
    if (error instanceof SimbatchError) return error.code;
    throw error;
  }
}

export async function all<T>(listing: Listing<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const chunk of listing.chunks) items.push(...chunk);
  return items;
}

/** The run ids of a batch's samples, in their order. */
export async function sampledRuns(api: Pick<Coordinator, 'samples'>, batchId: Uuid): Promise<number[]> {
  let text = '';
  for await (const part of await api.samples(batchId, 'ndjson')) text += part;
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { run_id: number }).run_id);
}
