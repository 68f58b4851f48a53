/** What `simbatch serve` logs and counts of the events of its coordinator. */
import type { Logger } from 'pino';
import type { CoordinatorHooks } from '../../../coordinator/lifecycle.ts';
import type { Metrics } from '../../../http/metrics.ts';
import { logFacts, logFailedActor, logTurn } from './log.ts';

/** @param stop called when a write to the store failed: the process must end. */
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
    failed: stop,
    bucketChanged: (bucket, fault) => {
      if (fault === undefined) log.info({ bucket }, 'the object store takes, returns and deletes objects');
      else {
        const { code, message, remedy } = fault;
        log.error({ bucket, code }, `files of runs cannot be uploaded to the bucket: ${message}; ${remedy}`);
      }
    },
  };
}
