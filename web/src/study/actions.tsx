/** The actions of a study: extend, rerun the failed runs, audit, pause, resume, release, cancel. */
import { useState, type ReactNode } from 'react';
import type { Batch, BatchStatusResponse, SubmissionResponse } from '../../../src/contract/types.ts';
import { post } from '../data/api.ts';
import { newKey } from '../data/idempotency.ts';
import { Act, Ask, Failure } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { go, hrefOf } from '../router.ts';
import { isOpen } from '../parts/progress.ts';
import { CancelBatch } from './cancel-study.tsx';

type Action = 'extend' | 'rerun' | 'audit' | 'pause' | 'resume' | 'release' | 'close' | 'cancel';

const FAILURES: Readonly<Record<Action, string>> = {
  extend: 'The study was not extended.',
  rerun: 'The failed runs were not submitted again.',
  audit: 'The spot check was not started.',
  pause: 'The study was not paused.',
  resume: 'The study was not resumed.',
  release: 'The runs were not released.',
  close: 'The study was not closed.',
  cancel: 'The study was not cancelled.',
};

export function BatchActions({ progress }: { progress: BatchStatusResponse }) {
  const { batch } = progress;
  const [asked, setAsked] = useState<Action>();
  const [failure, setFailure] = useState<{ action: Action; detail: string }>();
  const isActive = isOpen(batch);
  const send = (action: Action, body: object, onDone: (answer: unknown) => void = () => {}): void => {
    setFailure(undefined);
    post(`/batches/${batch.id}/${action}`, JSON.stringify(body), { 'idempotency-key': newKey() }).then(
      ({ data }) => onDone(data),
      (error: Error) => setFailure({ action, detail: error.message }),
    );
  };
  const button = (action: Action, label: string, danger = false): ReactNode => (
    <Act key={action} className={danger ? 'danger' : ''} onClick={() => setAsked(action)}>
      {label}
    </Act>
  );
  const resume = <Act onClick={() => send('resume', {})}>Resume</Act>;
  return (
    <>
      <div className="row" role="group" aria-label="Actions">
        {batch.budget === undefined && button('extend', 'Extend')}
        {batch.failed_jobs > 0 && button('rerun', 'Rerun failed')}
        {batch.completed_jobs > 0 && button('audit', 'Spot check')}
        {isActive && (batch.paused === true ? resume : button('pause', 'Pause'))}
        {isActive && batch.canary_failed === true && button('release', 'Release')}
        {isActive && batch.budget !== undefined && batch.closed !== true && button('close', 'Close')}
        {isActive && button('cancel', 'Cancel', true)}
      </div>
      <Failure what={failure === undefined ? '' : FAILURES[failure.action]} detail={failure?.detail} />
      {asked !== undefined && <Question action={asked} batch={batch} send={send} onClose={() => setAsked(undefined)} />}
    </>
  );
}

interface QuestionProps {
  action: Action;
  batch: Batch;
  send: (action: Action, body: object, onDone?: (answer: unknown) => void) => void;
  onClose: () => void;
}

/** Opens the page of the study that was made. */
const open = (answer: unknown): void => go(hrefOf(['batches', (answer as SubmissionResponse).batch_id]));
const withReason = (reason: string | undefined): object => (reason === undefined ? {} : { reason });

function Question({ action, batch, send, onClose }: QuestionProps) {
  const flow = (body: string | undefined): void => send(action, withReason(body));
  if (action === 'cancel') return <CancelBatch batch={batch} onAnswer={flow} onClose={onClose} />;
  if (action === 'extend') return <Extend batch={batch} send={send} onClose={onClose} />;
  if (action === 'audit') return <Audit batch={batch} send={send} onClose={onClose} />;
  if (action === 'rerun') {
    const rerun = (version: string | undefined): void => {
      const change = version === undefined ? {} : { simulation_version: version };
      send('rerun', { select: { states: ['Failed', 'Timeout'] }, ...change }, open);
    };
    return (
      <Ask
        title={`Run the failed runs of “${batch.name}” again?`}
        reason="Version of the simulation (optional; otherwise the same)"
        refusal="Do not run them"
        action={`Run ${count(batch.failed_jobs)} again`}
        onAnswer={rerun}
        onClose={onClose}
      >
        <p>They become a new study with the same parameters. This one stays as it is; compare the two afterwards.</p>
      </Ask>
    );
  }
  if (action === 'close') {
    return (
      <Ask
        title={`Close “${batch.name}”?`}
        refusal="Keep it open"
        action="Close the study"
        onAnswer={() => send('close', {})}
        onClose={onClose}
      >
        <p>It takes no further rounds, and ends once its runs have. Nothing opens it again.</p>
      </Ask>
    );
  }
  const isPause = action === 'pause';
  return (
    <Ask
      title={isPause ? `Pause “${batch.name}”?` : `Release the other runs of “${batch.name}”?`}
      reason="Why (optional)"
      action={isPause ? 'Pause the study' : 'Release the runs'}
      onAnswer={flow}
      onClose={onClose}
    >
      <p>
        {isPause
          ? 'No new runs are assigned until it is resumed; running ones continue.'
          : 'The runs that wait for the canary runs, or for the canary study, are assigned, although one of these has not completed.'}
      </p>
    </Ask>
  );
}

function Extend({ batch, send, onClose }: Omit<QuestionProps, 'action'>) {
  const extend = (text: string | undefined): void => {
    const runs = Number(text);
    // The coordinator refuses what is not a number of runs, and says why.
    send('extend', text === undefined ? {} : { runs: Number.isNaN(runs) ? text : runs }, open);
  };
  return (
    <Ask
      title={`Extend “${batch.name}”?`}
      reason="Runs of the whole design (Latin hypercube: of the next replicate)"
      initial={String(2 * batch.total_jobs)}
      refusal="Do not extend it"
      action="Extend the study"
      onAnswer={extend}
      onClose={onClose}
    >
      <p>
        The further runs become a new study with the same seed, requirements and policy. A Monte Carlo or Sobol’ design
        continues where this one ends; a Latin hypercube gets an independent replicate.
      </p>
    </Ask>
  );
}

function Audit({ batch, send, onClose }: Omit<QuestionProps, 'action'>) {
  const audit = (text: string | undefined): void => {
    const percent = Number(text?.replace('%', ''));
    // The coordinator refuses what is not a part, and says why.
    send('audit', { fraction: text === undefined || Number.isNaN(percent) ? text : percent / 100 }, open);
  };
  return (
    <Ask
      title={`Spot check of “${batch.name}”?`}
      reason="Part of the finished runs, in percent"
      initial="5"
      refusal="Do not check it"
      action="Start the spot check"
      onAnswer={audit}
      onClose={onClose}
    >
      <p>
        A drawn part of its finished runs is executed again on other runners, as a new study. Equal outputs show that
        the results do not depend on the machine.
      </p>
    </Ask>
  );
}

/** The labels of a study, as links to the studies that have them. */
export function Labels({ batch: { labels = {} } }: { batch: Batch }) {
  if (Object.keys(labels).length === 0) return null;
  return (
    <span className="row labels" aria-label="Labels" role="group">
      {Object.entries(labels).map(([key, value]) => (
        <a key={key} className="small" href={hrefOf(['batches'], { label: `${key}=${value}` })}>
          {key}={value}
        </a>
      ))}
    </span>
  );
}

/** The reason of a pause, and links to the parent and the children of a study. */
export function BatchRelations({ batch }: { batch: Batch }) {
  const { parent, children = [] } = batch;
  return (
    <>
      {batch.paused === true && isOpen(batch) && (
        <p className="soft">Paused: {batch.pause_reason ?? 'no new runs are assigned'}</p>
      )}
      {parent !== undefined && (
        <p className="soft">
          {RELATED[parent.relation]} <BatchLink id={parent.batch_id} />{' '}
          <CompareLink before={parent.batch_id} after={batch.id} />
        </p>
      )}
      {children.length > 0 && (
        <p className="soft" aria-label="Studies that came of this one">
          {children.map(({ batch_id: id, relation }) => (
            <span key={id}>
              {NAMES[relation]} <BatchLink id={id} /> <CompareLink before={batch.id} after={id} />{' '}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

const CompareLink = ({ before, after }: { before: string; after: string }) => (
  <a className="small" href={hrefOf(['batches', before, 'compare'], { with: after })}>
    compare
  </a>
);

const RELATED = {
  extension: 'Extends',
  rerun: 'Reruns',
  comparison: 'Compares with',
  audit: 'Spot check of',
  probe: 'Canary study of',
  extraction: 'Extracted from',
  repeat: 'Repeats, with another seed,',
} as const;
const NAMES = {
  extension: 'Extended by',
  rerun: 'Rerun as',
  comparison: 'Compared with',
  audit: 'Spot check:',
  probe: 'Canary study',
  extraction: 'Extraction',
  repeat: 'Repeated with another seed:',
} as const;

const BatchLink = ({ id }: { id: string }) => (
  <a className="mono" href={hrefOf(['batches', id])}>
    {id.slice(0, 13)}
  </a>
);
