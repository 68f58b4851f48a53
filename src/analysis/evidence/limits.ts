/** The parts of the evidence about a study that are not known, not checked, or weaken it, as sentences. Pure. */
import type { EvidenceReport } from '../../contract/types.ts';
import { MOST_CODE_RUNNERS } from '../../domain/code-name.ts';
import { plural } from '../../domain/plural.ts';
import { named } from './factors.ts';
import type { RunsEvidence } from './runs.ts';

type Report = Omit<EvidenceReport, 'factors' | 'limits' | 'sentence'>;

export function limitsOf(report: Report, evidence: RunsEvidence): string[] {
  const { status, results, counted } = report;
  const open = counted.find((it) => it.class === 'open')?.runs ?? 0;
  return [
    ...(status === null
      ? ['The coordinator was not asked: code, runners, spot checks and history are not known.']
      : []),
    ...(open === 0
      ? []
      : [`${plural(open, 'run')} have not ended: every figure is provisional.`.replace('1 run have', '1 run has')]),
    ...askedLimits(report),
    ...codeLimits(report),
    ...inputLimits(report),
    ...originLimits(report),
    ...results.warnings.map(({ message }) => message),
    ...results.requirements.flatMap(({ name, warnings }) => warnings.map(({ message }) => `${name}: ${message}`)),
    ...results.outputs
      .filter(({ missing }) => missing > 0)
      .map(
        ({ name, missing }) =>
          `${name} is missing in ${plural(missing, 'completed run')}, which are in none of its statistics.`,
      ),
    ...(evidence.outputsLeft === 0
      ? []
      : [
          `${plural(evidence.outputsLeft, 'further required output')} have no course and no dependence here.`.replace(
            '1 further required output have',
            '1 further required output has',
          ),
        ]),
    ...checkLimits(report),
    'Who submitted the study, and who acted on it, is not recorded.',
  ];
}

/** A study that came of another one was asked for by people who may have seen its results. */
const originLimits = ({ executed: { parent } }: Report): string[] =>
  parent === null
    ? []
    : [
        `It is ${parent.relation.match(/^[ae]/) === null ? 'a' : 'an'} ${parent.relation} of study ${parent.batch_id}, and the people who asked for it may have seen the results of that.`,
      ];

function askedLimits({ asked, results }: Report): string[] {
  if (asked.requirements + asked.precisions === 0) return ['The study declares no requirement: nothing is judged.'];
  const unknown = asked.stated.filter(({ runs_ended: ended }) => ended === null).map(({ name }) => name);
  const later = asked.stated.filter(({ runs_ended: ended }) => ended !== null && ended > 0);
  const without = results.requirements.filter(({ verdict }) => verdict === null).map(({ name }) => name);
  return [
    ...(unknown.length === 0
      ? []
      : [`When ${named(unknown)} ${unknown.length === 1 ? 'was' : 'were'} stated is not recorded.`]),
    ...later.map(
      ({ name, runs_ended: ended }) =>
        `${name} was stated after ${plural(ended ?? 0, 'run')} had ended: its confidence holds for a requirement chosen without looking at these.`,
    ),
    ...(without.length === 0 ? [] : [`${named(without)} ${without.length === 1 ? 'has' : 'have'} no verdict.`]),
  ];
}

function codeLimits({ executed: { code, runners }, status }: Report): string[] {
  if (status === null) return [];
  const unknown = code.find(({ digest }) => digest === null);
  const known = code.filter(({ digest }) => digest !== null);
  const undecided = known.filter(({ git }) => git !== undefined && git.dirty === null);
  const without = known.filter(({ git, kind }) => git === undefined && kind === 'entrypoint');
  const dirty = known.filter(({ git }) => git?.dirty === true);
  const gone = runners.filter(({ registered }) => !registered).map(({ id }) => id);
  const versions = (count: number): string => plural(count, 'version');
  return [
    ...(code.length === 0 ? ['The code is not known: no run has started.'] : []),
    ...(unknown === undefined ? [] : [`The code of ${plural(unknown.runs, 'run')} is not known.`]),
    ...(known.length > 1 ? [`The runs were executed by ${String(known.length)} different versions of the code.`] : []),
    ...(dirty.length === 0
      ? []
      : [
          `${versions(dirty.length)} of the code ${dirty.length === 1 ? 'has changes that are' : 'have changes that are'} in no commit.`,
        ]),
    ...(undecided.length === 0
      ? []
      : [
          `Whether ${versions(undecided.length)} of the code ${undecided.length === 1 ? 'differs' : 'differ'} from the commit is not known.`,
        ]),
    ...(without.length === 0
      ? []
      : [`${versions(without.length)} of the code ${without.length === 1 ? 'is' : 'are'} in no git repository.`]),
    ...known.flatMap(({ note }) => (note === undefined ? [] : [`The digest of the code: ${note}.`])),
    ...(gone.length === 0 ? [] : [`The machines of ${named(gone)} are not known any more.`]),
    ...(code.some((it) => it.runners.length === MOST_CODE_RUNNERS)
      ? [`Only ${String(MOST_CODE_RUNNERS)} runners of each version of the code are named.`]
      : []),
  ];
}

function inputLimits({ inputs }: Report): string[] {
  const varying = inputs.filter(({ varies }) => varies);
  const of = (holds: (it: Report['inputs'][number]) => boolean): string[] =>
    varying.filter(holds).map(({ name }) => name);
  const never = of(({ read }) => read === 'never');
  const unread = of(({ read }) => read === 'unknown');
  const none = of(({ effect }) => effect === 'none');
  const unprobed = of(({ effect }) => effect === 'unknown');
  const sourceless = inputs.filter(({ source }) => source === null).map(({ name }) => name);
  return [
    ...(inputs.length === 0 ? ['The inputs are not known: the submission is not at hand.'] : []),
    ...(sourceless.length === 0 ? [] : [`No source is stated for ${named(sourceless)}.`]),
    ...(never.length === 0 ? [] : [`The simulation never looked up ${named(never)}.`]),
    ...(unread.length === 0 ? [] : [`Whether the simulation looked up ${named(unread)} is not known.`]),
    ...(none.length === 0 ? [] : [`No output changed with ${named(none)}.`]),
    ...(unprobed.length === 0
      ? []
      : [`The effect of ${named(unprobed)} was not probed with these inputs and this code.`]),
  ];
}

function checkLimits({ audits, audits_omitted: omitted, history, retries, status }: Report): string[] {
  const open = audits.filter((it) => it.compared < it.runs).length;
  return [
    ...(status !== null && audits.length === 0
      ? ['No run was executed again to compare it: there is no spot check.']
      : []),
    ...(omitted === 0 ? [] : [`${plural(omitted, 'earlier spot check')} ${omitted === 1 ? 'is' : 'are'} not listed.`]),
    ...(open === 0 ? [] : [`${plural(open, 'spot check')} ${open === 1 ? 'has' : 'have'} runs that are not compared.`]),
    ...audits
      .filter(({ differing }) => differing > 0)
      .map(({ sentence }) => `A spot check found differences: ${sentence}.`),
    ...(history === null || history.events_omitted === 0
      ? []
      : [
          `${plural(history.events_omitted, 'earlier event')} of the study ${history.events_omitted === 1 ? 'is' : 'are'} not kept.`,
        ]),
    ...(retries === null || retries.omitted === 0
      ? []
      : [`${plural(retries.omitted, 'attempt')} ${retries.omitted === 1 ? 'is' : 'are'} not kept in the records.`]),
  ];
}
