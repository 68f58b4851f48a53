/** The answer of a study of rare events: how far it is, its sentence with both bounds, how it came about, and its limits. Experimental. */
import { useEffect, useState } from 'react';
import type { BatchStatusResponse, BatchSubmission, RareEventAnswer } from '../../../src/contract/types.ts';
import { rareNumber } from '../../../src/analysis/rare/answer/sentence.ts';
import { limitsOf } from '../../../src/domain/study/condition.ts';
import { rareRequirement } from '../../../src/domain/study/rare-event/settings.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Empty, Failure, Panel, sentenceOf, Waiting } from '../parts/common.tsx';
import { Stat } from '../parts/stat.tsx';
import { Table } from '../parts/table.tsx';
import { count, share } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { ExtendRare } from './extend.tsx';
import { Measured } from './measured.tsx';
import { BoundsCourse, Regions, Staircase } from './plots.tsx';
import { ProposalTable } from './proposal.tsx';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
}

export function RareEvent({ progress, submission }: Props) {
  const isAsked = submission.config.adaptive?.algorithm === 'rare_event';
  const isGroup = isAsked && hasRepeats(progress);
  const own = useAnswer<RareEventAnswer>(progress, isAsked ? 'rare-event' : undefined);
  const [areOver, setAreOver] = useState(false);
  const joint = useAnswer<RareEventAnswer>(progress, isGroup ? 'rare-event?combined=true' : undefined, !areOver);
  useEffect(() => setAreOver(joint.data?.phase === 'ended'), [joint.data]);
  const { data, error } = isGroup ? joint : own;
  if (!isAsked) return null;
  return (
    <Panel
      title={`Rare violations${data?.requirement == null ? '' : ` of ${data.requirement}`}`}
      aside={<span className="pill warn">experimental</span>}
    >
      <div className="stack">
        <Failure what="The probability could not be computed." detail={error?.message} />
        {data === undefined && error === undefined && <Waiting what="Computing the probability" />}
        {data !== undefined && data.phase === null && <Empty title={data.sentence} />}
        {data !== undefined && data.phase !== null && (
          <Answer answer={data} own={own.data} progress={progress} submission={submission} />
        )}
      </div>
    </Panel>
  );
}

/** True for a study that was submitted together with others. */
const hasRepeats = ({ batch: { parent, children = [] } }: BatchStatusResponse): boolean =>
  parent?.relation === 'repeat' || children.some(({ relation }) => relation === 'repeat');

interface AnswerProps {
  /** Of the study, or of all that were submitted together. */
  answer: RareEventAnswer;
  /** Of the study of this page alone; the plots show it. */
  own: RareEventAnswer | undefined;
  /** Of the study of this page. */
  progress: BatchStatusResponse;
  submission: BatchSubmission;
}

function Answer({ answer, own = answer, progress, submission }: AnswerProps) {
  const here = progress.batch.id;
  const { warnings } = answer;
  const { search, confidence } = own;
  const requirement = rareRequirement(submission.config.adaptive!, submission.requirements ?? []);
  const output = requirement?.output ?? '';
  const { phase, rest } = opening(answer);
  return (
    <>
      <div className="stack tight" aria-live="polite">
        <p>
          <strong>{phase}</strong> {rest}.
        </p>
        <Verdict answer={answer} />
      </div>
      <Figures answer={answer} />
      <ExtendRare progress={progress} own={own} joint={answer} adaptive={submission.config.adaptive!} />
      {warnings.length > 0 && (
        <ul className="notice warn rare-warnings" aria-label="Warnings">
          {warnings.map(({ code, message }) => (
            <li key={`${code} ${message}`} data-code={code}>
              {sentenceOf(message)}.
            </li>
          ))}
        </ul>
      )}
      {answer.studies.length > 1 && (
        <>
          <Studies answer={answer} here={here} />
          {search !== null && <h3>This study</h3>}
        </>
      )}
      <div className="rare-plots">
        {search !== null && (
          <Staircase
            search={search}
            output={output}
            units={submission.outputs?.[output]?.units}
            limit={limitsOf(requirement?.condition)[0]}
          />
        )}
        <BoundsCourse course={own.course} confidence={confidence ?? 0} />
        <Regions {...own} />
      </div>
      <ProposalTable answer={own} />
      <Measured of={answer.measured} />
    </>
  );
}

/** The phase as the beginning of the sentence; before the end of the tuning the sentence itself begins with it. */
function opening({ phase, reason, attempts, sentence, studies }: RareEventAnswer): { phase: string; rest: string } {
  if (phase === 'ended') return { phase: `Ended: ${(reason ?? '').replaceAll('-', ' ')}.`, rest: sentenceOf(sentence) };
  if (studies.length > 1) return { phase: `${sentenceOf(phase ?? '')}:`, rest: sentence };
  if (phase === 'confirm' && attempts.length > 0)
    return { phase: attempts.length > 1 ? 'Confirm, second attempt:' : 'Confirm:', rest: sentence };
  const end = sentence.indexOf(':') + 1;
  return { phase: sentenceOf(sentence.slice(0, end)), rest: sentence.slice(end) };
}

/** The studies that are answered together, each with its own numbers. */
function Studies({ answer: { parts, confidence }, here }: { answer: RareEventAnswer; here: string }) {
  const number = (it: number | null): string => (it === null ? '–' : rareNumber(it));
  const right = (name: string) => ({ name, right: true });
  return (
    <Table
      label="Studies that are answered together"
      className="cards"
      columns={[
        'Study',
        'State',
        right('Runs'),
        right('Estimate'),
        right(`${share(confidence ?? 0)} in the regions found`),
      ]}
    >
      {parts.map(({ batch_id: id, phase, reason, runs, estimate, lower, upper }, at) => (
        <tr key={id} aria-current={id === here ? 'true' : undefined}>
          <td>{id === here ? `Study ${at + 1}, this one` : <a href={hrefOf(['batches', id])}>Study {at + 1}</a>}</td>
          <td data-label="State">{(reason ?? phase ?? '').replaceAll('-', ' ')}</td>
          <td className="right nowrap" data-label="Runs">
            {count(runs)}
          </td>
          <td className="right nowrap" data-label="Estimate">
            {number(estimate)}
          </td>
          <td className="right nowrap" data-label="In the regions found">
            {estimate === null ? '–' : `${number(lower)} to ${number(upper)}`}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Estimate and bounds of the regions found, and beside them always the bound that assumes nothing. */
function Figures({ answer }: { answer: RareEventAnswer }) {
  const { estimate, lower, upper, confidence, direct, search, attempts, reason, studies } = answer;
  // Without confirming runs the bounds are those of plain runs.
  const isOfRegions = attempts.length > 0 && estimate !== null;
  const level = share(confidence ?? 0);
  return (
    <dl className="stats rare-figures">
      <Stat
        name="Estimate"
        value={estimate === null ? '–' : rareNumber(estimate)}
        note={
          estimate === null ? '' : isOfRegions ? ' in the regions found' : ` of ${count(direct?.of ?? 0)} plain runs`
        }
      />
      <Stat
        name={`${level} in the regions found`}
        value={isOfRegions ? `${rareNumber(lower!)} to ${upper === null ? '–' : rareNumber(upper)}` : '–'}
        note={isOfRegions && upper === null ? ' no upper bound' : ''}
      />
      <Stat
        name={`Anywhere, ${level}, without an assumption`}
        value={
          direct === null || direct.of === 0 || reason === 'no-output' ? '–' : `at most ${rareNumber(direct.upper)}`
        }
        note={direct === null ? '' : ` ${count(direct.of)} plain runs`}
      />
      {studies.length === 1 && (
        <Stat
          name="Search alone"
          value={search?.estimate == null ? '–' : rareNumber(search.estimate)}
          note=" never the answer"
        />
      )}
    </dl>
  );
}

const WORDS = { met: 'met', violated: 'violated', 'not-shown': 'not shown', open: 'open' } as const;
const REASONS: Readonly<Record<string, string>> = {
  'one-study': 'one study alone cannot show it; ask for two with different seeds',
  bounds: 'the bounds do not decide it',
  'studies-apart': 'the studies found different regions',
};

function Verdict({ answer: { verdict, requirement, direct } }: { answer: RareEventAnswer }) {
  const found = verdict?.verdict ?? null;
  if (verdict === null || found === null) return null;
  const given =
    verdict.given === null
      ? ''
      : `, as far as regions were found; plain runs alone show P < ${rareNumber(direct?.upper ?? 1)}`;
  const why = verdict.reason === null ? '' : `: ${REASONS[verdict.reason] ?? verdict.reason}`;
  return (
    <p>
      Requirement {requirement}:{' '}
      <span className={`pill v-${found}`}>
        <span className="word">{WORDS[found]}</span>
      </span>
      {given}
      {why}
    </p>
  );
}
