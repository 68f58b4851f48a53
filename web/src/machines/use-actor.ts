/** One actor of the coordinator: its known past, and each event that it takes from now on. */
import { useMemo, useState } from 'react';
import type { Job, JobHistory, Journal } from '../../../src/contract/types.ts';
import { request } from '../data/api.ts';
import { useTopicListener } from '../data/live.ts';
import { replayJob, type ReplayStep } from './replay.ts';

interface ActorState {
  steps: ReplayStep[];
  error: string | undefined;
  /** Absent until the actor is read. */
  journal?: Journal | undefined;
}

const NO_STEPS: ReplayStep[] = [];

/** The known events of an actor: the whole history of a job, or the events from now on of others. */
export function useActor(kind: string, actor: string | undefined): ActorState {
  const [state, setState] = useState<ActorState & { topic: string }>();
  const topic: `machine/${string}/${string}` | undefined = actor === undefined ? undefined : `machine/${kind}/${actor}`;
  useTopicListener(topic, (message) => {
    if (message.type === 'error') setState({ steps: NO_STEPS, error: message.detail, topic: topic! });
    else if (message.type === 'resumed') return;
    else if ('value' in message.data) {
      const { value, context, now, journal } = message.data;
      const present: ReplayStep = { event: undefined, from: undefined, to: value, context, now, taken: true };
      setState({ steps: [present], error: undefined, topic: topic!, journal });
      if (kind === 'job')
        void past(actor!).then(
          (steps) =>
            setState((it) => (it?.topic === topic ? { ...it!, steps: [...steps, ...it!.steps.slice(1)] } : it)),
          () => {},
        );
    } else {
      const { journal } = message.data;
      const received = message.data.steps.map(({ event, from, ...it }): ReplayStep => ({
        event,
        from,
        ...it,
        taken: true,
      }));
      setState((it) =>
        it?.topic === topic
          ? { ...it!, steps: [...it!.steps, ...received].slice(-500), journal: journal ?? it!.journal }
          : it,
      );
    }
  });
  return useMemo(
    () => (state?.topic === topic && state !== undefined ? state : { steps: NO_STEPS, error: undefined }),
    [state, topic],
  );
}

async function past(jobId: string): Promise<ReplayStep[]> {
  const [job, history] = await Promise.all([
    request<Job>(`/jobs/${jobId}`),
    request<JobHistory>(`/jobs/${jobId}/history`),
  ]);
  return replayJob(job.data, history.data);
}
