/** Routes of the runner protocol. */
import type { Abandoned } from '../../base/abandonment.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { LIMITS } from '../../contract/limits.ts';
import * as jobs from '../../contract/resources/jobs.ts';
import * as reports from '../../contract/resources/reports.ts';
import * as runners from '../../contract/resources/runners.ts';
import type { ClaimResponse, ReportOutcome, Runner } from '../../contract/types.ts';
import type { CoordinatorApi } from '../../coordinator/api.ts';
import type { ReportJudgement } from '../../coordinator/runs/reports.ts';
import { requireAllocation } from '../security/allocation-owners.ts';
import { problemOf } from '../response/problem.ts';
import { LateAnswer } from '../answers.ts';
import { routesOf } from '../route.ts';

const route = routesOf('runner protocol');
/** The text of an answer is made at once: these take some 3 ms. */
const CLAIMED_IN_ONE_ANSWER = 1_024;

export const protocolRoutes = [
  route({
    method: 'POST',
    path: '/runners',
    operationId: 'registerRunner',
    summary: 'Register a runner',
    scope: 'runner',
    body: { schema: runners.RegisterRequest, limit: 'submission' },
    response: runners.RegisterResponse,
    errors: ['runner-id-in-use'],
    handle: async (coordinator, { body, allocation }) => {
      if (allocation !== undefined) requireAllocation(allocation, body, await known(coordinator, body.id));
      return await coordinator.register(body);
    },
  }),
  route({
    method: 'POST',
    path: '/runners/{runner_id}/heartbeat',
    operationId: 'heartbeat',
    summary: 'Send a heartbeat with the held attempts',
    scope: 'runner',
    body: { schema: runners.HeartbeatRequest, limit: 'submission' },
    response: runners.HeartbeatResponse,
    errors: ['wrong-instance', 'signed-off'],
    handle: (coordinator, call) => coordinator.heartbeat(call.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/runners/{runner_id}/claims',
    operationId: 'claimJobs',
    summary: 'Ask for work',
    description:
      'With `wait_seconds` the answer arrives as soon as there is work, or empty after that time. An answer has up to 1,024 jobs.',
    scope: 'runner',
    body: { schema: runners.ClaimRequest, limit: 'submission' },
    response: runners.ClaimResponse,
    errors: ['wrong-instance', 'signed-off'],
    handle: async (coordinator, call) => {
      const request = { ...call.body, max_jobs: Math.min(call.body.max_jobs, CLAIMED_IN_ONE_ANSWER) };
      // Without a wait the answer is immediate, and a disconnect need not be noticed.
      if ((request.wait_seconds ?? 0) === 0) return coordinator.claim(call.id, request);
      const abandoned = call.abandoned();
      const claimed = coordinator.claim(call.id, request, abandoned);
      return new LateAnswer(claimed.then((response) => unlessRefused(response, abandoned)));
    },
  }),
  route({
    method: 'POST',
    path: '/runners/{runner_id}/reports',
    operationId: 'report',
    summary: 'Report on many jobs at once',
    description: 'Each report has its own outcome; a refused one has its problem among the outcomes.',
    scope: 'runner',
    body: {
      schema: reports.ReportsRequest,
      items: { member: 'reports', schema: reports.Report, most: LIMITS.reports },
      limit: 'reports',
    },
    response: reports.ReportsResponse,
    errors: ['wrong-instance'],
    handle: async (coordinator, call) => ({
      outcomes: (await coordinator.reports(call.id, call.body)).map(outcomeOf),
    }),
  }),
  route({
    method: 'POST',
    path: '/runners/{runner_id}/sign-off',
    operationId: 'signOffRunner',
    summary: 'Leave the pool',
    scope: 'runner',
    body: { schema: runners.SignOffRequest, limit: 'small' },
    response: runners.Runner,
    errors: ['wrong-instance'],
    handle: (coordinator, call) => coordinator.signOff(call.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/jobs/{job_id}/start',
    operationId: 'startJob',
    summary: 'Report that the simulation started',
    scope: 'runner',
    body: { schema: reports.StartRequest, limit: 'small' },
    response: jobs.Job,
    errors: ['illegal-transition', 'stale-attempt'],
    handle: (coordinator, call) => coordinator.start(call.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/jobs/{job_id}/complete',
    operationId: 'completeJob',
    summary: 'Report that the simulation finished',
    scope: 'runner',
    body: { schema: reports.CompleteRequest, limit: 'reports' },
    response: jobs.Job,
    errors: ['illegal-transition', 'stale-attempt'],
    handle: (coordinator, call) => coordinator.complete(call.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/jobs/{job_id}/fail',
    operationId: 'failJob',
    summary: 'Report that the simulation failed',
    scope: 'runner',
    body: { schema: reports.FailRequest, limit: 'reports' },
    response: jobs.Job,
    errors: ['illegal-transition', 'stale-attempt'],
    handle: (coordinator, call) => coordinator.fail(call.id, call.body),
  }),
];

/** A client that lost its authorization gets the refusal. Jobs claimed before it stay claimed: no other runner has them. */
function unlessRefused(response: ClaimResponse, abandoned: Abandoned): ClaimResponse {
  if (abandoned.reason instanceof SimbatchError && response.assignments.length === 0) throw abandoned.reason;
  return response;
}

/** Adds the problem to a refused report: layers below HTTP know no status. */
function outcomeOf(judgement: ReportJudgement): ReportOutcome {
  if (!('refusal' in judgement)) return judgement;
  const { code, message, faults } = judgement.refusal;
  return { job_id: judgement.job_id, problem: problemOf(code, message, { faults }) };
}

async function known(coordinator: Pick<CoordinatorApi, 'runner'>, id: string): Promise<Runner | undefined> {
  try {
    return await coordinator.runner(id);
  } catch (error) {
    if (error instanceof SimbatchError && error.code === 'unknown-runner') return undefined;
    throw error;
  }
}
