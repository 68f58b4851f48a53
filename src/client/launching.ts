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
import type { Exchange, Transport } from './transport.ts';

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
    return this.#call({ method: 'POST', path: ['allocations', 'tokens'], body: request });
  }

  /** Revokes the tokens of allocations that have ended. */
  revokeTokens(request: AllocationsEndedRequest): Promise<AllocationsEndedResponse> {
    return this.#call({ method: 'POST', path: ['allocations', 'ended'], body: request });
  }

  report(report: LauncherReport): Promise<LauncherReportResponse> {
    return this.#call({ method: 'POST', path: ['launchers'], body: report });
  }

  /** The last report of each launcher. */
  launchers(): Promise<LauncherListResponse> {
    return this.#call({ method: 'GET', path: ['launchers'] });
  }

  /** The use of the pool over the last hours, and the latest attempts of these runners. */
  poolHistory(runners: readonly string[] = []): Promise<PoolHistory> {
    return this.#call({ method: 'GET', path: ['pool', 'history'], query: { runner_id: runners } });
  }

  /** The latest notifications of webhooks, and their receivers. */
  notifications(): Promise<NotificationList> {
    return this.#call({ method: 'GET', path: ['notifications'] });
  }

  /** Whether the buckets for files of runs can be used; the coordinator tries them. */
  objectStore(): Promise<ObjectStoreState> {
    return this.#call({ method: 'GET', path: ['object-store'], extraMs: STORE_MS });
  }

  /** The time of the coordinator, to a second; undefined where a proxy between leaves it out. */
  async time(): Promise<Date | undefined> {
    const { headers } = await this.#transport.send({ method: 'GET', path: ['healthz'] });
    const time = new Date(headers.get('date') ?? '');
    return Number.isNaN(time.getTime()) ? undefined : time;
  }

  async #call<T>(exchange: Exchange): Promise<T> {
    return (await this.#transport.send<T>(exchange)).body;
  }
}
