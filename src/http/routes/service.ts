/** Routes of the service itself: health, description, limits, metrics, backup. */
import { HealthResponse, LimitsResponse, ObjectStoreState } from '../../contract/resources/problem.ts';
import { SnapshotExport } from '../../contract/resources/batches.ts';
import { NotificationList } from '../../contract/resources/notifications.ts';
import { exported } from '../answers.ts';
import { routesOf } from '../route.ts';

const route = routesOf('service');

export const serviceRoutes = [
  route({
    method: 'GET',
    path: '/healthz',
    operationId: 'health',
    summary: 'Check whether the coordinator is up',
    scope: 'open',
    response: HealthResponse,
    handle: () => Promise.resolve({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    operationId: 'readiness',
    summary: 'Check whether the coordinator takes requests',
    description:
      'Answered with 503 `unavailable` after a start until all data are read and checked. A coordinator that stops takes no connection.',
    scope: 'open',
    response: HealthResponse,
    // Until then the port answers by itself, see `door.ts`.
    handle: () => Promise.resolve({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/snapshot',
    operationId: 'exportAll',
    summary: 'Export everything',
    description: 'All batches and all runners, as of one instant: a file for `simbatch snapshot`.',
    scope: 'read',
    answer: 'list',
    response: SnapshotExport,
    handle: async (coordinator) => exported(await coordinator.exportSnapshot()),
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'describe',
    summary: 'Read this description',
    scope: 'read',
    answer: 'single',
    handle: (_coordinator, call) => Promise.resolve(call.description()),
  }),
  route({
    method: 'GET',
    path: '/notifications',
    operationId: 'listNotifications',
    summary: 'List notifications of webhooks',
    description:
      'Events of studies that are delivered to the receivers of this coordinator, with their state; those that ended are kept for a day.',
    scope: 'read',
    response: NotificationList,
    handle: (coordinator) => coordinator.notifications(),
  }),
  route({
    method: 'GET',
    path: '/object-store',
    operationId: 'objectStoreState',
    summary: 'Check the object store',
    description:
      'Whether objects can be written, read and deleted in the buckets for files of runs. They are tried for this answer, at most every five seconds.',
    scope: 'read',
    response: ObjectStoreState,
    handle: (coordinator) => coordinator.objectStoreState(),
  }),
  route({
    method: 'GET',
    path: '/limits',
    operationId: 'limits',
    summary: 'Read the limits and retention times of this coordinator',
    scope: 'read',
    answer: 'single',
    response: LimitsResponse,
    handle: (_coordinator, { service }) => Promise.resolve(service.limits()),
  }),
  route({
    method: 'GET',
    path: '/backup',
    operationId: 'backup',
    summary: 'Read a backup',
    description:
      'All records as of one instant, one JSON text a line, the last one with their number and checksum. `simbatch restore` reads it. Tokens are not part of it.',
    scope: 'operate',
    answer: 'raw',
    media: ['application/x-ndjson'],
    handle: async (coordinator) => ({ body: await coordinator.backup() }),
  }),
  route({
    method: 'GET',
    path: '/metrics',
    operationId: 'metrics',
    summary: 'Read the metrics',
    description: 'In the text format of Prometheus.',
    scope: 'read',
    answer: 'raw',
    media: ['text/plain; version=0.0.4; charset=utf-8'],
    handle: async (_coordinator, { service }) => ({ body: await service.metrics() }),
  }),
];
