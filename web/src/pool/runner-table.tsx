/** The table of runners: their runs, draining, resuming, and forgetting. */
import { useId, useState } from 'react';
import type { Runner } from '../../../src/contract/types.ts';
import { useText } from '../../../src/domain/counted/counts.ts';
import { post, remove } from '../data/api.ts';
import { Act, Ask, Failure } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { ACTIONS, Table } from '../parts/table.tsx';
import { count, duration, Time } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

const COLUMNS = [
  'Runner',
  'State',
  'Holds',
  { name: 'Heartbeat', right: true },
  { name: 'Completed', right: true },
  { name: 'Failed attempts', right: true },
  'Resources',
  'Registered',
  ACTIONS,
];

type Change = 'drain' | 'resume' | 'forget';

const DONE: Record<Change, string> = { drain: 'drained', resume: 'resumed', forget: 'forgotten' };

function say(runner: Runner, change: Change, reason: string | undefined, hours: number): Promise<unknown> {
  const path = `/runners/${encodeURIComponent(runner.id)}`;
  if (change === 'forget') return remove(path);
  const query = new URLSearchParams();
  if (change === 'drain' && reason !== undefined) query.set('reason', reason);
  if (change === 'drain' && hours > 0) query.set('until', new Date(Date.now() + hours * 3_600_000).toISOString());
  return post(`${path}/${change}${query.size === 0 ? '' : `?${query}`}`);
}

export function RunnerTable({ runners, now }: { runners: Runner[]; now: number }) {
  const [asked, setAsked] = useState<{ runner: Runner; change: Change }>();
  const [failure, setFailure] = useState<{ what: string; detail: string }>();
  const make = (runner: Runner, change: Change, reason?: string, hours = 0): void => {
    setFailure(undefined);
    say(runner, change, reason, hours).catch((error: Error) =>
      setFailure({ what: `${runner.id} was not ${DONE[change]}.`, detail: error.message }),
    );
  };
  return (
    <>
      {failure !== undefined && <Failure {...failure} />}
      <Table label="Table of runners" className="cards" columns={COLUMNS}>
        {runners.map((it) => (
          <RunnerRow
            key={it.id}
            runner={it}
            now={now}
            onChange={(change) => (change === 'resume' ? make(it, change) : setAsked({ runner: it, change }))}
          />
        ))}
      </Table>
      <p className="table-note small soft">A runner can be forgotten once it is Offline and holds no runs.</p>
      {asked !== undefined && (
        <Question
          {...asked}
          onAnswer={(reason, hours) => make(asked.runner, asked.change, reason, hours)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

interface QuestionProps {
  runner: Runner;
  change: Change;
  /** `hours`: after which the drain ends by itself; 0: when it is resumed. */
  onAnswer: (reason: string | undefined, hours: number) => void;
  onClose: () => void;
}

/** How long a drain may last, in hours. */
const DRAINS = [
  [0, 'until it is resumed'],
  [1, 'for an hour'],
  [8, 'for 8 hours'],
  [24, 'for a day'],
] as const;

function Question({ runner, change, onAnswer, onClose }: QuestionProps) {
  const [hours, setHours] = useState(0);
  if (change === 'forget') {
    return (
      <Ask
        title={`Forget ${runner.id}?`}
        action="Forget"
        danger
        onAnswer={() => onAnswer(undefined, 0)}
        onClose={onClose}
      >
        <p>
          It leaves the pool, and its counts{runner.drain_reason !== undefined && ' and its drain'} are lost. Its runs
          and their results stay. Should it come back, it registers as if for the first time.
        </p>
      </Ask>
    );
  }
  return (
    <Ask
      title={`Drain ${runner.id}?`}
      reason="Why (shown to others)"
      action="Drain"
      onAnswer={(reason) => onAnswer(reason, hours)}
      onClose={onClose}
    >
      <p>
        It takes no new runs; the {runner.current_jobs.length} it holds continue to their end. It stays drained over
        restarts.
      </p>
      <label>
        How long{' '}
        <select value={hours} onChange={(event) => setHours(Number(event.target.value))}>
          {DRAINS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </Ask>
  );
}

interface RowProps {
  runner: Runner;
  now: number;
  onChange: (change: Change) => void;
}

function RunnerRow({ runner, now, onChange }: RowProps) {
  const { capabilities: able, current_jobs: held } = runner;
  const waiting = Math.max(0, held.length - able.max_concurrent_jobs);
  return (
    <tr>
      <td>
        <a href={hrefOf(['runners', runner.id])}>
          <strong>{runner.name}</strong>
        </a>
        {runner.name !== runner.id && <div className="small soft mono">{runner.id}</div>}
        {runner.tags.length > 0 && <div className="small soft">{runner.tags.join(' · ')}</div>}
      </td>
      <td>
        <State status={runner.status} />
        {runner.drain_reason !== undefined && <div className="small soft">{runner.drain_reason}</div>}
        {runner.drained_until !== undefined && (
          <div className="small soft">
            until <Time at={runner.drained_until} />
          </div>
        )}
      </td>
      <td data-label="Holds">
        <div className="nowrap">
          {held.length - waiting} of {able.max_concurrent_jobs}
          {waiting > 0 && <span className="soft">, {waiting} wait</span>}
        </div>
        {runner.slots_lost !== undefined && (
          <div
            className="small"
            title="A process survives SIGKILL, or a file system does not answer: see the runner's log."
          >
            {runner.slots_lost} lost
          </div>
        )}
        <div className="small mono inline">
          {held.slice(0, 4).map((id) => (
            <a key={id} href={hrefOf(['jobs', id])} title={id}>
              #{Number.parseInt(id.slice(-8), 16) - 1}{' '}
            </a>
          ))}
          {held.length > 4 && <span className="soft">+{held.length - 4}</span>}
        </div>
      </td>
      <td className="right nowrap" data-label="Heartbeat">
        {duration(Math.max(0, now - Date.parse(runner.last_heartbeat)))} ago
      </td>
      <td className="right narrow-hide">{count(runner.total_jobs_completed)}</td>
      <td className="right narrow-hide">{count(runner.total_jobs_failed)}</td>
      <td className="small narrow-hide">
        {able.cpu_cores > 0 ? `${able.cpu_cores} cores` : 'any cores'},{' '}
        {able.memory_gb > 0 ? `${able.memory_gb} GB` : 'any memory'}
        {able.gpu_available && ', GPU'}
        {able.resources !== undefined && <div>{useText(able.resources, runner.resources_used)} in use</div>}
        <div className="soft">{able.supported_simulation_types.join(', ') || 'any simulation'}</div>
      </td>
      <td className="narrow-hide">
        <Time at={runner.registered_at} />
      </td>
      <td>
        <Changes runner={runner} onChange={onChange} />
      </td>
    </tr>
  );
}

/** The possible actions. An offline runner that holds runs shows why it cannot be forgotten yet. */
function Changes({ runner, onChange }: { runner: Runner; onChange: (change: Change) => void }) {
  const note = useId();
  const isDrained = runner.status === 'Maintenance' || runner.drain_reason !== undefined;
  const isGone = runner.status === 'Offline';
  const holds = runner.current_jobs.length > 0;
  const button = (change: Change, name: string) => (
    <Act
      className={change === 'forget' ? 'danger' : undefined}
      disabled={change === 'forget' && holds}
      describedBy={change === 'forget' && holds ? note : undefined}
      onClick={() => onChange(change)}
    >
      {name}
      <span className="visually-hidden"> {runner.id}</span>
    </Act>
  );
  return (
    <>
      <div className="row changes">
        {isGone && button('forget', 'Forget')}
        {isDrained ? button('resume', 'Resume') : button('drain', 'Drain')}
      </div>
      {isGone && holds && (
        <div id={note} className="small soft right">
          Its runs are given to others first.
        </div>
      )}
    </>
  );
}
