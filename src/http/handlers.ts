/**
 * The operation of the coordinator that each route calls. Handlers contain no rule of the product: they pass on the request
 * and return the answer.
 */
import { SimbatchError } from '../domain/errors.ts';
import { stringifyInSlices } from '../base/event-loop-share.ts';
import type { DesignFormat } from '../domain/sampling/design-table.ts';
import type {
  BatchSubmission,
  CancelRequest,
  ClaimRequest,
  CompleteRequest,
  FailRequest,
  HeartbeatRequest,
  LimitsResponse,
  RegisterRequest,
  ReportOutcome,
  ReportsRequest,
  SignOffRequest,
  StartRequest,
} from '../contract/types.ts';
import type { CoordinatorApi } from '../coordinator/api.ts';
import type { ExportedRecord, ExportListing } from '../coordinator/operations/snapshot.ts';
import type { Listing, PageRequest } from '../coordinator/operations/listings.ts';
import type { ReportJudgement } from '../coordinator/operations/reports.ts';
import { problemOf } from './response/problem.ts';
import type { Query } from './request/query.ts';

/** A request that has passed all checks of its route. */
export interface Call {
  /** The identifier in the path; empty without one. */
  id: string;
  query: Query;
  /** Limit and position of a list. */
  page: PageRequest;
  /** Valid by the route's body schema; undefined without a body. */
  body: unknown;
  /** Digest of the body's text. */
  bodyDigest: () => string;
  idempotencyKey: string | undefined;
  /** Aborts when the client disconnects, the server stops, or the client loses its authorization; then the reason is the refusal. */
  abandoned: () => AbortSignal;
  /** Name of the media type that the client prefers; the first one without a preference. */
  preferred: <T extends string>(types: Readonly<Record<T, string>>) => T;
  /** The API description. */
  description: () => unknown;
  /** The limits and settings of this server. */
  service: Service;
}

export interface Service {
  /** In the Prometheus text format. */
  metrics(): Promise<string>;
  limits(): LimitsResponse;
}

/** An answer that is sent unchanged, whole or in pieces. */
export interface RawAnswer {
  body: string | Iterable<string> | AsyncIterable<string>;
  /** Media type, where the route has several. */
  media?: string;
}

/** A list that is sent item by item, between a head and a tail. */
export interface ListAnswer {
  listing: Listing<unknown>;
  before: unknown;
  /** Layout of the answer, where it is not the default one. */
  layout?: ListLayout;
}

/** Head, tail and separator of a list, and the text of each item. */
export interface ListLayout {
  head: string;
  separator: string;
  tail: string;
  itemToJson(item: unknown): string;
}

/** `list` routes return a ListAnswer, `raw` ones a RawAnswer; all others a value that is sent as JSON. */
export type Handler = (coordinator: CoordinatorApi, call: Call) => Promise<unknown>;

/** The media type of each format of a design. */
export const DESIGN_TYPES: Readonly<Record<DesignFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};

const reasonOf = (call: Call) => (call.body as CancelRequest | undefined)?.reason;
const list = (listing: Listing<unknown>, before?: unknown): ListAnswer => ({ listing, before });

/** One record per line, so that the file can be read line by line and compared. */
function exported({ head, records }: ExportListing): ListAnswer {
  const layout: ListLayout = {
    head: `${JSON.stringify(head).slice(0, -1)},"records":[`,
    separator: ',',
    tail: '\n]}\n',
    itemToJson: (item) => {
      const { key, json } = item as ExportedRecord;
      return `\n{"key":${JSON.stringify(key)},"value":${json}}`;
    },
  };
  return { listing: records, before: undefined, layout };
}

export const handlers = {
  submitBatch: (coordinator, call) =>
    coordinator.submit(
      call.body as BatchSubmission,
      call.idempotencyKey === undefined ? {} : { idempotencyKey: call.idempotencyKey, bodyDigest: call.bodyDigest() },
    ),
  listBatches: async (coordinator, { query, page }) => list(await coordinator.batches(filterOf(query), page)),
  getBatch: (coordinator, call) => coordinator.batch(call.id),
  getBatchResults: async (coordinator, call) => {
    const { batch, results } = await coordinator.batchResults(call.id, call.page);
    return list(results, { batch });
  },
  getBatchSamples: async (coordinator, { id, query, preferred }): Promise<RawAnswer> => {
    const { format = preferred(DESIGN_TYPES), ...range } = query as {
      format?: DesignFormat;
      from?: number;
      to?: number;
    };
    return { media: DESIGN_TYPES[format], body: await coordinator.samples(id, format, range) };
  },
  getBatchSubmission: (coordinator, call) => coordinator.submission(call.id),
  exportBatch: async (coordinator, call) => exported(await coordinator.exportSnapshot(call.id)),
  exportAll: async (coordinator) => exported(await coordinator.exportSnapshot()),
  pauseBatch: (coordinator, call) => coordinator.pauseBatch(call.id, reasonOf(call)),
  resumeBatch: (coordinator, call) => coordinator.resumeBatch(call.id),
  releaseBatch: (coordinator, call) => coordinator.releaseBatch(call.id),
  cancelBatch: (coordinator, call) => coordinator.cancelBatch(call.id, reasonOf(call)),

  listJobs: async (coordinator, { query, page }) => list(await coordinator.jobs(filterOf(query), page)),
  getJob: (coordinator, call) => coordinator.job(call.id),
  getJobResult: (coordinator, call) => coordinator.jobResult(call.id),
  getJobHistory: (coordinator, call) => coordinator.jobHistory(call.id),
  cancelJob: (coordinator, call) => coordinator.cancelJob(call.id, reasonOf(call)),

  listRunners: async (coordinator, { query }): Promise<RawAnswer> => ({
    body: await stringifyInSlices(coordinator.share, await coordinator.runners(filterOf(query))),
  }),
  getRunner: (coordinator, call) => coordinator.runner(call.id),
  drainRunner: (coordinator, call) => coordinator.drain(call.id, call.query['reason'] as string | undefined),
  resumeRunner: (coordinator, call) => coordinator.resume(call.id),

  registerRunner: (coordinator, call) => coordinator.register(call.body as RegisterRequest),
  heartbeat: (coordinator, call) => coordinator.heartbeat(call.id, call.body as HeartbeatRequest),
  claimJobs: async (coordinator, call) => {
    const request = call.body as ClaimRequest;
    // Without a wait the answer is immediate, and a disconnect need not be noticed.
    const abandoned = (request.wait_seconds ?? 0) > 0 ? call.abandoned() : undefined;
    const response = await coordinator.claim(call.id, request, abandoned);
    // A client that lost its authorization gets the refusal. Jobs claimed before it stay claimed: no other runner has them.
    if (abandoned?.reason instanceof SimbatchError && response.assignments.length === 0) throw abandoned.reason;
    return response;
  },
  report: async (coordinator, call) => ({
    outcomes: (await coordinator.reports(call.id, call.body as ReportsRequest)).map(outcomeOf),
  }),
  signOffRunner: (coordinator, call) => coordinator.signOff(call.id, call.body as SignOffRequest),
  startJob: (coordinator, call) => coordinator.start(call.id, call.body as StartRequest),
  completeJob: (coordinator, call) => coordinator.complete(call.id, call.body as CompleteRequest),
  failJob: (coordinator, call) => coordinator.fail(call.id, call.body as FailRequest),

  health: () => Promise.resolve({ status: 'ok' }),
  deleteBatch: (coordinator, call) => coordinator.deleteBatch(call.id),
  forgetRunner: (coordinator, call) => coordinator.forgetRunner(call.id),
  limits: (_coordinator, { service }) => Promise.resolve(service.limits()),
  backup: async (coordinator) => ({ body: await coordinator.backup() }),
  metrics: async (_coordinator, { service }) => ({ body: await service.metrics() }),
  describe: (_coordinator, call) => Promise.resolve(call.description()),
} satisfies Record<string, Handler>;
export type HandlerName = keyof typeof handlers;

/** The filter in a query: its parameters without those of the page. */
const filterOf = ({ limit: _limit, cursor: _cursor, ...filter }: Query): object => filter;

/** Adds the problem to a refused report: layers below HTTP know no status. */
function outcomeOf(judgement: ReportJudgement): ReportOutcome {
  if (!('refusal' in judgement)) return judgement;
  const { code, message, faults } = judgement.refusal;
  return { job_id: judgement.job_id, problem: problemOf(code, message, { faults }) };
}
