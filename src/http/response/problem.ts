/** Errors in HTTP: the status of each code and the problem body (RFC 9457). No other module knows both. */
import type { Context } from '../application.ts';
import { ERROR_TITLES, SimbatchError, type ErrorCode } from '../../domain/errors.ts';
import type { Fault, Problem } from '../../contract/types.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** code -> HTTP status. Codes of layers below HTTP reach a client only as a fault of the coordinator. */
export const STATUS_OF: Record<ErrorCode, number> = {
  'malformed-body': 400,
  'malformed-query': 400,
  unauthenticated: 401,
  forbidden: 403,
  'foreign-origin': 403,
  'not-found': 404,
  'unknown-job': 404,
  'unknown-batch': 404,
  'unknown-runner': 404,
  'unknown-file': 404,
  'unknown-round': 404,
  'result-not-ready': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  'illegal-transition': 409,
  'round-key-reused': 409,
  'judgement-changed': 409,
  'round-taken': 409,
  'round-out-of-order': 409,
  'budget-exhausted': 409,
  'study-closed': 409,
  'not-external': 409,
  'not-extendable': 409,
  'stale-attempt': 409,
  'runner-id-in-use': 409,
  'wrong-instance': 409,
  'signed-off': 409,
  'code-differs': 409,
  'artifact-not-uploaded': 409,
  'run-not-running': 409,
  'live-telemetry-off': 409,
  'live-telemetry-unavailable': 409,
  'uploads-unavailable': 409,
  'answer-too-large': 409,
  'file-too-large': 409,
  'body-too-large': 413,
  'unsupported-media-type': 415,
  'range-not-satisfiable': 416,
  'invalid-request': 422,
  'idempotency-key-reused': 422,
  'too-many-requests': 429,
  'headers-too-large': 431,
  internal: 500,
  'object-store-failed': 502,
  unavailable: 503,
  'store-locked': 500,
  'store-newer': 500,
  'snapshot-newer': 500,
  'snapshot-unusable': 500,
  'store-unusable': 500,
  'store-damaged': 500,
  'invalid-configuration': 500,
};

/** A refusal that asks the client to wait. */
export class TooManyRequests extends SimbatchError {
  readonly retryAfterSecs: number;

  constructor(message: string, retryAfterSecs: number) {
    super('too-many-requests', message);
    this.retryAfterSecs = retryAfterSecs;
  }
}

/** Returns the problem's body. `instance` is the requested address. */
export function problemOf(
  code: ErrorCode,
  detail: string,
  more: { instance?: string; faults?: readonly Fault[] | undefined } = {},
): Problem {
  const problem: Problem = {
    type: `urn:simbatch:problem:${code}`,
    title: ERROR_TITLES[code],
    status: STATUS_OF[code],
    detail,
    code,
  };
  if (more.instance !== undefined) problem.instance = more.instance;
  if (more.faults !== undefined && more.faults.length > 0) problem.errors = [...more.faults];
  return problem;
}

/** Returns the problem for any error; an unknown error reveals nothing of its cause. */
export function problemFor(error: unknown, instance: string): Problem {
  if (error instanceof SimbatchError && STATUS_OF[error.code] !== 500) {
    return problemOf(error.code, error.message, { instance, faults: error.faults });
  }
  return problemOf('internal', 'This is a fault of the coordinator and not of the request; its log has more.', {
    instance,
  });
}

/** Sends a problem; `retryAfterSecs` is used for statuses with Retry-After. */
export function answerProblem(ctx: Context, problem: Problem, retryAfterSecs = 1): void {
  ctx.status = problem.status;
  ctx.set('Cache-Control', 'no-store');
  if (problem.status === 503 || problem.status === 429) ctx.set('Retry-After', String(retryAfterSecs));
  if (problem.status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  ctx.set('Content-Type', PROBLEM_TYPE);
  ctx.body = JSON.stringify(problem);
}

/** The part of the operator's log that takes faults. */
export interface FaultLog {
  error(facts: object, message: string): void;
}

/** Answers an error with its problem, and logs a fault of the coordinator. */
export function answerError(ctx: Context, error: unknown, log: FaultLog): void {
  const problem = problemFor(error, ctx.path.slice(0, 200));
  if (problem.status === 500) {
    log.error({ err: error, requestId: ctx.state['requestId'] as string, method: ctx.method, path: ctx.path }, 'fault');
  }
  answerProblem(ctx, problem, error instanceof TooManyRequests ? error.retryAfterSecs : undefined);
}
