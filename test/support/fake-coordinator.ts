/**
 * The stand-in of a coordinator over real HTTP, for tests of its clients. For the runner it keeps the runner's side of the contract
 * (claims, attempts, reports, cancel, lost) in memory and misbehaves on demand; a test may also script each answer itself.
 * Not the product's coordinator, and knows nothing of batches.
 */
import { randomBytes } from 'node:crypto';
import { jobId, newBatchId } from '../../src/domain/ids.ts';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { stringifyExact } from '../../src/base/json/json-writing.ts';
import type {
  Assignment,
  AttemptRef,
  BatchConfig,
  ClaimRequest,
  HeartbeatRequest,
  Job,
  RegisterRequest,
  Report,
  ReportOutcome,
  ReportsRequest,
  Seed,
} from '../../src/contract/types.ts';

export interface FakeJob {
  job: Job;
  attempt: number;
  /** Every report that was accepted, in order. */
  accepted: Report[];
  environment: Record<string, string>;
  earlyTermination: BatchConfig['early_termination'];
  telemetry: Partial<BatchConfig['telemetry']>;
  declared: Pick<BatchConfig, 'histories' | 'derived'>;
  cancelled: boolean;
}

export interface JobSpec {
  environment?: Record<string, string>;
  timeoutSecs?: number;
  /** The study of the job; absent: one of its own. Jobs of one study have the same environment. */
  batchId?: string;
  simulation?: string;
  seed?: Seed;
  parameters?: Record<string, number>;
  earlyTermination?: BatchConfig['early_termination'];
  /** Differences from 100 Hz, all variables, no compression, a flush every second. */
  telemetry?: Partial<BatchConfig['telemetry']>;
  /** Its histories and derived outputs. */
  declared?: Pick<BatchConfig, 'histories' | 'derived'>;
}

/** Answers a request in place of the stand-in. */
export type Script = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** `drop-reply`: the request takes effect and its answer is lost. `hang-up`: it never arrives. A number: that status. */
export type Fault = 'drop-reply' | 'hang-up' | number | undefined;

const STATUS_AFTER = {
  start: 'Running',
  complete: 'Completed',
  fail: 'Failed',
  hand_back: 'Pending',
  release: 'Pending',
} as const;

export class FakeCoordinator {
  readonly jobs: FakeJob[] = [];
  /** Every registration that arrived, accepted or not. */
  readonly registrations: RegisterRequest[] = [];
  /** Path of every request that arrived, with its method. */
  readonly requests: string[] = [];
  readonly authorizations = new Set<string | undefined>();
  heartbeats = 0;
  /** `compute.isolation` of every study. */
  isolation: 'process' | 'shared' = 'process';
  signedOff = 0;
  /** Asked for each request, with its body. */
  fault: (path: string, body: string) => Fault = () => undefined;
  /** Answers each request, where a test sets it. */
  script: Script | undefined;
  /** How long the answer of a request is delayed, in milliseconds. */
  delayMs: (path: string) => number = () => 0;
  /** Heartbeats that are being answered. */
  heartbeatsInFlight = 0;
  /** `heartbeatsInFlight` at each sign-off. */
  readonly inFlightAtSignOff: number[] = [];
  readonly #server: Server;
  #instance: string | undefined;
  #id = '';
  #places = 0;
  /** As the last heartbeat reported. */
  slotsLost = 0;
  #waiters: (() => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeCoordinator> {
    const server = createServer();
    const fake = new FakeCoordinator(server);
    server.on('request', (request, response) => void fake.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('not listening');
    return `http://127.0.0.1:${String(address.port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Forgets the registered process, as after the loss of the store. */
  forget(): void {
    this.#instance = undefined;
  }

  add(...specs: JobSpec[]): FakeJob[] {
    const added = specs.map((spec): FakeJob => {
      const runId = this.jobs.length;
      // A separate batch, because each has its own environment.
      const batchId = spec.batchId ?? newBatchId(0, randomBytes(6));
      const job: FakeJob = {
        attempt: 0,
        accepted: [],
        cancelled: false,
        environment: spec.environment ?? {},
        telemetry: spec.telemetry ?? {},
        declared: spec.declared ?? {},
        earlyTermination: spec.earlyTermination ?? { enabled: false, check_frequency_hz: 10, conditions: [] },
        job: {
          id: jobId(batchId, runId),
          batch_id: batchId,
          status: 'Pending',
          run_config: {
            run_id: runId,
            parameters: spec.parameters ?? { mass: 1.5 },
            metadata: {
              simulation_name: spec.simulation ?? 'test',
              simulation_version: '1',
              duration_minutes: 1,
              sampling_method: 'monte_carlo',
              generated_at: new Date(0).toISOString(),
              seed: spec.seed ?? 42,
            },
          },
          retries: 0,
          max_retries: 0,
          timeout_secs: spec.timeoutSecs ?? 0,
          created_at: new Date(0).toISOString(),
        },
      };
      this.jobs.push(job);
      return job;
    });
    this.#changed();
    return added;
  }

  /** Takes a job from its runner, as when its lease ended. */
  reassign(job: FakeJob): void {
    job.job.status = 'Pending';
    job.attempt += 1;
    delete job.job.assigned_runner;
    job.job.assigned_runner = 'another';
    job.job.status = 'Claimed';
    this.#changed();
  }

  cancel(job: FakeJob): void {
    job.cancelled = true;
    job.job.status = 'Cancelled';
  }

  /** Resolves once the condition holds; it is evaluated after each request and each change. */
  async until(what: string, holds: () => boolean): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`waited in vain until ${what}; requests: ${this.requests.slice(-20).join(', ')}`));
      }, 60_000);
    });
    try {
      while (!holds()) await Promise.race([this.#change(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Hangs up on the reports of outcomes, until `fault` is set again. Returns a function that counts the refused requests. */
  refuseOutcomes(): () => number {
    let refused = 0;
    this.fault = (path, body) => {
      if (!path.endsWith('/reports')) return undefined;
      if ((JSON.parse(body) as ReportsRequest).reports.every((it) => it.type === 'start')) return undefined;
      refused += 1;
      return 'hang-up';
    };
    return () => refused;
  }

  #changed(): void {
    const waiting = this.#waiters;
    this.#waiters = [];
    for (const wake of waiting) wake();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '', 'http://x').pathname;
    this.requests.push(`${request.method ?? ''} ${path}`);
    this.authorizations.add(request.headers.authorization);
    this.#changed();
    const isHeartbeat = path.endsWith('/heartbeat');
    if (isHeartbeat) this.heartbeatsInFlight += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const fault = this.fault(path, text);
    if (fault === 'hang-up') {
      if (isHeartbeat) this.heartbeatsInFlight -= 1;
      this.#changed();
      request.socket.destroy();
      return;
    }
    if (this.script !== undefined) {
      this.script(request, response, text);
      return;
    }
    const answer = typeof fault === 'number' ? problem(fault, 'unavailable') : await this.#answer(path, text, response);
    if (this.delayMs(path) > 0) await pause(this.delayMs(path));
    if (isHeartbeat) this.heartbeatsInFlight -= 1;
    this.#changed();
    if (fault === 'drop-reply') request.socket.destroy();
    else {
      response.statusCode = answer.status;
      response.setHeader('content-type', 'application/json');
      response.end(stringifyExact(answer.body));
    }
  }

  async #answer(path: string, text: string, response: ServerResponse): Promise<{ status: number; body: unknown }> {
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    const body: any = text === '' ? undefined : JSON.parse(text);
    if (parts[0] !== 'runners') return this.#client(parts);
    if (parts.length === 1) return this.#register(body);
    if (body.instance !== this.#instance) return problem(404, 'unknown-runner');
    if (parts[2] === 'heartbeat') return this.#heartbeat(body);
    if (parts[2] === 'claims') return await this.#claim(body, response);
    if (parts[2] === 'reports') return ok({ outcomes: (body as ReportsRequest).reports.map((it) => this.#judge(it)) });
    this.signedOff += 1;
    this.inFlightAtSignOff.push(this.heartbeatsInFlight);
    for (const job of this.jobs.filter((it) => this.#isHeld(it))) job.job.status = 'Pending';
    this.#instance = undefined;
    return ok({});
  }

  #client(parts: string[]): { status: number; body: unknown } {
    const found = this.jobs.find((it) => it.job.id === parts[1]);
    if (parts[0] === 'jobs' && found !== undefined) return ok(found.job);
    if (parts[0] === 'batches' && parts[2] === 'submission' && this.jobs[0] !== undefined) {
      return ok({ name: 'study', config: configOf(this.jobs[0], this.isolation) });
    }
    return problem(404, 'not-found');
  }

  #register(body: RegisterRequest): { status: number; body: unknown } {
    this.registrations.push(body);
    if (this.#instance !== undefined && body.instance !== this.#instance && body.replaces !== this.#instance) {
      return problem(409, 'runner-id-in-use');
    }
    // Attempts of the former process that this one does not name are released.
    for (const job of this.jobs.filter((it) => this.#isHeld(it))) {
      if (body.instance !== this.#instance && !names(body.holding ?? [], job)) job.job.status = 'Pending';
    }
    this.#instance = body.instance;
    this.#id = body.id;
    this.#places = body.capabilities.max_concurrent_jobs;
    return ok({
      runner: {},
      heartbeat_interval_secs: 1,
      offline_after_secs: 15,
      lease_secs: 60,
      lost: this.#lost(body.holding ?? []),
    });
  }

  #heartbeat(body: HeartbeatRequest): { status: number; body: unknown } {
    this.heartbeats += 1;
    this.slotsLost = body.slots_lost ?? 0;
    const cancel = this.jobs.filter((it) => it.cancelled && names(body.holding, it));
    return ok({
      runner: {},
      cancel: cancel.map((it) => ({ job_id: it.job.id, attempt: it.attempt, reason: 'asked to' })),
      lost: this.#lost(body.holding).filter((ref) => !cancel.some((it) => it.job.id === ref.job_id)),
    });
  }

  async #claim(body: ClaimRequest, response: ServerResponse): Promise<{ status: number; body: unknown }> {
    const assignments: Assignment[] = [];
    const open = (): FakeJob | undefined =>
      this.jobs.find(
        (it) =>
          (it.job.status === 'Pending' &&
            this.jobs.filter((one) => this.#isHeld(one)).length < this.#places - this.slotsLost + (body.ahead ?? 0)) ||
          (it.job.status === 'Claimed' && this.#isHeld(it) && !names(body.holding ?? [], it)),
      );
    while (open() === undefined && !response.destroyed && this.#instance === body.instance) await this.#change();
    if (response.destroyed) return ok({});
    for (let job = open(); job !== undefined && assignments.length < body.max_jobs; job = open()) {
      if (job.job.status === 'Pending') job.attempt += 1;
      job.job.status = 'Claimed';
      job.job.assigned_runner = this.#id;
      assignments.push({ job: structuredClone(job.job), attempt: job.attempt });
      (body.holding ??= []).push({ job_id: job.job.id, attempt: job.attempt });
    }
    const batches = Object.fromEntries(
      assignments.map((it) => [
        it.job.batch_id,
        { config: configOf(this.jobs.find((one) => one.job.id === it.job.id) as FakeJob, this.isolation) },
      ]),
    );
    return ok({ assignments, batches });
  }

  #judge(report: Report): ReportOutcome {
    const job = this.jobs.find((it) => it.job.id === report.job_id);
    const { job_id } = report;
    if (job === undefined) return { job_id, problem: problem(404, 'unknown-job').body };
    const repeated = job.accepted.some((it) => it.attempt === report.attempt && it.type === report.type);
    if (repeated) return { job_id, status: job.job.status };
    if (report.attempt !== job.attempt || job.job.assigned_runner !== this.#id) {
      return { job_id, problem: problem(409, 'stale-attempt').body };
    }
    const from = report.type === 'start' || report.type === 'hand_back' ? 'Claimed' : 'Running';
    if (job.job.status !== from) {
      return { job_id, problem: problem(409, 'illegal-transition').body };
    }
    job.accepted.push(report);
    job.job.status = STATUS_AFTER[report.type];
    return { job_id, status: job.job.status };
  }

  #isHeld(job: FakeJob): boolean {
    return ['Claimed', 'Running'].includes(job.job.status) && job.job.assigned_runner === this.#id;
  }

  #lost(holding: readonly AttemptRef[]): AttemptRef[] {
    return holding.filter((ref) => !this.jobs.some((it) => names([ref], it) && this.#isHeld(it)));
  }
}

function names(holding: readonly AttemptRef[], job: FakeJob): boolean {
  return holding.some((ref) => ref.job_id === job.job.id && ref.attempt === job.attempt);
}

function ok(body: unknown): { status: number; body: unknown } {
  return { status: 200, body };
}

function problem(status: number, code: string) {
  return { status, body: { type: 'about:blank', title: code, status, detail: `it is ${code}`, code } };
}

export function configOf(job: FakeJob, isolation: 'process' | 'shared' = 'process'): BatchConfig {
  return {
    simulation: { name: job.job.run_config.metadata.simulation_name, version: '1', duration_minutes: 1 },
    monte_carlo: { runs: 1, sampling_method: 'monte_carlo', seed: 42 },
    dispersions: {},
    compute: {
      container: { image: 'none', cpu_request: '0', memory_request: '0', environment: job.environment },
      max_parallel_jobs: 0,
      job_timeout_seconds: job.job.timeout_secs,
      ...(isolation === 'shared' ? { isolation } : {}),
    },
    early_termination: job.earlyTermination,
    telemetry: {
      sampling_rate_hz: 100,
      variables: [],
      storage: { s3_bucket: '', s3_prefix: '', compression: 'none' },
      buffer_flush_interval_seconds: 1,
      ...job.telemetry,
    },
    ...job.declared,
  };
}
