/** The inspector: one page about one run, runner, study or the supervisor, by its address. */
import './inspector.css';
import type { Batch, BatchHistory, Job, JobData, DataMessage, PoolHistory } from '../../../src/contract/types.ts';
import { batchIdOf, isJobId, runIdOf } from '../../../src/domain/ids.ts';
import { useEffect } from 'react';
import { useRequest } from '../data/api.ts';
import { useTopic } from '../data/live.ts';
import { useRefresh } from '../data/use-refresh.ts';
import { Empty, Failure, Waiting } from '../parts/common.tsx';
import { hrefOf } from '../router.ts';
import { setTitle } from '../title.ts';
import { historyPath } from '../pool/gantt.tsx';
import { FailingRuns } from './failing-runs.tsx';
import { Inspector } from './frame.tsx';
import { attemptBars, stateBars } from './lanes.ts';
import { OfRecording, OpenRecording } from './recording.tsx';
import { merged } from './story.ts';
import { useLane } from './use-lane.ts';

interface PageProps {
  kind: string;
  id: string | undefined;
  attempt: number | undefined;
}

export default function InspectorPage({ kind, id, attempt }: PageProps) {
  if (kind === 'job' && id !== undefined && isJobId(id)) return <OfRun key={id} jobId={id} attempt={attempt} />;
  if (kind === 'runner' && id !== undefined) return <OfRunner key={id} runnerId={id} />;
  if (kind === 'batch' && id !== undefined) return <OfStudy key={id} batchId={id} />;
  if (kind === 'recording' && id !== undefined) return <OfRecording key={id} name={id} />;
  if (kind === 'supervisor') return <OfSupervisor />;
  return (
    <section className="panel">
      <Empty title="There is no such actor.">
        <a href={hrefOf(['inspect'])}>Go to the supervisor</a>
      </Empty>
    </section>
  );
}

const latest = (_: JobData | undefined, message: DataMessage<JobData>): JobData => message.data;

/** A run by its study and number, with its attempts and the runner of the latest one. */
function OfRun({ jobId: id, attempt }: { jobId: string; attempt: number | undefined }) {
  const batchId = batchIdOf(id);
  const run = useLane('job', id);
  const { data, error } = useTopic(`job/${id}`, latest);
  const study = useRequest<{ batch: Batch }>(`/batches/${batchId}`).data?.batch;
  const attempts = data?.history.attempts ?? [];
  const runnerId = (attempts.find((it) => it.attempt === attempt) ?? attempts.at(-1))?.runner_id;
  const runner = useLane('runner', runnerId);
  const name = `Run #${runIdOf(id)} of ${study?.name ?? '…'}`;
  useEffect(() => setTitle(name), [name]);
  const failure = error ?? run.error;
  if (failure !== undefined) return <Failure what="The run could not be read." detail={failure} />;
  if (data === undefined || run.events.length === 0) return <Waiting what="Reading the run" />;
  const from = Date.parse(data.job.created_at);
  const to = data.job.completed_at === undefined ? Infinity : Date.parse(data.job.completed_at) + 5_000;
  // The life of the runner may be long before and after this run.
  const ofRunner = runner.events.filter((it) => it.now >= from - 60_000 && it.now <= to);
  const events = merged(run.events, ofRunner);
  return (
    <Inspector
      head={
        <>
          <h1 className="grow clip">
            <a href={hrefOf(['jobs', id])}>Run #{runIdOf(id)}</a> of{' '}
            <a href={hrefOf(['inspect', 'batch', batchId])}>{study?.name ?? batchId}</a>
          </h1>
          {runnerId !== undefined && (
            <span className="soft">
              on <a href={hrefOf(['inspect', 'runner', runnerId])}>{runnerId}</a>
            </span>
          )}
        </>
      }
      rows={[
        { name: 'subject', title: 'Run', note: 'coordinator' },
        { name: 'attempts', title: 'Attempts', note: 'on the runner' },
        { name: 'runner', title: 'Runner', note: runnerId ?? 'none yet' },
      ]}
      bars={[
        ...stateBars('subject', run.lane, run.events),
        ...attemptBars(attempts),
        ...stateBars('runner', runner.lane, ofRunner),
      ]}
      events={events}
      actors={[
        { lane: run.lane, name: `Run #${runIdOf(id)}` },
        ...(runnerId === undefined ? [] : [{ lane: runner.lane, name: `Runner ${runnerId}` }]),
      ]}
      since={run.since}
      attempt={attempt}
    />
  );
}

/** A runner with its latest attempts. */
function OfRunner({ runnerId }: { runnerId: string }) {
  const runner = useLane('runner', runnerId);
  const round = useRefresh(true);
  const { data } = useRequest<PoolHistory>(historyPath([runnerId]), round);
  useEffect(() => setTitle(`Runner ${runnerId}`), [runnerId]);
  if (runner.error !== undefined) return <Failure what="The runner could not be read." detail={runner.error} />;
  if (runner.events.length === 0) return <Waiting what="Reading the runner" />;
  const attempts = (data?.attempts ?? []).slice(-LATEST);
  return (
    <Inspector
      head={
        <h1 className="grow clip">
          Runner <a href={hrefOf(['runners', runnerId])}>{runnerId}</a>
        </h1>
      }
      rows={[
        { name: 'subject', title: 'Runner', note: 'coordinator' },
        { name: 'attempts', title: 'Attempts', note: `the latest ${LATEST}` },
      ]}
      bars={[
        ...stateBars('subject', runner.lane, runner.events),
        ...attempts.map((it) => ({
          row: 'attempts' as const,
          from: Date.parse(it.started_at),
          to: Date.parse(it.ended_at),
          state: it.outcome.charAt(0).toUpperCase() + it.outcome.slice(1),
          text: `#${runIdOf(it.job_id)}: ${it.outcome}`,
          href: hrefOf(['inspect', 'job', it.job_id], { attempt: String(it.attempt) }),
        })),
      ]}
      events={runner.events.toSorted((a, b) => a.now - b.now)}
      actors={[{ lane: runner.lane, name: `Runner ${runnerId}` }]}
      since={runner.since}
    />
  );
}

const LATEST = 60;

/** A study with its failing runs. */
function OfStudy({ batchId }: { batchId: string }) {
  const study = useLane('batch', batchId);
  const round = useRefresh(true);
  const batch = useRequest<{ batch: Batch }>(`/batches/${batchId}`, round).data?.batch;
  const history = useRequest<BatchHistory>(`/batches/${batchId}/history`, round).data;
  const failing = useRequest<Job[]>(`/jobs?batch_id=${batchId}&status=Failed,Timeout&limit=${LATEST}`, round).data;
  const name = batch?.name ?? batchId;
  useEffect(() => setTitle(name), [name]);
  if (study.error !== undefined) return <Failure what="The study could not be read." detail={study.error} />;
  if (study.events.length === 0) return <Waiting what="Reading the study" />;
  const past = (history?.events ?? []).map((it) => ({
    lane: study.lane,
    result: 'note' as const,
    type: it.type,
    now: Date.parse(it.at),
    from: undefined,
    to: it.status,
    event: undefined,
    before: undefined,
    after: undefined,
    times: 1,
    detail: it.reason,
  }));
  const events = merged(past, study.events);
  return (
    <Inspector
      head={
        <h1 className="grow clip">
          Study <a href={hrefOf(['batches', batchId])}>{name}</a>
        </h1>
      }
      rows={[
        { name: 'subject', title: 'Study', note: 'coordinator' },
        { name: 'attempts', title: 'Failing runs', note: `the first ${LATEST}` },
      ]}
      bars={[
        ...stateBars('subject', study.lane, events),
        ...(failing ?? []).map((it) => ({
          row: 'attempts' as const,
          from: Date.parse(it.started_at ?? it.created_at),
          to: Date.parse(it.completed_at ?? it.created_at),
          state: it.status,
          text: `#${runIdOf(it.id)}`,
          href: hrefOf(['inspect', 'job', it.id]),
        })),
      ]}
      events={events}
      actors={[{ lane: study.lane, name }]}
      since={study.since}
      list={{ title: 'Failing runs', content: <FailingRuns runs={failing} most={LATEST} /> }}
    />
  );
}

/** The supervisor, with the actors that it restarted; and the way to all others. */
function OfSupervisor() {
  const supervisor = useLane('supervisor', 'supervisor');
  useEffect(() => setTitle('Inspector'), []);
  if (supervisor.error !== undefined)
    return <Failure what="The supervisor could not be read." detail={supervisor.error} />;
  if (supervisor.events.length === 0) return <Waiting what="Reading the supervisor" />;
  return (
    <Inspector
      head={
        <>
          <h1 className="grow clip">Supervisor</h1>
          <span className="soft small">Any run, runner or study: Ctrl K.</span>
          <a className="button" href={hrefOf(['machines'])}>
            All statecharts
          </a>
          <OpenRecording />
        </>
      }
      rows={[{ name: 'subject', title: 'Supervisor', note: 'coordinator' }]}
      bars={stateBars('subject', supervisor.lane, supervisor.events)}
      events={supervisor.events.toSorted((a, b) => a.now - b.now)}
      actors={[{ lane: supervisor.lane, name: 'Supervisor' }]}
      since={supervisor.since}
    />
  );
}
