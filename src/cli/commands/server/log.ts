/**
 * The coordinator's log on stderr: JSON lines for programs, short lines at a terminal. This module decides which facts are
 * logged.
 */
import { pino, type Logger } from 'pino';
import type { ActorFailed, Fact } from '../../../../machines/protocol.ts';
import type { CoordinatorHooks } from '../../../coordinator/lifecycle.ts';
import { leapWarning, type ClockLeap } from '../../../domain/retention/sweep-times.ts';
import type { TurnReport } from '../../../coordinator/kernel/turn/measured-turns.ts';
import type { Metrics } from '../../../http/metrics.ts';
import { clockDifference, printable } from '../../terminal/format.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Redacted members. No code logs them today; this protects against future code. */
const SECRETS = ['authorization', 'token', '*.authorization', '*.token', 'headers["sec-websocket-protocol"]'];
const STDERR = 2;

/** Writes synchronously and in order, so that a crash loses no line. */
export function openLog(level: LogLevel, forPerson: boolean): Logger {
  const lines = pino.destination({ fd: STDERR, sync: true });
  const options = { level, redact: { paths: SECRETS, censor: '(secret)' }, base: {} };
  if (!forPerson) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime }, lines);
  return pino(options, { write: (json: string) => lines.write(`${personal(json)}\n`) });
}

const LEVEL_NAMES: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

/** `12:00:01 warn  the runner went silent  runner_id=lab-3` */
export function personal(json: string): string {
  const { level, time, msg, err, ...facts } = JSON.parse(json) as Record<string, unknown>;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const stack = (err as { stack?: string } | undefined)?.stack;
  const details = Object.entries(facts).map(([name, value]) => `${name}=${shown(value)}`);
  const line = [clock, (LEVEL_NAMES[Number(level)] ?? '').padEnd(5), printable(String(msg)), ...details].join(' ');
  return stack === undefined
    ? line
    : `${line}\n${stack
        .split('\n')
        .map((it) => printable(it))
        .join('\n')}`;
}

function shown(value: unknown): string {
  const text = typeof value === 'string' && /^[\w.:@/-]+$/.test(value) ? value : JSON.stringify(value);
  return printable(text);
}

/** The longest list of actors in a line; the others are counted. */
const MAX_ACTORS = 20;

/** Logs a turn at level `debug`, in one line: its operation and outcome, the number of facts by type, the changed actors. */
export function logTurn(log: Logger, { operation, outcome, secs, facts, actors, code }: TurnReport): void {
  if (!log.isLevelEnabled('debug')) return;
  const counts: Record<string, number> = {};
  for (const { type } of facts) counts[type] = (counts[type] ?? 0) + 1;
  const addresses = actors.slice(0, MAX_ACTORS).map((it) => it.address);
  const more = actors.length - addresses.length;
  log.debug(
    {
      operation,
      outcome,
      ...(code === undefined ? {} : { code }),
      ms: Math.round(secs * 1e6) / 1e3,
      facts: counts,
      actors: addresses,
      ...(more > 0 ? { more_actors: more } : {}),
    },
    'a turn ended',
  );
}

/** Logs an actor that threw, and the measure of the supervisor. */
export function logFailedActor(log: Logger, { address, measure, message }: ActorFailed): void {
  const what = measure === 'restart' ? 'it was restarted from its last committed snapshot' : 'nothing of it was kept';
  log.error({ actor: address, measure }, `an actor failed: ${message}; ${what}`);
}

/** Logs the start and end of studies, and the arrival and departure of runners. */
export function logFacts(log: Logger, facts: readonly Fact[]): void {
  for (const fact of facts) {
    switch (fact.type) {
      case 'batch.opened':
        log.info({ batch_id: fact.batchId, runs: fact.totalJobs }, 'a study was submitted');
        break;
      case 'batch.ended':
        log.info({ batch_id: fact.batchId, status: fact.status }, 'a study ended');
        break;
      case 'batch.deleted':
        log.info({ batch_id: fact.batchId }, 'a study was deleted');
        break;
      case 'runner.silent':
        log.warn({ runner_id: fact.runnerId }, 'a runner went silent');
        break;
      case 'runner.lost':
      case 'runner.interrupted':
        if (fact.held.length > 0) {
          const { runnerId: runner_id, cause, held } = fact;
          log.warn({ runner_id, cause, jobs: held.length }, 'runs were taken from a runner');
        }
        break;
      case 'runner.excused':
        log.info(
          { runner_id: fact.runnerId, cause: fact.cause, jobs: fact.lost.length },
          'the loss of a runner counts no more',
        );
        break;
      case 'batch.blocked':
        log.warn({ batch_id: fact.batchId, code: fact.finding.code }, `a study is blocked: ${fact.finding.message}`);
        break;
      case 'notification.failed':
      case 'notification.given-up':
        log.warn(
          { notification: fact.notificationId, requests: fact.attempts, reason: fact.reason },
          fact.type === 'notification.failed'
            ? 'a notification was not delivered and is repeated'
            : 'a notification was given up',
        );
        break;
      case 'notification.dropped':
        log.error({ notification: fact.notificationId }, 'an event was not announced: too many notifications wait');
        break;
      case 'runner.registered':
      case 'runner.online':
      case 'runner.signed-off':
      case 'runner.drained':
      case 'runner.resumed':
      case 'runner.forgotten':
        log.info({ runner_id: fact.runnerId }, SAID[fact.type]);
        break;
      default:
    }
  }
}

/** Logs a clock that is far ahead of the store, and the end of the wait. */
export function logLeap(log: Logger, leap: ClockLeap | undefined): void {
  if (leap === undefined) {
    log.warn('deletion of what is older than its retention begins now, after the wait for the clock');
    return;
  }
  const { knownMs, nowMs, untilMs } = leap;
  const [known, now, until] = [knownMs, nowMs, untilMs].map((it) => new Date(it).toISOString());
  log.warn(
    { clock: now, last_known: known, deletes_from: until },
    leapWarning(leap, 'the data directory', 'coordinator'),
  );
}

const SAID = {
  'runner.registered': 'a runner registered',
  'runner.online': 'a runner is back',
  'runner.signed-off': 'a runner signed off',
  'runner.drained': 'a runner was drained',
  'runner.resumed': 'a runner was resumed',
  'runner.forgotten': 'a runner was forgotten',
} as const;

/**
 * The callbacks by which the events of a coordinator are logged and counted.
 * @param stop called when a write to the store failed: the process must end.
 */
export function hooksOf(log: Logger, metrics: Metrics, stop: (error: unknown) => void): CoordinatorHooks {
  return {
    ...metrics.news,
    warned: (batch_id, warnings) => {
      for (const { code, detail } of warnings) log.warn({ batch_id, code }, `a study may mislead: ${detail}`);
    },
    checkpointKept: (job_id, error) => {
      const why = error instanceof Error ? error.message : String(error);
      log.warn({ job_id }, `a checkpoint stays in the object store for now: ${why}`);
    },
    uploadsSwept: (bucket, uploads, error) => {
      if (uploads > 0) log.info({ bucket, uploads }, 'uploads that no runner continues were aborted');
      const why = error instanceof Error ? error.message : String(error);
      if (error !== undefined)
        log.warn({ bucket }, `uploads that no runner continues stay in the object store for now: ${why}`);
    },
    fault: (operation, error) => {
      metrics.news.fault(operation, error);
      log.error({ operation, err: error }, 'a request was rolled back after a fault');
    },
    actorFailed: (failure) => {
      metrics.news.actorFailed(failure);
      logFailedActor(log, failure);
    },
    turn: (report) => {
      metrics.news.turn(report);
      logTurn(log, report);
    },
    committed: (group) => {
      metrics.news.committed(group);
      logFacts(log, group.facts);
    },
    clockLeapt: (leap) => {
      metrics.clockLeapt(leap);
      logLeap(log, leap);
    },
    failed: stop,
    bucketChanged: (bucket, { fault, clockAheadSecs }) => {
      const clock =
        clockAheadSecs === undefined ? '' : `; this clock is ${clockDifference(clockAheadSecs)} that of the store`;
      if (fault === undefined) log.info({ bucket }, `the object store takes, returns and deletes objects${clock}`);
      else {
        const { code, message, remedy } = fault;
        log.error({ bucket, code }, `files of runs cannot be uploaded to the bucket: ${message}; ${remedy}`);
      }
    },
  };
}
