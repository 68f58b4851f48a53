/** The submission of a study: readable, and as a file. */
import type { BatchSubmission, DistributionType } from '../../../src/contract/types.ts';
import { designMethod } from '../../../src/domain/study/design-method.ts';
import { useEffect, useState } from 'react';
import { useRequest } from '../data/api.ts';
import { ENDPOINT } from '../data/place.ts';
import { Command, Failure, Panel, Waiting } from '../parts/common.tsx';
import { here } from '../parts/here.ts';
import { Table } from '../parts/table.tsx';
import { count, duration, figure } from '../parts/time.tsx';

export function Submission({ batchId }: { batchId: string }) {
  const { data, error } = useRequest<BatchSubmission>(`/batches/${batchId}/submission`);
  if (error !== undefined) return <Failure what="The submission could not be read." detail={error.message} />;
  if (data === undefined) return <Waiting what="Reading the submission" />;
  const { simulation, monte_carlo: plan, compute, dispersions, early_termination: early, correlations } = data.config;
  return (
    <div className="columns">
      <div className="column">
        <Panel title="Study">
          <dl className="pairs">
            <dt>Simulation</dt>
            <dd>
              {simulation.name} {simulation.version}
            </dd>
            <dt>Runs</dt>
            <dd>
              {plan.sampling_method === 'adaptive' && 'up to '}
              {count(plan.runs)}
              {data.runs_override !== undefined &&
                data.runs_override !== null &&
                `, of which the first ${count(data.runs_override)}`}
            </dd>
            {isText(plan.run_ids) && (
              <>
                <dt>Selected runs</dt>
                <dd className="mono clip" title={plan.run_ids.slice(0, 2_000)}>
                  {plan.run_ids}
                </dd>
              </>
            )}
            {typeof plan.replicate === 'number' && plan.replicate > 0 && (
              <>
                <dt>Replicate</dt>
                <dd>{count(plan.replicate)}</dd>
              </>
            )}
            {typeof plan.replicates === 'number' && (
              <>
                <dt>Replicates</dt>
                <dd>
                  {count(plan.replicates)} of {count(plan.runs / plan.replicates)} runs
                </dd>
              </>
            )}
            <dt>Sampling</dt>
            <dd>{designMethod(data).replaceAll('_', ' ')}</dd>
            <dt>Seed</dt>
            <dd className="mono">{String(plan.seed)}</dd>
            <dt>At once</dt>
            <dd>{compute.max_parallel_jobs === 0 ? 'no cap' : count(compute.max_parallel_jobs)}</dd>
            <dt>Time limit</dt>
            <dd>{compute.job_timeout_seconds === 0 ? 'none' : duration(compute.job_timeout_seconds * 1_000)}</dd>
            <dt>Each run asks for</dt>
            <dd>
              {compute.container.cpu_request} CPU, {compute.container.memory_request} memory
            </dd>
            {correlations !== undefined && correlations !== null && correlations.length > 0 && (
              <>
                <dt>Correlations</dt>
                <dd>{correlations.map((it) => `${it.parameters.join(' with ')} ${figure(it.rank)}`).join(', ')}</dd>
              </>
            )}
            <dt>Stops early</dt>
            <dd>
              {early.enabled && early.conditions.length > 0
                ? early.conditions.map((it) => `${it.variable} ${it.condition}`).join(', ')
                : 'never'}
            </dd>
          </dl>
        </Panel>
        <Panel title="As submitted">
          <pre className="source" tabIndex={0}>
            <AsYaml value={data} />
          </pre>
          <p className="soft small">Submitting this again makes the same runs.</p>
          <Command
            text={`curl -s ${ENDPOINT}/batches/${batchId}/submission > study.json && simbatch submit study.json ${here()}`}
          />
        </Panel>
      </div>
      <Dispersions title="Dispersions" dispersions={dispersions} />
      {data.outputs !== undefined && Object.keys(data.outputs).length > 0 && (
        <Panel title="Outputs" flush>
          <Table label="Outputs" columns={['Output', 'Meaning', 'Units']}>
            {Object.entries(data.outputs).map(([name, it]) => (
              <NamedRow key={name} name={name} text={it.description} units={it.units} />
            ))}
          </Table>
        </Panel>
      )}
    </div>
  );
}

export function Dispersions({
  title,
  dispersions,
}: { title: string } & Pick<BatchSubmission['config'], 'dispersions'>) {
  const hasSources = Object.values(dispersions).some((it) => it.source !== undefined);
  const columns = ['Parameter', 'Distribution', 'Units', ...(hasSources ? ['Source'] : [])];
  return (
    <Panel title={`${title} (${Object.keys(dispersions).length})`} flush>
      <Table label={title} columns={columns}>
        {Object.entries(dispersions).map(([name, it]) => (
          <NamedRow
            key={name}
            name={name}
            text={describe(it.distribution)}
            units={it.units}
            {...(hasSources && { source: it.source ?? '' })}
          />
        ))}
      </Table>
    </Panel>
  );
}

/** `source`: only in a table that has the column. */
function NamedRow({
  name,
  text,
  units,
  source,
}: {
  name: string;
  text: string | undefined;
  units: string | undefined;
  source?: string;
}) {
  return (
    <tr>
      <td className="mono">{name}</td>
      <td>{text}</td>
      <td>{units}</td>
      {source !== undefined && <td>{source}</td>}
    </tr>
  );
}

function describe(distribution: DistributionType): string {
  const { type, ...members } = distribution;
  const parts = Object.entries(members).flatMap(([name, value]: [string, unknown]) => {
    if (value === null || value === undefined) return [];
    const shown = Array.isArray(value) ? `(${count(value.length)})` : figure(value as number);
    return [`${name.replaceAll('_', ' ')} ${shown}`];
  });
  return [type, ...parts].join(', ');
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns the submission as a study file; the YAML writer is loaded on demand. */
function AsYaml({ value }: { value: BatchSubmission }) {
  const [text, setText] = useState('…');
  useEffect(() => {
    void import('yaml').then(({ stringify }) => setText(stringify(value)));
  }, [value]);
  return text;
}
