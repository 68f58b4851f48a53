/** A coordinator without state: says what it was asked, and answers from fixed examples. For the tests of http/ alone. */
import { systemClock } from '../../src/base/clock.ts';
import { EventLoopShare } from '../../src/base/event-loop-share.ts';
import { designText } from '../../src/domain/sampling/design-table.ts';
import { RunSelection } from '../../src/domain/runs/run-selection.ts';
import { RunTableBuilder } from '../../src/analysis/table/table-builder.ts';
import { stringifyExact } from '../../src/base/json/json-writing.ts';
import { MoveTally } from '../../machines/job-parts/moves.ts';
import { answerTo, concluded } from '../../src/analysis/questions.ts';
import type { DrawnTelemetry } from '../../src/analysis/table/drawn-telemetry.ts';
import type { AnsweredStudy } from '../../src/analysis/table/answered-study.ts';
import { createSampler } from '../../src/domain/sampling/sampler.ts';
import { SimbatchError } from '../../src/domain/errors.ts';
import { jobId } from '../../src/domain/ids.ts';
import type * as wire from '../../src/contract/types.ts';
import type { CoordinatorApi } from '../../src/coordinator/api.ts';
import type { Listing, PageRequest } from '../../src/coordinator/reads/listings.ts';

export const BATCH_ID = '0195a1b2-c3d4-8e5f-a012-345600000000';
export const JOB_ID = jobId(BATCH_ID, 0);

/** Two samples of one variable of run 0; no telemetry of the others. */
const telemetry: DrawnTelemetry = {
  rows: [0, 2],
  drawnFrom: 3,
  runs: [
    {
      startSecs: 0,
      endSecs: 1,
      variables: new Map([['altitude', { secs: Float64Array.of(0, 1), values: Float64Array.of(2, 3) }]]),
    },
    { why: 'it has no telemetry' },
  ],
};

const AT = '2026-03-01T12:00:00.000Z';

export const batch: wire.Batch = {
  id: BATCH_ID,
  name: 'study',
  status: 'Running',
  total_jobs: 3,
  completed_jobs: 1,
  failed_jobs: 0,
  config_hash: 'abc',
  created_at: AT,
};

export function job(runId: number, seed: wire.Seed = 7): wire.Job {
  return {
    id: jobId(BATCH_ID, runId),
    batch_id: BATCH_ID,
    status: 'Pending',
    run_config: {
      run_id: runId,
      parameters: JSON.parse(`{"__proto__": 0.5, "mass": ${runId}}`) as Record<string, number>,
      metadata: {
        simulation_name: 'rocket',
        simulation_version: '1',
        duration_minutes: 5,
        sampling_method: 'monte_carlo',
        generated_at: AT,
        seed,
      },
    },
    retries: 0,
    max_retries: 3,
    timeout_secs: 60,
    created_at: AT,
  };
}

export const capabilities: wire.RunnerCapabilities = {
  max_concurrent_jobs: 2,
  cpu_cores: 4,
  memory_gb: 8,
  gpu_available: false,
  supported_simulation_types: [],
};

export const runner: wire.Runner = {
  id: 'r1',
  name: 'r1',
  status: 'Idle',
  capabilities,
  current_jobs: [],
  tags: [],
  registered_at: AT,
  last_heartbeat: AT,
  total_jobs_completed: 0,
  total_jobs_failed: 0,
  accepting_jobs: true,
};

export const result: wire.JobResult = {
  job_id: JOB_ID,
  run_id: 0,
  status: 'Completed',
  reason: null,
  success: true,
  execution_time_secs: 3,
  output_files: ['/out/trajectory.csv'],
  metadata: { apogee_m: 1200.5 },
  error_message: null,
  telemetry_data: null,
};

const signedUpload: wire.SignedUpload = {
  path: 'a',
  upload_id: 'u',
  part_bytes: 8_388_608,
  parts: [{ url: 'http://127.0.0.1/a', headers: { 'content-length': '1' } }],
};

export const submission: wire.BatchSubmission = {
  name: 'study',
  config: {
    simulation: { name: 'rocket', version: '1', duration_minutes: 5 },
    monte_carlo: { runs: 3, sampling_method: 'monte_carlo', seed: 7 },
    dispersions: { mass: { distribution: { type: 'normal', mean: 10, std_dev: 1 }, units: 'kg' } },
    compute: {
      container: { image: 'rocket:1', cpu_request: '500m', memory_request: '512Mi' },
      max_parallel_jobs: 0,
      job_timeout_seconds: 60,
    },
    early_termination: { enabled: true, check_frequency_hz: 1, conditions: [] },
    telemetry: {
      sampling_rate_hz: 10,
      variables: [],
      storage: { s3_bucket: '', s3_prefix: '', compression: 'none' },
      buffer_flush_interval_seconds: 1,
    },
  },
};

/** The study as the analysis worker has it: three completed runs. */
function analysedStudy(): AnsweredStudy {
  const builder = new RunTableBuilder({ batchId: BATCH_ID, method: 'monte_carlo', runs: 3 });
  const moves = new MoveTally();
  for (let row = 0; row < 3; row++) {
    builder.add({ row, status: 'Completed', parameters: { mass: row }, outputs: [['apogee_m', 1000 + row]] });
    moves.addUntouched();
  }
  return { submission, table: builder.build(), moves, readTelemetry: async () => telemetry };
}

/** A listing of `total` items, made as they are read; `freed` says whether it was read to its end or returned from. */
export class FakeListing<T> implements Listing<T> {
  total: number | undefined;
  freed = false;
  chunksMade = 0;
  readonly chunks: AsyncIterable<readonly T[]>;
  #position = 0;

  constructor(total: number, make: (index: number) => T, page: PageRequest = {}, chunkSize = 100) {
    this.total = total;
    const from = page.after === undefined ? 0 : Number(page.after) + 1;
    const to = Math.min(total, from + (page.limit ?? total));
    this.#position = to;
    this.chunks = this.#read(from, to, make, chunkSize);
  }

  next(): string | undefined {
    return this.#position < this.total! ? String(this.#position - 1) : undefined;
  }

  async *#read(from: number, to: number, make: (index: number) => T, chunkSize: number): AsyncGenerator<readonly T[]> {
    try {
      for (let start = from; start < to; start += chunkSize) {
        await Promise.resolve();
        this.chunksMade += 1;
        yield Array.from({ length: Math.min(chunkSize, to - start) }, (_, offset) => make(start + offset));
      }
    } finally {
      this.freed = true;
    }
  }
}

const round: wire.Round = {
  round: 0,
  first_run_id: 0,
  count: 1,
  run_ids: '0',
  digest: 'ab',
  key: 'a',
  label: null,
  note: null,
  source: 'external',
  previous: 'cd',
  appended_at: AT,
  complete: true,
  decision: null,
};

const JUDGEMENT: wire.Judgement = { batch_id: BATCH_ID, revision: 0, requirements: [], outputs: {}, labels: {} };

type Calls = { operation: string; args: unknown[] }[];

/** `calls` lists what was asked; any member can be replaced by a test. */
export interface FakeCoordinator extends CoordinatorApi {
  calls: Calls;
}

export function fakeCoordinator(overrides: Partial<CoordinatorApi> = {}): FakeCoordinator {
  const calls: Calls = [];
  const share = new EventLoopShare(systemClock);
  const answers: Omit<CoordinatorApi, 'share' | 'as'> = {
    // The token of the scope `submit` has this name in the tests of access.
    batchOwner: async () => ({ owner: 'submit' }),
    budgets: async () => ({
      resets_at: AT,
      budgets: [{ owner: 'alice', limit_core_hours: 100, used_core_hours: 12.5, is_used: false }],
    }),
    submit: async () => ({ batch_id: BATCH_ID, total_jobs: 3, estimated_completion_time_mins: null }),
    reuseForecast: async () => ({
      rule: 'all',
      runs: 3,
      known: 0,
      new: 3,
      studies: [],
      not_taken: [],
      codes: [],
      sentence: '3 runs: 3 are new',
    }),
    continueStudy: async () => ({ batch_id: BATCH_ID, total_jobs: 3, estimated_completion_time_mins: null }),
    judgement: async () => JUDGEMENT,
    amendJudgement: async () => ({ ...JUDGEMENT, revision: 1, amended_at: AT }),
    batchHistory: async () => ({
      batch_id: BATCH_ID,
      events: [
        { at: AT, type: 'submitted' },
        { at: AT, type: 'ended', reason: 'over', status: 'Completed' },
      ],
      events_omitted: 0,
    }),
    objectStoreState: async () => ({ buckets: [] }),
    poolHistory: async () => ({
      minutes: [{ at: AT, slots: 4, busy: 1.5 }],
      attempts: [
        { runner_id: 'r-1', job_id: BATCH_ID, attempt: 1, started_at: AT, ended_at: AT, outcome: 'completed' },
      ],
    }),
    findings: async () => [
      {
        code: 'no-runner',
        severity: 'blocked',
        message: 'no runner has registered',
        remedy: 'start one',
        count: 1,
        runs: [0],
      },
    ],
    extendBatch: async () => ({
      batch_id: BATCH_ID,
      total_jobs: 3,
      estimated_completion_time_mins: null,
      mode: 'continued',
      run_ids: '3-5',
    }),
    rerunBatch: async () => ({
      batch_id: BATCH_ID,
      total_jobs: 1,
      estimated_completion_time_mins: null,
      relation: 'rerun',
    }),
    extractBatch: async () => ({
      batch_id: BATCH_ID,
      total_jobs: 2,
      estimated_completion_time_mins: null,
      relation: 'extraction',
      name: 'x1',
    }),
    extractions: async () => ({ extractions: [] }),
    parentFiles: async () => ({ gone: 'its batch was deleted' }),
    auditBatch: async () => ({
      batch_id: BATCH_ID,
      total_jobs: 1,
      estimated_completion_time_mins: null,
      relation: 'audit',
      seed: 7,
    }),
    auditAnswer: async () => ({
      batch_id: BATCH_ID,
      audited: BATCH_ID,
      runs: 1,
      compared: 1,
      open: 0,
      not_compared: 0,
      identical: 0,
      differing: 1,
      same_runner: 0,
      differing_runs: [
        {
          run_id: 0,
          before: { class: 'ok', runner_id: 'r1', digest: '0'.repeat(64) },
          after: { class: 'ok', runner_id: 'r2', digest: '1'.repeat(64) },
          outputs: [{ name: 'apogee_m', before: 1, after: 2 }],
        },
      ],
      runners: [{ before: 'r1', after: 'r2', compared: 1, differing: 1, capabilities: [] }],
      outputs: [{ name: 'apogee_m', differing: 1, largest_difference: 1 }],
      sentence: '1 of 1 run compared give other outputs (on another runner)',
    }),
    jobFiles: async () => ({ job_id: job(0).id, attempt: 1, runner_id: 'r1', is_readable: true, files: [], notes: [] }),
    liveTelemetry: async () => ({
      job_id: job(0).id,
      attempt: 1,
      runner_id: 'r1',
      samples: 2,
      refused: 0,
      lost: 0,
      omitted: 0,
      variables: [{ name: 'h', samples: 2, not_finite: 0, reversals: 0, time_s: [0, 1], values: [5, 4] }],
      conditions: [{ variable: 'h', condition: '< 0', threshold: 0 }],
      shadow: false,
    }),
    jobFile: async () => ({
      size: 3,
      part: undefined,
      version: '1-2-3',
      modifiedMs: 0,
      content: (async function* () {
        yield Buffer.from('abc');
      })(),
      close: () => {},
    }),
    fileRequests: async () => ({ requests: [] }),
    beginUpload: async () => ({ files: [signedUpload] }),
    completeUpload: async () => result,
    openCheckpoint: async () => ({
      checkpoint: { attempt: 1, files: [{ path: 'a', bytes: 1, sha256: '0'.repeat(64), url: 'http://127.0.0.1/a' }] },
    }),
    beginCheckpoint: async () => ({ number: 1, files: [signedUpload] }),
    completeCheckpoint: async () => ({ attempt: 1 }),
    filePart: async () => ({ accepted: true }),
    pauseBatch: async () => ({ ...batch, paused: true }),
    resumeBatch: async () => batch,
    releaseBatch: async () => batch,
    cancelBatch: async () => ({ ...batch, status: 'Cancelled' }),
    cancelJob: async () => ({ ...job(0), status: 'Cancelled' }),
    deleteBatch: async () => ({ ...batch, status: 'Completed' }),
    demand: async () => ({ runs: 0, demand: [] }),
    appendRound: async () => ({ round: 0, first_run_id: 0, count: 1, run_ids: '0', digest: 'ab', repeated: true }),
    rounds: async () => new FakeListing(1, () => round, {}),
    round: async () => ({ ...round, counts: { ok: 1 } }),
    roundByKey: async () => ({ ...round, counts: { ok: 1 } }),
    roundResults: async () => ({
      pieces: ['{"round":0,"first_run_id":0,"count":0,"results":[', '],"counts":{},"complete":true}'],
    }),
    evaluate: async () => ({
      pieces: ['{"count":0,"appended":null,"counts":{},"complete":true,"points":[', ']}'],
    }),
    checkRounds: async () => ({ rounds: 1, runs: 1, verdict: 'identical', head: 'ab', faults: [], computed: null }),
    closeBatch: async () => ({ ...batch, closed: true }),
    views: async () => ({ views: [] }),
    keepView: async (_batchId, view) => ({ views: [{ ...view, kept_at: AT }] }),
    removeView: async () => ({ views: [] }),
    notifications: async () => ({
      receivers: ['https://hooks.example'],
      by_status: { Waiting: 0, Delivering: 0, Delivered: 1, GivenUp: 0 },
      notifications: [],
    }),
    launchers: async () => ({ launchers: [] }),
    reportLauncher: async () => ({ reported_at: AT }),
    forgetRunner: async () => ({ ...runner, status: 'Offline' }),
    backup: async () =>
      (async function* () {
        yield '{"simbatch_backup":1}\n';
      })(),
    register: async () => ({ runner, heartbeat_interval_secs: 5, offline_after_secs: 15, lease_secs: 60, lost: [] }),
    heartbeat: async () => ({ runner, cancel: [], lost: [] }),
    claim: async () => ({
      assignments: [{ job: job(0), attempt: 1 }],
      batches: { [BATCH_ID]: { config: submission.config } },
    }),
    start: async () => ({ ...job(0), status: 'Running' }),
    complete: async () => ({ ...job(0), status: 'Completed' }),
    fail: async () => ({ ...job(0), status: 'Failed', error_message: 'exit code 1' }),
    reports: async (_id, request) => request.reports.map(({ job_id }) => ({ job_id, status: 'Running' as const })),
    signOff: async () => ({ ...runner, status: 'Offline' }),
    drain: async () => ({ ...runner, status: 'Maintenance', accepting_jobs: false }),
    resume: async () => runner,
    samples: async (_id, format, { from = 0, to = 3 } = {}) => {
      const sampler = createSampler(submission.config.dispersions, { ...submission.config.monte_carlo, seed: 7 });
      return share.paced(designText(sampler, format, RunSelection.between(from, to)));
    },
    job: async () => job(0),
    jobResult: async () => result,
    jobHistory: async () => ({
      job_id: JOB_ID,
      status: 'Running',
      retries: 0,
      infrastructure_faults: 0,
      losses: 0,
      attempts: [{ attempt: 1, runner_id: 'r1', claimed_at: AT }],
      attempts_omitted: 0,
    }),
    jobHistories: async () => ({
      job_id: JOB_ID,
      run_id: 0,
      histories: [{ name: 'nz_g', variable: 'nz_g', units: 'g', times: [0, 0.5], values: [1, null] }],
    }),
    jobs: async (_filter, page) => new FakeListing(3, (index) => job(index), page),
    batch: async () => ({
      batch,
      jobs_by_status: { Pending: 2, Claimed: 0, Running: 0, Completed: 1, Failed: 0, Timeout: 0, Cancelled: 0 },
      throughput_jobs_per_minute: 1.5,
      estimated_completion_time_mins: 2,
    }),
    submission: async () => submission,
    studyCode: async () => ({ data: 'AAAA' }),
    codeVersions: async () => [
      { digest: 'a'.repeat(64), kind: 'function', runs: 3, first_run_id: 0, runners: ['runner-1'] },
    ],
    batches: async (_filter, page) => new FakeListing(2, () => batch, page),
    batchResults: async (_id, page) => ({ batch, results: new FakeListing(3, () => result, page) }),
    answer: async (question) => {
      const found = await answerTo(question, [analysedStudy(), analysedStudy()]);
      const text = stringifyExact(concluded(question.name, found));
      return { state: 'ready', tag: '"1"', body: new TextEncoder().encode(text) };
    },
    table: async ({ format }) => {
      const rows = [{ run_id: 0 }];
      const text = JSON.stringify({ batch_id: BATCH_ID, warnings: [], columns: [], rows, matched: 1, of: 1 });
      return { state: 'ready', tag: undefined, body: new TextEncoder().encode(format === 'json' ? text : 'table') };
    },
    histories: async () => ({ state: 'ready', tag: undefined, body: new TextEncoder().encode('histories') }),
    manifest: async () =>
      (async function* () {
        yield new TextEncoder().encode('{"format":"simbatch-manifest/1"}\n');
      })(),
    runner: async (id) => {
      if (id !== 'r1') throw new SimbatchError('unknown-runner', `There is no runner ${id}.`);
      return runner;
    },
    exportSnapshot: async (batchId) => ({
      head: { format: 1, kind: 'export', made_by: 'simbatch 0', taken_at: AT, batch_id: batchId ?? null },
      records: new FakeListing(1, () => ({ key: `batch/${BATCH_ID}`, json: '{}' })),
    }),
    runners: async () => ({ runners: [runner], active_runners: 1, offline_runners: 0, total_capacity: 2 }),
  };
  const recording = Object.entries({ ...answers, ...overrides }).map(([operation, answer]) => [
    operation,
    (...args: unknown[]) => {
      calls.push({ operation, args });
      return (answer as (...given: unknown[]) => unknown)(...args);
    },
  ]);
  const fake: FakeCoordinator = {
    ...(Object.fromEntries(recording) as CoordinatorApi),
    share,
    calls,
    as: () => fake,
  };
  return fake;
}
