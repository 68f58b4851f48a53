/** Routes of jobs, the runs of a study. */
import { CancelRequest } from '../../contract/resources/batches.ts';
import { JobHistories } from '../../contract/histories/answers.ts';
import * as jobs from '../../contract/resources/jobs.ts';
import { JOB_FILTER, PAGE_QUERY } from '../../contract/queries.ts';
import { filterOf, list } from '../answers.ts';
import { routesOf } from '../route.ts';

const route = routesOf('jobs');

export const runsRoutes = [
  route({
    method: 'GET',
    path: '/jobs',
    operationId: 'listJobs',
    summary: 'List jobs',
    scope: 'read',
    answer: 'list',
    query: { ...JOB_FILTER, ...PAGE_QUERY },
    response: jobs.JobList,
    handle: async (coordinator, { query, page }) => list(await coordinator.jobs(filterOf(query), page)),
  }),
  route({
    method: 'GET',
    path: '/jobs/{job_id}',
    operationId: 'getJob',
    summary: 'Read a job',
    scope: 'read',
    answer: 'single',
    response: jobs.Job,
    handle: (coordinator, call) => coordinator.job(call.id),
  }),
  route({
    method: 'GET',
    path: '/jobs/{job_id}/results',
    operationId: 'getJobResult',
    summary: 'Read the result of a job',
    scope: 'read',
    answer: 'single',
    response: jobs.JobResult,
    errors: ['result-not-ready'],
    handle: (coordinator, call) => coordinator.jobResult(call.id),
  }),
  route({
    method: 'GET',
    path: '/jobs/{job_id}/history',
    operationId: 'getJobHistory',
    summary: 'Read the attempts of a job',
    scope: 'read',
    answer: 'single',
    response: jobs.JobHistory,
    handle: (coordinator, call) => coordinator.jobHistory(call.id),
  }),
  route({
    method: 'GET',
    path: '/jobs/{job_id}/histories',
    operationId: 'getJobHistories',
    summary: 'Read the histories of a job',
    description: 'The telemetry variables that the study keeps of every run, at its times.',
    scope: 'read',
    answer: 'single',
    response: JobHistories,
    errors: ['result-not-ready'],
    handle: (coordinator, call) => coordinator.jobHistories(call.id),
  }),
  route({
    method: 'POST',
    path: '/jobs/{job_id}/cancel',
    operationId: 'cancelJob',
    summary: 'Cancel a job',
    scope: 'submit',
    changes: 'steers',
    body: { schema: CancelRequest, optional: true, limit: 'small' },
    response: jobs.Job,
    errors: ['illegal-transition'],
    handle: (coordinator, call) => coordinator.cancelJob(call.id, call.body?.reason),
  }),
];
