/** The verdicts on the requirements of a study, live: a row each, with its interval, and the rules that end runs early. */
import { useRef } from 'react';
import type {
  BatchStatusResponse,
  BatchSubmission,
  JudgedRequirement,
  RequirementVerdict,
  StudySummary,
  StudyVerdicts,
} from '../../../src/contract/types.ts';
import { requirementClaim } from '../../../src/analysis/wording.ts';
import { Panel } from '../parts/common.tsx';
import { useAnswer } from '../data/use-answer.ts';
import { count, share } from '../parts/time.tsx';
import { RequirementCourse } from '../plots/requirement-course.tsx';
import { shareAxis, type ShareAxis } from './axis.ts';
import { Bounds, ShareLabels } from './bounds.tsx';
import { WithWorstPlot } from './worst-plot.tsx';
import { verdictWord } from '../../../src/analysis/requirements/sentence.ts';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
  summary: StudySummary | undefined;
}

export function Verdicts({ progress, submission, summary }: Props) {
  // A study that has just ended has no verdict for a moment: the one before stays on the page.
  const latest = useRef<RequirementVerdict[]>([]);
  latest.current = progress.requirements ?? latest.current;
  const { data: judged } = useAnswer<StudyVerdicts>(progress, latest.current.length > 0 ? 'verdicts' : undefined);
  const { early_termination: early } = submission.config;
  const rules = early.enabled ? early.conditions : [];
  if (latest.current.length + rules.length === 0) return null;
  // The same limit of several verdicts is said once.
  const messages = [
    ...new Set(latest.current.flatMap((it) => it.warnings.filter(isNotInSentence).map(({ message }) => message))),
  ];
  const axis = shareAxis(latest.current);
  return (
    <WithWorstPlot progress={progress} summary={summary} requirements={latest.current}>
      <Panel
        title="Requirements and limits"
        aside={
          latest.current.length > 0 ? (
            <span className="small soft">
              bars: one-sided bounds at the stated confidence{axis.isLogit && ', on an axis of log-odds'}; lines: the
              same over the number of runs
            </span>
          ) : null
        }
        flush
      >
        <div className="verdicts" aria-live="polite">
          {latest.current.map((it) => (
            <Verdict
              key={it.name}
              requirement={it}
              axis={axis}
              judged={judged?.requirements.find(({ name }) => name === it.name)}
            />
          ))}
          {latest.current.length > 0 && (
            <div className="verdict axis-labels" aria-hidden="true">
              <ShareLabels axis={axis} />
            </div>
          )}
          {messages.map((it) => (
            <p key={it} className="small soft note">
              {it}
            </p>
          ))}
          {rules.map((it) => (
            <Limit key={`${it.variable} ${it.condition}`} progress={progress} {...it} />
          ))}
        </div>
      </Panel>
    </WithWorstPlot>
  );
}

/** The sentence of a verdict names the unknown runs that prevent one. */
const isNotInSentence = ({ code }: { code: string }): boolean => code !== 'unknown-decides';

function Verdict({
  requirement: it,
  axis,
  judged,
}: {
  requirement: RequirementVerdict;
  axis: ShareAxis;
  judged: JudgedRequirement | undefined;
}) {
  return (
    <article
      className={`verdict v-${it.verdict ?? 'none'}`}
      data-verdict={it.verdict ?? 'none'}
      aria-label={`Requirement ${it.name}`}
      title={it.sentence}
    >
      <div className="what">
        <strong className="clip" title={it.name}>
          {it.name}
        </strong>
        <span className="mono small soft clip" title={requirementClaim(it)}>
          {requirementClaim(it)}
        </span>
      </div>
      <span className="estimate">{it.estimate === null ? '–' : share(it.estimate)}</span>
      <Bounds of={it} axis={axis} />
      <span className="target nowrap">≥ {share(it.probability)}</span>
      <span className="word">{verdictWord(it.verdict)}</span>
      <span className="hint small soft">
        {hintOf(it)}
        {it.stated_at !== undefined && (
          <span title={`stated on ${it.stated_at.time}`}> · stated after {count(it.stated_at.runs_ended)} runs</span>
        )}
      </span>
      {judged !== undefined && <RequirementCourse of={judged} />}
      <p className="visually-hidden">{it.sentence}</p>
    </article>
  );
}

function hintOf(it: RequirementVerdict): string {
  if (it.settled_at_run_id !== null) return `settled at run ${count(it.settled_at_run_id)}`;
  if (it.failures_left !== null && it.failures_left < 0) return 'cannot be met by this study';
  if (it.needed_clean_runs === 0) return `shown so far; further failures allowed: ${count(it.failures_left ?? 0)}`;
  if (it.needed_clean_runs !== null) return `Passing runs still needed: ${count(it.needed_clean_runs)}`;
  if (it.more_clean_runs !== null) return `Further passing runs: ${count(it.more_clean_runs)}`;
  return `${count(it.passed)} of ${count(it.judged)} passed`;
}

function Limit({
  progress: { batch, telemetry },
  variable,
  condition,
}: {
  progress: BatchStatusResponse;
  variable: string;
  condition: string;
}) {
  const judged = telemetry?.judged.find((it) => it.variable === variable)?.runs ?? 0;
  const reported = telemetry?.reported_runs ?? 0;
  const never = reported > 0 && judged === 0;
  return (
    <article className={`verdict limit${never ? ' v-not-shown' : ''}`} aria-label={`Limit ${variable}`}>
      <div className="what">
        <strong>ends a run early</strong>
        <span className="mono small soft clip" title={`${variable} ${condition}`}>
          {variable} {condition}
        </span>
      </div>
      <span className="hint-wide">
        {never ? (
          <strong className="word">never checked: no run has sent {variable}</strong>
        ) : (
          <span className="soft">
            {judged > 0 && `checked in ${count(judged)} of ${count(reported)} runs; `}
            {count(batch.terminated_jobs ?? 0)} runs ended by a limit
          </span>
        )}
      </span>
    </article>
  );
}
