import { capabilities, JOB_ID, submission } from './fake-api.ts';

const result = { execution_time_secs: 1, output_files: [], metadata: {} };

/** By operation: a body that it takes, of the runner `r1`. Tests that ask every route read it. */
export const BODIES: Record<string, unknown> = {
  appendRound: { key: 'a', rows: [{ x: 1 }] },
  evaluatePoints: { rows: [{ x: 1 }] },
  submitBatch: submission,
  forecastReuse: submission,
  amendJudgement: { outputs: { range: { units: 'm' } } },
  auditBatch: { fraction: 0.5, seed: 1 },
  extractBatch: { derived: [{ name: 'peak', take: 'max', telemetry: 'nz' }] },
  registerRunner: { id: 'r1', capabilities, instance: 'i' },
  heartbeat: { instance: 'i', holding: [{ job_id: JOB_ID, attempt: 1 }] },
  claimJobs: { instance: 'i', max_jobs: 2 },
  report: {
    instance: 'i',
    reports: [
      { type: 'start', job_id: JOB_ID, attempt: 1 },
      { type: 'complete', job_id: JOB_ID, attempt: 1, result },
      { type: 'fail', job_id: JOB_ID, attempt: 1, reason: 'exit', error_message: 'exit code 1' },
    ],
  },
  takeFileRequests: { instance: 'i', holding: [] },
  beginUpload: { runner_id: 'r1', attempt: 1, files: [{ path: 'a', size: 1, sha256: '0'.repeat(64) }] },
  completeUpload: { runner_id: 'r1', attempt: 1, files: [], failed: [] },
  openCheckpoint: { runner_id: 'r1', attempt: 1 },
  openParentFiles: { runner_id: 'r1', attempt: 1 },
  beginCheckpoint: { runner_id: 'r1', attempt: 1, files: [] },
  completeCheckpoint: { runner_id: 'r1', attempt: 1, number: 1, files: [] },
  makeAllocationTokens: { allocations: [{ allocation: 'slurm/main/1', runner_id: 'r9', lifetime_secs: 60 }] },
  revokeAllocationTokens: { allocations: ['slurm/main/1'] },
  reportLauncher: { launcher: 'lab', poll_seconds: 5, problems: [], queues: [], unserved: [], allocations: [] },
  keepView: { name: 'a', query: 'b' },
  signOffRunner: { instance: 'i' },
  startJob: { runner_id: 'r1', attempt: 1 },
  completeJob: { runner_id: 'r1', attempt: 1, result },
  failJob: { runner_id: 'r1', attempt: 1, reason: 'exit', error_message: 'exit code 1', result },
};
