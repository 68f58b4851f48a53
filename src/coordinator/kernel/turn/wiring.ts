/**
 * The wiring: one table that routes each fact to actors as events. All communication between actors is in this table; an
 * actor never addresses another one.
 */
import type { DeadlineKind } from '../../../../machines/deadline.ts';
import type { Address, AnyEvent, Fact, FactType, JobChange } from '../../../../machines/protocol.ts';
import type { AttemptRef, Uuid } from '../../../contract/types.ts';

/** The lookups that a route may use to find the addressees of a fact. */
export interface Registry {
  /** The touched jobs of a batch that are not terminal. */
  openJobsOf(batchId: Uuid): Iterable<Uuid>;
  /** Whether a batch exists that has not ended. */
  isOpen(batchId: Uuid): boolean;
}

/** One message: an event for an address. */
export interface Message {
  to: Address;
  event: AnyEvent;
  /** True: the message is dropped when its addressee does not take it. False: a refusal is a fault. */
  mayArriveLate?: boolean;
}

/** One consequence of a fact. */
export type Route<F extends Fact> =
  /** Separate messages, delivered in order. */
  | { send: (fact: F, registry: Registry) => Iterable<Message> }
  /** Delivered with the other changes of the same turn in one JOBS_CHANGED. */
  | { gather: (fact: F & JobChange) => Address | undefined };

export type Wiring = { readonly [T in FactType]: readonly Route<Extract<Fact, { type: T }>>[] };

/** Makes addresses of a kind. Caches the latest, since the changes of a turn mostly concern one batch and one runner. */
function addresses(kind: 'batch' | 'runner'): (id: string) => Address {
  let latest: { id: string; address: Address } = { id: '', address: `${kind}/` };
  return (id) => {
    if (id !== latest.id) latest = { id, address: `${kind}/${id}` };
    return latest.address;
  };
}
const batchAddress = addresses('batch');
const runnerAddress = addresses('runner');

const toBatch = (change: JobChange): Address => batchAddress(change.batchId);
const toRunner = ({ runnerId }: JobChange): Address | undefined =>
  runnerId === undefined ? undefined : runnerAddress(runnerId);

const DEADLINE_EVENTS = {
  claim: 'CLAIM_EXPIRED',
  'time-limit': 'TIME_LIMIT',
  canary: 'CANARY_LATE',
  silence: 'SILENCE',
  lease: 'LEASE_ENDED',
  missing: 'MISSING',
  drain: 'DRAIN_ENDED',
  expiry: 'EXPIRE',
  answer: 'NO_ANSWER',
} as const satisfies Record<DeadlineKind, AnyEvent['type']>;

function* each(held: readonly AttemptRef[], event: (ref: AttemptRef) => AnyEvent): Iterable<Message> {
  for (const ref of held) yield { to: `job/${ref.job_id}`, event: event(ref) };
}

/** Cancels the canary study of a study that ended Cancelled, which may have ended or been deleted. Once: its requeued runs take one CANCEL in a turn. */
function* cancelCanary(canary: Uuid | undefined, now: number, registry: Registry): Iterable<Message> {
  if (canary === undefined || !registry.isOpen(canary)) return;
  const reason = 'the study that waits for it was cancelled';
  yield { to: `batch/${canary}`, event: { type: 'CANCEL', reason, now }, mayArriveLate: true };
}

export const WIRING: Wiring = {
  'job.claimed': [{ gather: toBatch }, { gather: toRunner }],
  'job.started': [{ gather: toBatch }],
  'job.requeued': [{ gather: toBatch }, { gather: toRunner }],
  'job.ended': [{ gather: toBatch }, { gather: toRunner }],
  'job.excused': [],

  'batch.opened': [],
  'batch.appended': [],
  'batch.amended': [],
  'batch.closed': [],
  'batch.extended': [],
  'batch.cancelling': [
    {
      *send({ batchId, reason, now }, registry) {
        for (const jobId of registry.openJobsOf(batchId))
          yield { to: `job/${jobId}`, event: { type: 'CANCEL', reason, now } };
      },
    },
  ],
  'batch.ended': [
    {
      *send({ canaryOf, now }, registry) {
        // The study that waited may have been cancelled and deleted, or released by hand.
        if (canaryOf === undefined || !registry.isOpen(canaryOf.batchId)) return;
        const event = { type: 'CANARY_ENDED' as const, passed: canaryOf.passed, now };
        yield { to: `batch/${canaryOf.batchId}`, event, mayArriveLate: true };
      },
    },
    {
      send: ({ status, canaryBatch, now }, registry) =>
        cancelCanary(status === 'Cancelled' ? canaryBatch : undefined, now, registry),
    },
  ],
  'batch.paused': [],
  'batch.resumed': [],
  'batch.released': [],
  'batch.canary-passed': [],
  'batch.canary-failed': [],
  'batch.canary-late': [],
  'batch.blocked': [],
  'batch.unblocked': [],
  'batch.judged': [],
  'batch.deleted': [],

  'runner.registered': [],
  'runner.online': [],
  'runner.silent': [],
  'runner.drained': [],
  'runner.quarantined': [],
  'runner.resumed': [],
  'runner.forgotten': [],
  'runner.lost': [
    {
      send: ({ runnerId, held, cause, mayBeExcused, now }) => {
        const excuse = mayBeExcused === true ? { mayBeExcused } : {};
        return each(held, ({ attempt }) => ({ type: 'RUNNER_LOST', runnerId, attempt, cause, ...excuse, now }));
      },
    },
  ],
  'runner.interrupted': [
    {
      send: ({ runnerId, held, cause, now }) => {
        const message = `runner ${runnerId}: ${cause}`;
        return each(held, ({ attempt }) => ({
          type: 'INTERRUPT',
          runnerId,
          attempt,
          why: 'machine-gone',
          message,
          now,
        }));
      },
    },
  ],
  'runner.excused': [
    {
      *send({ runnerId, lost, cause, now }) {
        const message = `runner ${runnerId}: ${cause}; its launcher reported it after the lease`;
        // A run that has ended since stays as it is.
        for (const { job_id: jobId, attempt } of lost)
          yield { to: `job/${jobId}`, event: { type: 'EXCUSE', runnerId, attempt, message, now }, mayArriveLate: true };
      },
    },
  ],
  'runner.signed-off': [
    { send: ({ runnerId, held, now }) => each(held, ({ attempt }) => ({ type: 'HAND_BACK', runnerId, attempt, now })) },
  ],

  'notification.delivered': [],
  'notification.failed': [],
  'notification.given-up': [],
  'notification.dropped': [],

  'deadline.passed': [
    {
      send: ({ address, kind, now }) => [
        { to: address, event: { type: DEADLINE_EVENTS[kind], now }, mayArriveLate: true },
      ],
    },
  ],
  'system.serving': [],
  'system.stopping': [],
  'system.stopped': [],
  'system.failed': [],
  'system.faulted': [],
  'actor.failed': [],
};
