/** Makes the message of a notification from the study as it is on disk: name, state, counts, verdicts, and a link to its page. */
import type { NotificationContext } from '../../../machines/notification/context.ts';
import { NotifiedVerdict } from '../../contract/resources/notifications.ts';
import type { RequirementVerdict, StudyNotification } from '../../contract/types.ts';
import { isTerminal, decodeBatch, type BatchState } from '../kernel/actors/actor-kinds.ts';
import type { Judgements } from '../judgement/judgements.ts';
import { jobsByStatus, timestamp } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { Clock } from '../../base/clock.ts';
import type { NotificationSettings } from './receivers.ts';

/** The most requirements that a message lists; the others are counted. */
const MOST_REQUIREMENTS = 50;
/** How long the message about the end of a study waits for its verdicts, which are judged after the end. */
const VERDICTS_WAIT_MS = 300_000;

export interface MessageSources {
  store: Pick<Store, 'get'>;
  judgements: Pick<Judgements, 'verdictsOf'>;
  clock: Pick<Clock, 'now'>;
}

/** Returns the message as JSON, at most about 32 KiB; undefined while the verdicts on an ended study are not judged yet. */
export function messageOf(
  parts: MessageSources,
  settings: NotificationSettings,
  c: NotificationContext,
): string | undefined {
  const record = parts.store.get(keys.batch(c.batchId));
  const state = record === undefined ? undefined : decodeBatch(record);
  const verdicts = state === undefined ? undefined : parts.judgements.verdictsOf(state);
  const areMissing = verdicts === undefined && (state?.context.requirements ?? 0) > 0;
  if (areMissing && c.eventType === 'study.ended' && parts.clock.now() < c.createdAtMs + VERDICTS_WAIT_MS)
    return undefined;
  const link = settings.link(c.batchId);
  const message: StudyNotification = {
    type: c.eventType,
    timestamp: timestamp(c.createdAtMs),
    data: {
      event_id: c.eventId,
      text: textOf(c, state),
      study: studyOf(c, state),
      ...(c.settled === undefined ? {} : { settled: c.settled.slice(0, MOST_REQUIREMENTS) }),
      ...(c.finding === undefined ? {} : { finding: c.finding }),
      ...(verdicts === undefined ? {} : { requirements: verdicts.slice(0, MOST_REQUIREMENTS).map(shown) }),
      ...((verdicts?.length ?? 0) > MOST_REQUIREMENTS
        ? { requirements_omitted: (verdicts?.length ?? 0) - MOST_REQUIREMENTS }
        : {}),
      ...(areMissing ? { verdicts_missing: true } : {}),
      ...(link === undefined ? {} : { link }),
    },
  };
  return JSON.stringify(message);
}

/** A study that was deleted since has its id and name alone. */
function studyOf(
  { batchId, study }: NotificationContext,
  state: BatchState | undefined,
): StudyNotification['data']['study'] {
  if (state === undefined) return { id: batchId, name: study, status: null };
  const { value: status, context: c } = state;
  return {
    id: batchId,
    name: c.name,
    status,
    jobs_by_status: jobsByStatus(state),
    total_jobs: c.totalJobs,
    created_at: timestamp(c.createdAtMs),
    ...(isTerminal(status) && c.endedAtMs !== undefined ? { ended_at: timestamp(c.endedAtMs) } : {}),
    ...(c.cancelReason === undefined ? {} : { cancel_reason: c.cancelReason }),
  };
}

const SHOWN = Object.keys(NotifiedVerdict.properties) as (keyof NotifiedVerdict)[];

const shown = (verdict: RequirementVerdict): NotifiedVerdict =>
  Object.fromEntries(SHOWN.map((name) => [name, verdict[name]])) as unknown as NotifiedVerdict;

/** One sentence for people. */
function textOf(c: NotificationContext, state: BatchState | undefined): string {
  const name = `study "${c.study}"`;
  if (c.eventType === 'study.blocked')
    return `${name} is blocked: ${c.finding?.message ?? ''}; ${c.finding?.remedy ?? ''}`;
  if (c.eventType === 'study.settled') return `${name}: settled ${(c.settled ?? []).slice(0, 5).join(', ')}`;
  if (state === undefined) return `${name} has ended and was deleted since`;
  const { Completed, Failed, Timeout } = jobsByStatus(state);
  return `${name} is ${state.value}: ${String(Completed)} of ${String(state.context.totalJobs)} runs completed, ${String(Failed + Timeout)} failed`;
}
