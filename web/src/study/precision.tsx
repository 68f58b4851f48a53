/** How near a study is to the precisions at which it stops, live: a row each, with its half-width against its target. */
import { useRef } from 'react';
import type {
  BatchStatusResponse,
  PrecisionCourse,
  PrecisionReached,
  PrecisionState,
  StudyPrecisions,
} from '../../../src/contract/types.ts';
import { Panel } from '../parts/common.tsx';
import { useAnswer } from '../data/use-answer.ts';
import { brief, count, share } from '../parts/time.tsx';
import { HalfWidthCourse } from '../plots/precision-course.tsx';

export function Precisions({ progress }: { progress: BatchStatusResponse }) {
  // A study that has just ended has no figures for a moment: those before stay on the page.
  const latest = useRef<PrecisionReached[]>([]);
  latest.current = progress.precision ?? latest.current;
  const { data } = useAnswer<StudyPrecisions>(progress, latest.current.length > 0 ? 'precision' : undefined);
  if (latest.current.length === 0) return null;
  const { stopped_at_run_id: stopped } = progress.batch;
  const messages = [...new Set(latest.current.flatMap((it) => it.warnings.map(({ message }) => message)))];
  return (
    <Panel
      title="Precision"
      aside={
        <span className="small soft">
          {stopped === undefined
            ? 'the study stops when every half-width is at its target; intervals hold at every number of runs'
            : `stopped at run ${count(stopped)}; intervals hold at the stop`}
        </span>
      }
      flush
    >
      <div className="verdicts" aria-live="polite">
        {latest.current.map((it) => (
          <Row key={`${it.output} ${it.quantity} ${it.condition}`} of={it} course={courseOf(data, it)} />
        ))}
        {messages.map((it) => (
          <p key={it} className="small soft note">
            {it}
          </p>
        ))}
      </div>
    </Panel>
  );
}

const courseOf = (data: StudyPrecisions | undefined, of: PrecisionReached): PrecisionCourse | undefined =>
  data?.precision.find((it) => it.output === of.output && it.quantity === of.quantity && it.condition === of.condition);

const WORDS: Record<PrecisionState, string> = {
  reached: 'reached',
  open: 'open',
  'out-of-reach': 'out of reach',
  'not-reached': 'not reached',
};
/** The colours of the verdicts that say the same. */
const COLOURS: Record<PrecisionState, string> = {
  reached: 'met',
  open: 'open',
  'out-of-reach': 'not-shown',
  'not-reached': 'not-shown',
};

const quantityOf = ({ quantity, condition }: PrecisionReached): string =>
  quantity === 'probability' ? `probability ${condition}` : quantity === 'mean' ? 'mean' : quantity.toUpperCase();

function Row({ of: it, course }: { of: PrecisionReached; course: PrecisionCourse | undefined }) {
  const wanted = it.relative === null ? `± ${brief(it.target ?? 0)}` : `± ${share(it.relative)}`;
  return (
    <article
      className={`verdict v-${COLOURS[it.state]}`}
      data-precision={it.state}
      aria-label={`Precision of ${it.output}, ${quantityOf(it)}`}
      title={it.sentence}
    >
      <div className="what">
        <strong className="clip" title={it.output}>
          {it.output}
        </strong>
        <span className="mono small soft clip">{quantityOf(it)}</span>
      </div>
      <span className="estimate nowrap">{it.value === null ? '–' : brief(it.value)}</span>
      <Nearness of={it} wanted={wanted} />
      <span className="target nowrap">{wanted}</span>
      <span className="word">{WORDS[it.state]}</span>
      <span className="hint small soft">{hintOf(it)}</span>
      {course !== undefined && <HalfWidthCourse of={course} />}
      <p className="visually-hidden">{it.sentence}</p>
    </article>
  );
}

function hintOf(it: PrecisionReached): string {
  if (it.reason !== null) return it.reason;
  if (it.runs_expected !== null) return `about ${count(it.runs_expected)} runs expected`;
  const replicates = it.replicates === null ? '' : ` (${count(it.replicates)} replicates)`;
  return `± ${brief(it.half_width ?? 0)} after ${count(it.n)} runs${replicates}`;
}

const WIDTH = 200;
/** Half-widths beyond so many targets are at the end of the axis. */
const MOST = 4;

/** The half-width as a line around the middle, between the two marks of the target. */
function Nearness({ of: it, wanted }: { of: PrecisionReached; wanted: string }) {
  const ratio = it.half_width === null || it.target === null ? MOST : Math.min(MOST, it.half_width / it.target);
  const x = (targets: number): number => WIDTH / 2 + (targets / MOST) * (WIDTH / 2 - 4);
  const text =
    it.half_width === null
      ? `no half-width yet; wanted ${wanted}`
      : `half-width ${brief(it.half_width)}, wanted ${wanted}, at ${share(it.confidence)} confidence`;
  return (
    <svg className="bounds-bar" viewBox={`0 0 ${WIDTH} 24`} role="img" aria-label={text}>
      <title>{text}</title>
      <line className="axis" x1="4" x2={WIDTH - 4} y1="12" y2="12" />
      {it.half_width !== null && <line className="range" x1={x(-ratio)} x2={x(ratio)} y1="12" y2="12" />}
      <line className="required" x1={x(-1)} x2={x(-1)} y1="3" y2="21" />
      <line className="required" x1={x(1)} x2={x(1)} y1="3" y2="21" />
      {it.value !== null && <circle cx={x(0)} cy="12" r="4" />}
    </svg>
  );
}
