/** A study of which no run has ended: what it waits for, since when, what would let it run, and its planned inputs. */
import { designMethod } from '../../../src/domain/study/design-method.ts';
import type { BatchHistory, BatchStatusResponse, BatchSubmission, Finding } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';
import { Panel, sentenceOf } from '../parts/common.tsx';
import { count, Time } from '../parts/time.tsx';
import { coded } from './findings.tsx';
import { isOpen } from '../parts/progress.ts';
import { Dispersions } from './submission.tsx';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  findings: readonly Finding[];
}

const runs = (number: number): string => `${count(number)} ${number === 1 ? 'run' : 'runs'}`;

/** Findings of these keep runs from starting. */
const KEEPS: readonly Finding['severity'][] = ['blocked', 'waiting'];

export function NothingEnded({ progress, submission, findings }: Props) {
  const { batch, jobs_by_status: jobs } = progress;
  const { monte_carlo: plan, compute, dispersions } = submission.config;
  const reasons = findings.filter(({ severity }) => KEEPS.includes(severity));
  const isBlocked = reasons.some(({ severity }) => severity === 'blocked');
  const active = jobs.Claimed + jobs.Running;
  return (
    <>
      <Panel
        title={!isOpen(batch) ? 'No run has ended' : isBlocked ? 'Blocked: no run can start' : 'No run has ended yet'}
      >
        <dl className="pairs">
          {isOpen(batch) && reasons.map((it) => <Reason key={it.code} finding={it} />)}
          {isOpen(batch) && active > 0 && (
            <>
              <dt>With runners</dt>
              <dd>{runs(active)}</dd>
            </>
          )}
          {isOpen(batch) && <Since progress={progress} findings={reasons} />}
          <dt>Planned</dt>
          <dd>
            {batch.budget === undefined ? runs(batch.total_jobs) : `up to ${runs(batch.budget)}`},{' '}
            {designMethod(submission).replaceAll('_', ' ')}, seed <span className="mono">{String(plan.seed)}</span>
          </dd>
          <dt>Each run asks for</dt>
          <dd>
            {compute.container.cpu_request} CPU, {compute.container.memory_request} memory
          </dd>
        </dl>
      </Panel>
      <Dispersions title="Planned inputs" dispersions={dispersions} />
    </>
  );
}

function Reason({ finding: { severity, message, remedy } }: { finding: Finding }) {
  return (
    <>
      <dt>{severity === 'blocked' ? 'Blocked by' : 'Waits for'}</dt>
      <dd>{sentenceOf(message)}.</dd>
      <dt>{severity === 'blocked' ? 'To unblock' : 'To run sooner'}</dt>
      <dd>{coded(sentenceOf(remedy))}</dd>
    </>
  );
}

/** The events of the history with which findings begin. */
const BEGINNINGS = [
  { code: 'paused', event: 'paused', text: 'it was paused' },
  { code: 'canary-failed', event: 'canary-failed', text: 'the canary failed' },
] as const;

/** The time of other findings is not recorded: the latest event after which no run has started. */
function Since({ progress: { batch }, findings }: Pick<Props, 'progress' | 'findings'>) {
  const began = BEGINNINGS.find(({ code }) => findings.some((it) => it.code === code));
  const { data } = useRequest<BatchHistory>(
    began === undefined ? undefined : `/batches/${batch.id}/history`,
    batch.status,
  );
  const at = data?.events.findLast(({ type }) => type === began?.event)?.at;
  if (began !== undefined && at !== undefined) {
    return (
      <>
        <dt>Since</dt>
        <dd>
          {began.text}, <Time at={at} />
        </dd>
      </>
    );
  }
  if (batch.started_at !== undefined || batch.waiting_for_rows === true) return null;
  return (
    <>
      <dt>Since</dt>
      <dd>
        it was submitted, <Time at={batch.created_at} />: no run has been claimed
      </dd>
    </>
  );
}
