/** The inputs that drive an output of an ended study: a tornado of the inputs by their partial rank correlation. */
import type {
  BatchStatusResponse,
  BatchSubmission,
  StudySensitivity,
  StudySummary,
} from '../../../src/contract/types.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Panel, Waiting, sentenceOf } from '../parts/common.tsx';
import { isOpen } from '../parts/progress.ts';
import { worstFirst } from '../plots/requirement-plot.ts';

/** Inputs for which the card has room. */
const SHOWN = 8;
/** Half of the width of a picture, for a correlation of 1. */
const HALF = 50;

type Input = StudySensitivity['parameters'][number];

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  summary: StudySummary | undefined;
}

export function Drivers({ progress, submission, summary }: Props) {
  const numeric = summary?.outputs.filter((it) => it.count > 0 && it.name !== 'execution_secs') ?? [];
  const judged = worstFirst(progress.requirements ?? []).map(({ output }) => output);
  const output = numeric.find(({ name }) => name === judged[0])?.name ?? numeric[0]?.name;
  // The answer of a design for Sobol' indices is these.
  const isAsked =
    output !== undefined && !isOpen(progress.batch) && submission.config.monte_carlo.sampling_method !== 'saltelli';
  const { data, error } = useAnswer<StudySensitivity>(
    progress,
    isAsked ? `sensitivity?output=${encodeURIComponent(output)}` : undefined,
  );
  if (!isAsked) return null;
  const inputs = data?.parameters.slice(0, SHOWN) ?? [];
  const more = (data?.parameters.length ?? 0) - inputs.length;
  return (
    <Panel title={`What drives ${output}`}>
      <Failure what="The influence of the inputs could not be computed." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting what="Computing the influence of the inputs" />}
      {data !== undefined && (
        <div className="stack tight drivers">
          {inputs.length > 0 && (
            <table>
              <thead className="visually-hidden">
                <tr>
                  <th>Input</th>
                  <th>Partial rank correlation</th>
                  <th>Number</th>
                </tr>
              </thead>
              <tbody>
                {inputs.map((it) => (
                  <Row key={it.name} input={it} />
                ))}
              </tbody>
            </table>
          )}
          <p className="small soft">
            {inputs.length > 0 && 'Partial rank correlation; pale: not told apart from no influence. '}
            {more > 0 && `${more} more inputs. `}
            {[data.sentence, ...data.warnings.map(({ message }) => message).filter((it) => !data.sentence.includes(it))]
              .map(sentenceOf)
              .join('. ')}
          </p>
        </div>
      )}
    </Panel>
  );
}

function Row({ input: { name, prcc, told_apart: isApart } }: { input: Input }) {
  const wide = Math.min(1, Math.abs(prcc ?? 0)) * HALF;
  const text = prcc === null ? 'unknown' : prcc.toFixed(2);
  return (
    <tr>
      <td className="mono clip" title={name}>
        {name}
      </td>
      <td className="picture">
        <svg
          viewBox={`0 0 ${2 * HALF} 14`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${name}: ${text}${isApart === true ? '' : ', not told apart from no influence'}`}
        >
          <rect
            className={isApart === true ? 'h-selected' : 'h-selected pale'}
            x={(prcc ?? 0) < 0 ? HALF - wide : HALF}
            width={wide}
            y="2"
            height="10"
          />
          <line x1={HALF} x2={HALF} y1="0" y2="14" />
        </svg>
      </td>
      <td className="right nowrap small">{text}</td>
    </tr>
  );
}
