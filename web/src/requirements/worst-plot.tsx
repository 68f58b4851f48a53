/** The plot of the study page: the output of the worst requirement with its limit, its percentiles and the runs without a value. */
import type { ReactNode } from 'react';
import type {
  BatchStatusResponse,
  RequirementVerdict,
  StudyDistributions,
  StudySummary,
} from '../../../src/contract/types.ts';
import { requirementClaim } from '../../../src/analysis/wording.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Panel } from '../parts/common.tsx';
import { brief, count } from '../parts/time.tsx';
import { ticksOf } from '../plots/ticks.ts';
import { outputPlot, worstFirst, type Line, type OutputPlot } from '../plots/requirement-plot.ts';

/** Bins of the plot: its bars are about 20 pixels wide. */
const BINS = 40;
/** Runs without a value that are marked one by one. */
const MOST_MARKS = 40;

interface Props {
  progress: BatchStatusResponse;
  summary: StudySummary | undefined;
  requirements: readonly RequirementVerdict[];
  /** The requirements, beside the plot; below the other where there is none. */
  children: ReactNode;
}

/** Plot and requirements side by side; the requirements alone where no output of a judged one has two values. */
export function WithWorstPlot({ progress, summary, requirements, children }: Props) {
  const worst = worstFirst(requirements);
  const { data } = useAnswer<StudyDistributions>(progress, worst.length > 0 ? `distributions?bins=${BINS}` : undefined);
  const histogramFor = (output: string | null) =>
    data?.variables.find(({ kind, name }) => kind === 'output' && name === output);
  const requirement = worst.find(({ output }) => histogramFor(output) !== undefined);
  const histogram = requirement && histogramFor(requirement.output);
  if (data === undefined || requirement === undefined || histogram === undefined) return <>{children}</>;
  const quantiles = summary?.outputs.find(({ name }) => name === requirement.output)?.quantiles ?? [];
  const plot = outputPlot(requirement, histogram, quantiles);
  const without = (['crashed', 'timeout', 'lost', 'terminated', 'no_value'] as const).flatMap((kind) => {
    const number = data.excluded[kind] ?? 0;
    return number === 0 ? [] : [`${count(number)} ${WORDS[kind]}`];
  });
  const marked = Math.min(
    MOST_MARKS,
    (data.excluded['crashed'] ?? 0) + (data.excluded['timeout'] ?? 0) + (data.excluded['lost'] ?? 0),
  );
  const beyond = [
    ...plot.lines
      .filter(({ place }) => place === undefined)
      .map((it) => `${it.text} ${brief(it.value)} is off the axis`),
    ...(histogram.below > 0 ? [`${runs(histogram.below)} below the axis`] : []),
    ...(histogram.above > 0 ? [`${runs(histogram.above)} above the axis`] : []),
  ];
  return (
    <div className="columns worst">
      <Panel
        title={
          <>
            {requirement.name} <span className="mono small soft">{requirementClaim(requirement)}</span>
          </>
        }
      >
        <figure
          className="worst-plot"
          role="img"
          aria-label={`Distribution of ${requirement.output} over ${count(histogram.count)} runs: ${plot.lines.map((it) => `${it.text} ${brief(it.value)}`).join(', ')}${without.length > 0 ? `; ${without.join(', ')}` : ''}`}
        >
          <div className="field" aria-hidden="true">
            {plot.failing.map((it) => (
              <i
                key={it.from}
                className="failing"
                style={{ left: percent(it.from), width: percent(it.to - it.from) }}
              />
            ))}
            <Bars plot={plot} />
            {plot.lines.map((it, row) => (
              <Marked key={`${it.text} ${it.value}`} line={it} row={row} />
            ))}
            {marked > 0 && (
              <span className={`rug ${plot.side}`}>
                {Array.from({ length: marked }, (_, at) => (
                  <i key={at} />
                ))}
              </span>
            )}
          </div>
          <div className="ticks small soft" aria-hidden="true">
            {ticksOf({ from: plot.from, to: plot.to, isLog: false }, 6).map((it) => (
              <span key={it} style={{ left: percent((it - plot.from) / (plot.to - plot.from)) }}>
                {brief(it)}
              </span>
            ))}
          </div>
          <figcaption className="small soft">
            {requirement.output}
            {histogram.units !== null && histogram.units !== '' && ` [${histogram.units}]`} of {count(histogram.count)}{' '}
            completed runs
            {[...without.map((it) => `${it}, not in the bars`), ...beyond].map((it) => `; ${it}`)}
          </figcaption>
        </figure>
      </Panel>
      {children}
    </div>
  );
}

const WORDS = {
  crashed: 'crashed',
  timeout: 'timed out',
  lost: 'lost',
  terminated: 'ended early by a rule',
  no_value: 'without a value',
} as const;

const runs = (number: number): string => `${count(number)} ${number === 1 ? 'run' : 'runs'}`;
const percent = (place: number): string => `${(100 * place).toFixed(3)}%`;

const WIDTH = 1_000;

function Bars({ plot }: { plot: OutputPlot }) {
  const path = plot.bars
    .map(({ from, width, height }) => {
      const [x, wide] = [from * WIDTH + 0.5, Math.max(0.5, width * WIDTH - 1)];
      return height === 0 ? '' : `M${x.toFixed(2)},100v${(-100 * height).toFixed(2)}h${wide.toFixed(2)}V100z`;
    })
    .join('');
  return (
    <svg viewBox={`0 0 ${WIDTH} 100`} preserveAspectRatio="none">
      <path className="h-selected" d={path} />
    </svg>
  );
}

/** A line over the field. Each label has a row of its own, so that none hides another. */
function Marked({ line: { text, value, isLimit, place, isLeft }, row }: { line: Line; row: number }) {
  if (place === undefined) return null;
  return (
    <span
      className={`marked${isLimit ? ' limit' : ''}${isLeft ? ' to-left' : ''}`}
      style={{ left: percent(place), top: `${row * 15}px` }}
    >
      {text} {brief(value)}
    </span>
  );
}
