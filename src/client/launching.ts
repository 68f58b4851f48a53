/** The requests of launchers, which start runners on clusters; the use of the pool over time, notifications of webhooks, the object store. */
import type {
  AllocationsEndedRequest,
  AllocationsEndedResponse,
  AllocationTokensRequest,
  AllocationTokensResponse,
  LauncherListResponse,
  LauncherReport,
  LauncherReportResponse,
  NotificationList,
  ObjectStoreState,
  PoolHistory,
} from '../contract/types.ts';
import type { Transport } from './transport.ts';

/** A store that does not answer is waited for. */
const STORE_MS = 60_000;

/** Every method throws `ApiError` (the request was refused) or `UnreachableError` (no answer). */
export class Launching {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes tokens for the runners of allocations; null where the coordinator needs none. */
  makeTokens(request: AllocationTokensRequest): Promise<AllocationTokensResponse> {
    return this.#post(['allocations', 'tokens'], request);
  }

  /** Revokes the tokens of allocations that have ended. */
  revokeTokens(request: AllocationsEndedRequest): Promise<AllocationsEndedResponse> {
    return this.#post(['allocations', 'ended'], request);
  }

  report(report: LauncherReport): Promise<LauncherReportResponse> {
    return this.#post(['launchers'], report);
  }

  /** The last report of each launcher. */
  async launchers(): Promise<LauncherListResponse> {
    return (await this.#transport.send<LauncherListResponse>({ method: 'GET', path: ['launchers'] })).body;
  }

  async #post<T>(path: readonly string[], body: unknown): Promise<T> {
    return (await this.#transport.send<T>({ method: 'POST', path, body })).body;
  }

  /** The use of the pool over the last hours, and the latest attempts of these runners. */
  async poolHistory(runners: readonly string[] = []): Promise<PoolHistory> {
    const path = ['pool', 'history'];
    return (await this.#transport.send<PoolHistory>({ method: 'GET', path, query: { runner_id: runners } })).body;
  }

  /** The latest notifications of webhooks, and their receivers. */
  async notifications(): Promise<NotificationList> {
    return (await this.#transport.send<NotificationList>({ method: 'GET', path: ['notifications'] })).body;
  }

  /** Whether the buckets for files of runs can be used; the coordinator tries them. */
  async objectStore(): Promise<ObjectStoreState> {
    const exchange = { method: 'GET', path: ['object-store'], extraMs: STORE_MS } as const;
    return (await this.#transport.send<ObjectStoreState>(exchange)).body;
  }
}
