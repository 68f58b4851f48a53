/** Routes of launchers: tokens for the runners of their allocations, and their reports. */
import * as launchers from '../../contract/resources/launchers.ts';
import { routesOf } from '../route.ts';

const route = routesOf('launchers');

export const launchingRoutes = [
  route({
    method: 'POST',
    path: '/allocations/tokens',
    operationId: 'makeAllocationTokens',
    summary: 'Make tokens for the runners of allocations',
    description:
      'Each token has the scope `runner` for one runner id, and ends with its allocation. A former token of the same allocation is revoked. A launcher makes none for allocations of other launch tokens, nor for runners without an allocation. Without tokens the coordinator needs none, and the answer has none.',
    scope: 'launch',
    body: { schema: launchers.AllocationTokensRequest, limit: 'reports' },
    response: launchers.AllocationTokensResponse,
    handle: (coordinator, { body, service, tokenId }) =>
      service.allocationTokens.make(body, tokenId, async () => (await coordinator.runners({})).runners),
  }),
  route({
    method: 'POST',
    path: '/allocations/ended',
    operationId: 'revokeAllocationTokens',
    summary: 'Revoke the tokens of allocations that have ended',
    scope: 'launch',
    body: { schema: launchers.AllocationsEndedRequest, limit: 'reports' },
    response: launchers.AllocationsEndedResponse,
    handle: (_coordinator, { body, service, tokenId }) => service.allocationTokens.revoke(body.allocations, tokenId),
  }),
  route({
    method: 'POST',
    path: '/launchers',
    operationId: 'reportLauncher',
    summary: 'Report the state of a launcher',
    description: 'After each round: queues with their decisions, allocations, and runs that no queue can execute.',
    scope: 'launch',
    body: { schema: launchers.LauncherReport, limit: 'reports' },
    response: launchers.LauncherReportResponse,
    handle: (coordinator, { body, service, tokenId }) => {
      service.allocationTokens.requireOwn(
        [...body.allocations, ...(body.ended ?? [])].map((it) => it.allocation),
        tokenId,
      );
      return coordinator.reportLauncher(body, service.allocationTokens.ownerOf(tokenId));
    },
  }),
  route({
    method: 'GET',
    path: '/launchers',
    operationId: 'listLaunchers',
    summary: 'List launchers',
    description: 'The last report of each launcher since the coordinator started.',
    scope: 'read',
    response: launchers.LauncherListResponse,
    handle: (coordinator) => coordinator.launchers(),
  }),
];
