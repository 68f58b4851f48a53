/** Routes of the runner pool, for operators. */
import { stringifyInSlices } from '../../base/event-loop-share.ts';
import { DRAIN_QUERY, POOL_HISTORY_QUERY, RUNNER_FILTER } from '../../contract/queries.ts';
import { BudgetList, DemandResponse, PoolHistory } from '../../contract/resources/demand.ts';
import * as runners from '../../contract/resources/runners.ts';
import { routesOf } from '../route.ts';

const route = routesOf('runners');

export const poolRoutes = [
  route({
    method: 'DELETE',
    path: '/runners/{runner_id}',
    operationId: 'forgetRunner',
    summary: 'Forget a runner that is gone',
    description: 'The runner must be Offline and hold no jobs. Returns its last state. It may register again.',
    scope: 'operate',
    response: runners.Runner,
    errors: ['illegal-transition'],
    handle: (coordinator, call) => coordinator.forgetRunner(call.id),
  }),
  route({
    method: 'GET',
    path: '/budgets',
    operationId: 'listBudgets',
    summary: 'List the core hours of owners',
    description:
      'With the scope `operate` those of all owners, otherwise those of the client itself; all without tokens.',
    scope: 'read',
    response: BudgetList,
    handle: (coordinator, { actor, scopes }) =>
      coordinator.budgets(scopes === undefined || scopes.includes('operate') ? undefined : actor),
  }),
  route({
    method: 'GET',
    path: '/demand',
    operationId: 'readDemand',
    summary: 'Read the demand for runners',
    description:
      'The runs that a runner could claim now, grouped by what it must offer. For programs that start runners.',
    scope: 'read',
    response: DemandResponse,
    handle: (coordinator) => coordinator.demand(),
  }),
  route({
    method: 'GET',
    path: '/pool/history',
    operationId: 'readPoolHistory',
    summary: 'Read the use of the pool over the last hours',
    description: 'Slots and runs by minute; with `runner_id` the latest attempts of these runners.',
    scope: 'read',
    query: POOL_HISTORY_QUERY,
    response: PoolHistory,
    handle: (coordinator, { query }) => coordinator.poolHistory(query.runner_id),
  }),
  route({
    method: 'GET',
    path: '/runners',
    operationId: 'listRunners',
    summary: 'List runners',
    scope: 'read',
    answer: 'raw',
    media: ['application/json; charset=utf-8'],
    query: RUNNER_FILTER,
    response: runners.RunnerListResponse,
    handle: async (coordinator, { query }) => ({
      body: await stringifyInSlices(coordinator.share, await coordinator.runners(query)),
    }),
  }),
  route({
    method: 'GET',
    path: '/runners/{runner_id}',
    operationId: 'getRunner',
    summary: 'Read a runner',
    scope: 'read',
    answer: 'single',
    response: runners.Runner,
    handle: (coordinator, call) => coordinator.runner(call.id),
  }),
  route({
    method: 'POST',
    path: '/runners/{runner_id}/drain',
    operationId: 'drainRunner',
    summary: 'Drain a runner',
    description: 'The runner gets no new jobs; its active jobs run to completion. With `until` it resumes by itself.',
    scope: 'operate',
    query: DRAIN_QUERY,
    response: runners.Runner,
    errors: ['illegal-transition'],
    handle: (coordinator, call) => coordinator.drain(call.id, call.query.reason, call.query.until),
  }),
  route({
    method: 'POST',
    path: '/runners/{runner_id}/resume',
    operationId: 'resumeRunner',
    summary: 'Resume a drained runner',
    scope: 'operate',
    response: runners.Runner,
    errors: ['illegal-transition'],
    handle: (coordinator, call) => coordinator.resume(call.id),
  }),
];
