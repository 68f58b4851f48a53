/** Sobol' indices of an output as a picture: first and total of each input with their intervals, for studies with the design for them. */
import { useState } from 'react';
import type { BatchStatusResponse, BatchSubmission, StudyIndices, StudySummary } from '../../../src/contract/types.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Panel, Waiting } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';

type Input = StudyIndices['inputs'][number];
type Index = Input['first'];

/** Pairs for which the panel has room. */
const PAIRS = 5;

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  summary: StudySummary | undefined;
}

export function Indices({ progress, submission, summary }: Props) {
  const hasDesign = submission.config.monte_carlo.sampling_method === 'saltelli';
  const outputs = summary?.outputs.filter((it) => it.count > 0 && it.name !== 'execution_secs') ?? [];
  const [chosen, setChosen] = useState<string>();
  const output = outputs.find(({ name }) => name === chosen)?.name ?? outputs[0]?.name;
  const isAsked = hasDesign && output !== undefined;
  const { data, error } = useAnswer<StudyIndices>(
    progress,
    isAsked ? `indices?output=${encodeURIComponent(output)}` : undefined,
  );
  if (!isAsked) return null;
  return (
    <Panel
      title={`Sobol’ indices of ${output}`}
      aside={
        outputs.length > 1 ? (
          <label>
            <span className="visually-hidden">Output of the indices</span>
            <select value={output} onChange={(event) => setChosen(event.target.value)}>
              {outputs.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        ) : null
      }
    >
      <Failure what="The indices could not be computed." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting what="Computing the indices" />}
      {data !== undefined && <Picture indices={data} />}
    </Panel>
  );
}

function Picture({ indices: it }: { indices: StudyIndices }) {
  const ends = it.inputs.flatMap(({ first, total }) => [...extentOf(first), ...extentOf(total)]);
  const axis: [number, number] = [Math.min(0, ...ends), Math.max(1, ...ends)];
  const pairs = it.pairs.filter((pair) => pair.told_apart).slice(0, PAIRS);
  return (
    <div className="stack indices">
      {it.inputs.length > 0 && (
        <>
          <p className="small soft">
            <Mark kind="first" /> first: by itself · <Mark kind="total" /> total: with others ·{' '}
            {Math.round(100 * it.confidence)} % intervals · pale: not told apart from 0
          </p>
          <table>
            <thead className="visually-hidden">
              <tr>
                <th>Input</th>
                <th>Indices</th>
                <th>First</th>
                <th>Total</th>
              </tr>
            </thead>
            <tbody>
              {it.inputs.map((input) => (
                <Row key={input.name} input={input} axis={axis} />
              ))}
            </tbody>
          </table>
        </>
      )}
      {pairs.length > 0 && (
        <p className="small">
          Pairs: {pairs.map(({ names, value }) => `${names.join(' with ')} ${value.toFixed(2)}`).join(', ')}
        </p>
      )}
      <p className="small soft">
        {it.sentence}
        {it.blocks.missing > 0 &&
          `. ${count(it.blocks.missing)} of ${count(it.blocks.used + it.blocks.missing)} blocks are missing; thin lines: what they could change`}
      </p>
    </div>
  );
}

const extentOf = ({ value, interval, bounds }: Index): number[] =>
  [value, ...interval, ...(bounds ?? [])].flatMap((it) => (it === null ? [] : [it]));

function Row({ input: { name, first, total }, axis }: { input: Input; axis: readonly [number, number] }) {
  return (
    <tr>
      <td className="mono">{name}</td>
      <td className="picture">
        <svg
          viewBox={`0 0 ${WIDTH} 30`}
          role="img"
          aria-label={`${name}: first ${textOf(first)}, total ${textOf(total)}`}
        >
          <line className="zero" x1={placeOf(0, axis)} x2={placeOf(0, axis)} y1="0" y2="30" />
          <line className="zero" x1={placeOf(1, axis)} x2={placeOf(1, axis)} y1="0" y2="30" />
          <Drawn kind="first" index={first} y={9} axis={axis} />
          <Drawn kind="total" index={total} y={21} axis={axis} />
        </svg>
      </td>
      <td className="right nowrap small" title={textOf(first)}>
        {first.value.toFixed(2)}
      </td>
      <td className="right nowrap small" title={textOf(total)}>
        {total.value.toFixed(2)}
      </td>
    </tr>
  );
}

const WIDTH = 240;
const placeOf = (value: number, [low, high]: readonly [number, number]): number =>
  6 + ((value - low) / (high - low)) * (WIDTH - 12);

const numbers = (range: readonly (number | null)[]): string => range.map((it) => it?.toFixed(3) ?? '–').join(' to ');
const textOf = ({ value, interval, told_apart: isApart }: Index): string =>
  `${value.toFixed(3)}, ${numbers(interval)}${isApart ? '' : ', not told apart from 0'}`;

type Kind = 'first' | 'total';

function Drawn({ kind, index, y, axis }: { kind: Kind; index: Index; y: number; axis: readonly [number, number] }) {
  const { value, interval, bounds, told_apart: isApart } = index;
  const span = (range: readonly (number | null)[], className: string) => {
    const [low, high] = range;
    if (typeof low !== 'number' || typeof high !== 'number') return null;
    return <line className={className} x1={placeOf(low, axis)} x2={placeOf(high, axis)} y1={y} y2={y} />;
  };
  return (
    <g className={isApart ? kind : `${kind} pale`}>
      {bounds !== null && span(bounds, 'thin')}
      {span(interval, 'interval')}
      <Point kind={kind} x={placeOf(value, axis)} y={y} />
    </g>
  );
}

const Point = ({ kind, x, y }: { kind: Kind; x: number; y: number }) =>
  kind === 'first' ? <circle cx={x} cy={y} r="4" /> : <rect x={x - 4} y={y - 4} width="8" height="8" />;

const Mark = ({ kind }: { kind: Kind }) => (
  <svg className="mark" viewBox="0 0 10 10" aria-hidden="true">
    <g className={kind}>
      <Point kind={kind} x={5} y={5} />
    </g>
  </svg>
);
