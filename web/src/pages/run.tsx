/** The page of one run: attempts, parameters as percentiles, result, replay command. */
import { useEffect, useMemo, useState } from 'react';
import { batchIdOf, isJobId, jobId } from '../../../src/domain/ids.ts';
import { executionSecsOf, outputsOf } from '../../../src/domain/runs/outputs.ts';
import { scenarioText } from '../../../src/domain/scenarios/cells.ts';
import { studySampler } from '../../../src/domain/sampling/sampler.ts';
import type {
  BatchStatusResponse,
  BatchSubmission,
  DataMessage,
  Job,
  JobData,
  JobResult,
  RunFiles as Listed,
  Seed,
} from '../../../src/contract/types.ts';
import { post, useRequest } from '../data/api.ts';
import { useTopic } from '../data/live.ts';
import { Act, Ask, Command, Empty, Failure, Panel, Waiting } from '../parts/common.tsx';
import { here } from '../parts/here.ts';
import { labelOf } from '../plots/variables.ts';
import { RunFiles } from '../parts/run-files.tsx';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { duration, figure } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { LiveTelemetry } from '../runs/live-telemetry.tsx';
import { TelemetryPanel } from '../telemetry/panel.tsx';
import { setTitle } from '../title.ts';
import { neighboursOf, type Neighbours } from './neighbours.ts';
import { Attempts } from './run-attempts.tsx';

/** The cell of a run of a study with scenarios, and which of its samples the run is. */
function Cell({ job: { run_config: run } }: { job: Job }) {
  const { scenario, sample } = run.metadata;
  if (scenario === undefined) return null;
  return (
    <p className="soft">
      {scenarioText(scenario)}, sample {sample}
    </p>
  );
}

const isOpen = ({ status }: Job): boolean => status === 'Pending' || status === 'Claimed' || status === 'Running';

const latest = (_: JobData | undefined, message: DataMessage<JobData>): JobData => message.data;

export function RunPage({ jobId: id }: { jobId: string }) {
  const { data, error } = useTopic(`job/${id}`, latest);
  const batchId = isJobId(id) ? batchIdOf(id) : undefined;
  const batch = useRequest<BatchStatusResponse>(batchId === undefined ? undefined : `/batches/${batchId}`);
  const submission = useRequest<BatchSubmission>(batchId === undefined ? undefined : `/batches/${batchId}/submission`);
  // The files may be others in another state.
  const files = useRequest<Listed>(data === undefined ? undefined : `/jobs/${id}/files`, data?.job.status);
  if (error !== undefined) return <Failure what="The run could not be read." detail={error} />;
  if (data === undefined) return <Waiting what="Reading the run" />;
  const { job, history, result } = data;
  return (
    <>
      <RunHead
        job={job}
        batchName={batch.data?.batch.name}
        neighbours={neighboursOf(job, batch.data, submission.data)}
      />
      <Cell job={job} />
      {job.error_message !== undefined && (
        <div className="notice">
          <strong>{job.status === 'Cancelled' ? 'Cancelled' : 'Why it failed'}</strong>
          <pre className="message-text">{job.error_message}</pre>
        </div>
      )}
      {result?.telemetry_data != null && !isOpen(job) ? (
        <TelemetryPanel files={files} job={job} result={result} submission={submission.data} />
      ) : (
        <LiveTelemetry job={job} submission={submission.data} />
      )}
      <div className="columns">
        <Panel title="Attempts" flush>
          <Attempts history={history} job={job} />
        </Panel>
        <Panel title="Replay on this machine">
          <div className="stack">
            <p>The same parameters and seed, on your machine:</p>
            <Command text={`simbatch replay ${job.id} ${here()}`} />
            <p className="soft small">
              Run {job.run_config.run_id} of <span className="mono">{job.run_config.metadata.simulation_name}</span>,
              seed <span className="mono">{String(job.run_config.metadata.seed)}</span>,{' '}
              {job.run_config.metadata.sampling_method.replaceAll('_', ' ')}.
            </p>
          </div>
        </Panel>
      </div>
      <div className="columns">
        <Panel title="Parameters" flush>
          <Parameters job={job} submission={submission.data} />
        </Panel>
        <Outputs result={result} job={job} declared={submission.data?.outputs} />
      </div>
      <RunFiles jobId={job.id} files={files} />
    </>
  );
}

function RunHead({
  job,
  batchName,
  neighbours: { before, after },
}: {
  job: Job;
  batchName: string | undefined;
  neighbours: Neighbours;
}) {
  const [isAsked, setAsked] = useState(false);
  const [failure, setFailure] = useState<string>();
  const run = job.run_config.run_id;
  useEffect(() => setTitle(`Run #${run}${batchName === undefined ? '' : `, ${batchName}`}`), [run, batchName]);
  const cancel = (reason: string | undefined): void => {
    post(`/jobs/${job.id}/cancel`, JSON.stringify(reason === undefined ? {} : { reason })).catch((error: Error) =>
      setFailure(error.message),
    );
  };
  const other = (runId: number): string => hrefOf(['jobs', jobId(job.batch_id, runId)]);
  return (
    <>
      <div className="head">
        <div className="grow">
          <div className="crumbs">
            <a href={hrefOf(['batches'])}>Studies</a>
            <span aria-hidden="true">/</span>
            <a href={hrefOf(['batches', job.batch_id, 'runs'])}>{batchName ?? job.batch_id}</a>
            <span aria-hidden="true">/</span>
            <span className="mono clip">{job.id}</span>
          </div>
          <div className="row">
            <h1>Run #{run}</h1>
            <State status={job.status} />
            {job.assigned_runner !== undefined && (
              <span className="soft">
                on <a href={hrefOf(['runners', job.assigned_runner])}>{job.assigned_runner}</a>
              </span>
            )}
          </div>
        </div>
        {before !== undefined && (
          <a className="button" rel="prev" href={other(before)} title="The run before (key [)">
            ← #{before}
          </a>
        )}
        {after !== undefined && (
          <a className="button" rel="next" href={other(after)} title="The run after (key ])">
            #{after} →
          </a>
        )}
        <a className="button" href={hrefOf(['inspect', 'job', job.id])}>
          Inspect
        </a>
        {isOpen(job) && (
          <Act className="danger" onClick={() => setAsked(true)}>
            Cancel
          </Act>
        )}
      </div>
      <Failure what="The run was not cancelled." detail={failure} />
      {isAsked && (
        <Ask
          title={`Cancel run #${run}?`}
          reason="Why (optional)"
          action="Cancel the run"
          danger
          onAnswer={cancel}
          onClose={() => setAsked(false)}
        >
          <p>Its simulation is killed if it is running. The other runs of the study continue.</p>
        </Ask>
      )}
    </>
  );
}

function Parameters({ job, submission }: { job: Job; submission: BatchSubmission | undefined }) {
  const { parameters, run_id: run } = job.run_config;
  const shares = useMemo(() => {
    if (submission === undefined) return undefined;
    const { config } = submission;
    const sampler = studySampler(config, config.monte_carlo.seed as Seed);
    const uniforms = sampler.uniforms(run);
    return new Map(sampler.names.map((name, at) => [name, uniforms[at]!]));
  }, [submission, run]);
  const names = Object.keys(parameters).sort();
  if (names.length === 0) return <Empty title="This study has no dispersions." />;
  return (
    <Table
      label="Parameters"
      columns={['Name', { name: 'Value', right: true }, 'Units', 'Percentile of its distribution']}
    >
      {names.map((name) => (
        <tr key={name}>
          <td className="mono">{name}</td>
          <td className="right" title={String(parameters[name])}>
            {figure(parameters[name])}
          </td>
          <td>{submission?.config.dispersions[name]?.units}</td>
          <td>
            <Percentile share={shares?.get(name)} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Returns the percentile of a value in its distribution, from 0 to 100. */
function Percentile({ share }: { share: number | undefined }) {
  if (share === undefined) return <span className="soft">–</span>;
  if (Number.isNaN(share)) return <span className="soft">fixed</span>;
  const extreme = share < 0.025 || share > 0.975;
  return (
    <span className={extreme ? 'percentile extreme' : 'percentile'}>
      <svg viewBox="0 0 100 10" aria-hidden="true">
        <line x1="0" x2="100" y1="5" y2="5" />
        <circle cx={3 + share * 94} cy="5" r="3" />
      </svg>
      {(share * 100).toFixed(1)}
    </span>
  );
}

function Outputs({
  result,
  job,
  declared = {},
}: {
  result: JobResult | null;
  job: Job;
  declared: BatchSubmission['outputs'];
}) {
  if (result === null) {
    return (
      <Panel title="Outputs" flush>
        <Empty title={job.status === 'Cancelled' ? 'A cancelled run leaves no result.' : 'No result yet.'} />
      </Panel>
    );
  }
  return (
    <Panel title="Outputs">
      <dl className="pairs">
        <dt>Simulation ran</dt>
        <dd>{duration(executionSecsOf(result) * 1_000)}</dd>
        {[...outputsOf(result.metadata)].map(([name, value]) => (
          <div key={name} className="pair">
            <dt className="mono" title={Object.hasOwn(declared, name) ? declared[name]?.description : undefined}>
              {labelOf(name, Object.hasOwn(declared, name) ? declared[name]?.units : undefined)}
            </dt>
            <dd title={JSON.stringify(value)}>
              {typeof value === 'number' ? figure(value) : <code>{JSON.stringify(value)}</code>}
            </dd>
          </div>
        ))}
        {Object.entries(result.derived_missing ?? {}).map(([name, why]) => (
          <div key={name} className="pair">
            <dt className="mono">{name}</dt>
            <dd className="soft">no value: {why}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
