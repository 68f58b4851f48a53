/** Banners of a study: the findings that put its results in doubt, block it, or warn, each with the action that removes its cause. */
import { useState, type ReactNode } from 'react';
import type { BatchStatusResponse, Finding } from '../../../src/contract/types.ts';
import { post, useRequest } from '../data/api.ts';
import { useStudyVersion } from '../data/use-refresh.ts';
import { Act, Command, Failure, sentenceOf } from '../parts/common.tsx';
import { here } from '../parts/here.ts';
import { hrefOf } from '../router.ts';

const SHOWN: readonly Finding['severity'][] = ['doubtful', 'blocked', 'warning'];

/** The findings of a study, asked again every few seconds while it is open. */
export function useFindings({ batch }: BatchStatusResponse): { findings: readonly Finding[]; again: () => void } {
  const version = useStudyVersion(batch);
  const [asked, setAsked] = useState(0);
  const { data = [] } = useRequest<Finding[]>(`/batches/${batch.id}/findings`, `${version} ${asked}`);
  return { findings: data, again: () => setAsked((it) => it + 1) };
}

interface BannerProps {
  progress: BatchStatusResponse;
  findings: readonly Finding[];
  /** Called after an action, to read the findings again. */
  again: () => void;
}

export function FindingsBanner({ progress, findings, again }: BannerProps) {
  const [failure, setFailure] = useState<string>();
  const send = (path: string): void => {
    setFailure(undefined);
    post(path, '{}').then(again, (error: Error) => setFailure(error.message));
  };
  const shown = findings.filter(({ severity }) => SHOWN.includes(severity));
  return (
    <>
      {shown.map((it) => (
        <div
          key={it.code}
          className={it.severity === 'warning' ? 'notice warn finding' : 'notice finding'}
          role="alert"
          data-finding={it.code}
        >
          <div>
            <strong>{sentenceOf(it.message)}.</strong> <span>{coded(sentenceOf(it.remedy))}</span>
          </div>
          {actionsOf(it, progress.batch.id, send)}
        </div>
      ))}
      <Failure what="The action was not accepted." detail={failure} />
    </>
  );
}

/** Commands and members between backticks as code. */
export const coded = (text: string): ReactNode =>
  text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));

/** Most runners that get a button each. */
const BUTTONS = 3;

function actionsOf(finding: Finding, batchId: string, send: (path: string) => void): ReactNode {
  const study = `/batches/${encodeURIComponent(batchId)}`;
  const { code, runners = [], runs = [], study: other } = finding;
  const each = (verb: 'Drain' | 'Resume'): ReactNode =>
    runners.slice(0, BUTTONS).map((id) => (
      <Act key={id} onClick={() => send(`/runners/${encodeURIComponent(id)}/${verb.toLowerCase()}`)}>
        {verb} {id}
      </Act>
    ));
  const failed = hrefOf(['batches', batchId, 'runs'], { status: 'Failed,Timeout' });
  switch (code) {
    case 'paused':
      return <Act onClick={() => send(`${study}/resume`)}>Resume the study</Act>;
    case 'canary-failed':
      return (
        <div className="row">
          <a href={other === undefined ? failed : hrefOf(['batches', other])}>See why</a>
          <Act onClick={() => send(`${study}/release`)}>Release the other runs</Act>
        </div>
      );
    case 'all-drained':
      return <div className="row">{each('Resume')}</div>;
    case 'runner-fails-more':
      return <div className="row">{each('Drain')}</div>;
    case 'no-runner':
    case 'all-offline':
      return <Command text={`simbatch runner ${here()}`} />;
    case 'fails-everywhere':
      return <a href={failed}>{runs.length === 0 ? 'Show these runs' : `Show the runs, such as #${runs[0]}`}</a>;
    case 'silent-runner':
    case 'slots-lost':
    case 'disk-low':
    case 'clock-skew':
    case 'too-large':
    case 'no-slots':
    case 'unsupported-simulation':
      return <a href={hrefOf(['runners'])}>Show the pool</a>;
    case 'condition-never-seen':
    case 'telemetry-absent':
      return <a href={hrefOf(['batches', batchId, 'study'])}>Show the conditions</a>;
    default:
      return null;
  }
}
