/** More runs for a study of rare events that has ended: the question before it is opened again, and its answer. */
import { useState } from 'react';
import type {
  AdaptiveConfig,
  BatchStatusResponse,
  ExtendResponse,
  RareEventAnswer,
} from '../../../src/contract/types.ts';
import { sizesOf } from '../../../src/domain/study/rare-event/settings.ts';
import { post } from '../data/api.ts';
import { newKey } from '../data/idempotency.ts';
import { Act, Ask, Failure, sentenceOf } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';

/** The levels for which the question offers runs after a search that reached no violation. */
const OFFERED_LEVELS = 4;

interface Props {
  progress: BatchStatusResponse;
  /** Of the study of this page alone. */
  own: RareEventAnswer;
  /** Of all that were submitted together; the same for a study alone. */
  joint: RareEventAnswer;
  adaptive: AdaptiveConfig;
}

export function ExtendRare({ progress: { batch }, own, joint, adaptive }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [warnings, setWarnings] = useState<ExtendResponse['warnings']>();
  const isFirst = batch.parent?.relation !== 'repeat';
  const isOver = batch.status === 'Completed' && (isFirst ? joint : own).phase === 'ended';
  const mayExtend = isOver && (own.reason === 'confirmed' || own.reason === 'not-reached');
  const extend = (text: string | undefined): void => {
    setFailure(undefined);
    setWarnings(undefined);
    const runs = Number(text);
    // The coordinator refuses a text that is not a number of runs, and says why.
    const body = text === undefined ? {} : { runs: Number.isNaN(runs) ? text : runs };
    post<ExtendResponse>(`/batches/${batch.id}/extend`, JSON.stringify(body), { 'idempotency-key': newKey() }).then(
      ({ data }) => setWarnings(data.warnings),
      (error: Error) => setFailure(error.message),
    );
  };
  const { population, confirmRuns } = sizesOf(adaptive);
  const isConfirmed = own.reason === 'confirmed';
  const others = joint.studies.length - 1;
  return (
    <>
      {mayExtend && (
        <div className="row" role="group" aria-label="More runs">
          <Act onClick={() => setIsAsking(true)}>Extend</Act>
        </div>
      )}
      <Failure what={failure === undefined ? '' : 'The study was not extended.'} detail={failure} />
      {warnings !== undefined && (
        <ul className="notice warn" aria-label="Studies that were not extended">
          {warnings.map(({ detail }) => (
            <li key={detail}>{sentenceOf(detail)}.</li>
          ))}
        </ul>
      )}
      {isAsking && (
        <Ask
          title={`Extend “${batch.name}”?`}
          reason={isConfirmed ? 'Further confirming runs' : 'Runs by which the budget grows'}
          initial={String(isConfirmed ? confirmRuns : OFFERED_LEVELS * population)}
          refusal="Do not extend it"
          action="Extend the study"
          onAnswer={extend}
          onClose={() => setIsAsking(false)}
        >
          <p>
            {isConfirmed
              ? 'It is opened again, and its confirmation continues with further draws of the same attempt. The bounds hold at every number of draws.'
              : `It is opened again, and its search continues as with a larger budget. A level takes ${count(population)} runs.`}
          </p>
          {others > 0 && (
            <p>
              {isFirst
                ? `The ${others === 1 ? 'study' : `${others} studies`} submitted with it ${others === 1 ? 'is' : 'are'} extended by as many runs.`
                : 'This study alone is extended. On the page of study 1, all are.'}
            </p>
          )}
        </Ask>
      )}
    </>
  );
}
