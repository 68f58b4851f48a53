/** The answer about a study, concluded from the evidence about its runs and from its situation: the first rule that applies. Pure. */
import { LEVEL_WORDS } from '../../contract/enums.ts';
import { shortId } from '../../domain/ids.ts';
import { plural } from '../../domain/plural.ts';
import type { AnswerLevel, BatchStatus, Finding, PrecisionReached, StudyAnswer } from '../../contract/types.ts';
import type { EvidenceFacts } from '../evidence/facts.ts';
import type { RequirementEvidence, StudyEvidence } from './evidence.ts';
import { reusedWarnings } from '../table/header.ts';
import { nextSteps } from './next-steps.ts';
import { isRare, isRareOpen, rareVerdict, sayRare, sayRareOpen } from './rare.ts';
import { withRemedy } from './remedies.ts';
import { failsClause, incompleteParts, passesClause, requirementCount, retriesClause, troubleParts } from './words.ts';

/** The study as a whole, which its runs do not say. */
export interface StudySituation {
  status: BatchStatus;
  cancelReason?: string | undefined;
  findings: readonly Finding[];
  /** Of an adaptive study that takes rounds: its rounds so far, and the most runs that it may have. */
  growing?: { rounds: number; budget: number } | undefined;
  /** For questions that take them. */
  facts?: EvidenceFacts | undefined;
}

/** A study, with the values that several rules use. */
interface Case extends StudySituation {
  evidence: StudyEvidence;
  ended: number;
  blocked: Finding | undefined;
  violated: readonly RequirementEvidence[];
  /** The precisions that are not reached. */
  imprecise: readonly PrecisionReached[];
  notShown: readonly RequirementEvidence[];
}

interface Rule {
  level: AnswerLevel;
  applies(it: Case): boolean;
  /** The sentence without the level; several sentences have periods between them. */
  say(it: Case): string[];
  /** The requirement that the sentence is about. */
  requirement?(it: Case): RequirementEvidence | undefined;
}

/** The rules, in the order in which they are tried. */
const RULES: readonly Rule[] = [
  { level: 'not_ok', applies: (it) => it.growing === undefined && failedAlike(it), say: sayAlike },
  { level: 'cancelled', applies: (it) => it.status === 'Cancelled', say: sayCancelled, requirement: gravest },
  { level: 'blocked', applies: (it) => it.blocked !== undefined, say: sayBlocked },
  { level: 'not_ok', applies: (it) => it.violated.length > 0, say: sayViolated, requirement: gravest },
  { level: 'not_ok', applies: ({ evidence }) => rareVerdict(evidence) === 'violated', say: sayRare },
  { level: 'running', applies: (it) => it.growing !== undefined, say: sayGrowing },
  { level: 'running', applies: (it) => it.evidence.counts.open > 0, say: sayRunning },
  { level: 'running', applies: ({ evidence }) => isRareOpen(evidence), say: sayRareOpen },
  { level: 'not_enough', applies: ({ evidence }) => isRare(evidence) && rareVerdict(evidence) !== 'met', say: sayRare },
  { level: 'ok', applies: ({ evidence }) => isRare(evidence), say: sayRare },
  { level: 'not_enough', applies: (it) => it.notShown.length > 0, say: sayNotShown, requirement: furthest },
  { level: 'not_enough', applies: (it) => it.imprecise.length > 0, say: sayImprecise },
  {
    level: 'not_ok',
    applies: ({ evidence: { requirements, precision, counts, total } }) =>
      requirements.length === 0 && precision.length === 0 && counts.ok < total,
    say: sayIncomplete,
  },
  { level: 'ok', applies: () => true, say: sayOk },
];

/** The situation of a study of which only the runs are known: of a family, or in a file. */
export function situationOf({ counts, requirements, precision }: StudyEvidence): StudySituation {
  // A study that stopped by itself has reached its end.
  const isSettled =
    (requirements.length > 0 && requirements.every(({ settled }) => settled === 'sequential')) ||
    (precision.length > 0 && precision.every(({ state }) => state === 'reached'));
  const status =
    counts.open > 0
      ? 'Running'
      : counts.cancelled > 0 && !isSettled
        ? 'Cancelled'
        : counts.ok > 0
          ? 'Completed'
          : 'Failed';
  return { status, findings: [] };
}

/** Concludes the answer: level, sentence, reasons, next steps. */
export function conclude(evidence: StudyEvidence, situation: StudySituation): StudyAnswer {
  const isOpen = evidence.counts.open > 0;
  const it: Case = {
    ...situation,
    evidence,
    ended: evidence.total - evidence.counts.open,
    blocked: isOpen ? situation.findings.find(({ severity }) => severity === 'blocked') : undefined,
    violated: evidence.requirements.filter(({ verdict }) => verdict === 'violated'),
    imprecise: evidence.precision.filter(({ state }) => state !== 'reached'),
    notShown: evidence.requirements.filter(({ verdict }) => verdict !== 'met' && verdict !== 'violated'),
  };
  const rule = RULES.find((one) => one.applies(it))!;
  const origin = reusedWarnings(evidence.reused, evidence.total).map(({ message }) => message);
  const decided = {
    level: rule.level,
    isAlike: rule.say === sayAlike,
    blocked: it.blocked,
    canary: situation.findings.find(({ code }) => code === 'canary-running')?.study,
    requirement: rule.requirement?.(it),
  };
  return {
    level: rule.level,
    sentence: `${wordOf(rule, situation)}: ${[...rule.say(it), ...origin].map(sentenceOf).join(' ')}`,
    reasons: reasonsOf(it),
    next: nextSteps(evidence, decided),
  };
}

/** The first words of the sentence. A study of which no run may start yet is not said to run. */
function wordOf({ level }: Rule, { findings }: StudySituation): string {
  const canary = level === 'running' ? findings.find(({ code }) => code === 'canary-running') : undefined;
  if (canary === undefined) return LEVEL_WORDS[level];
  return canary.study === undefined ? 'Waiting for its canary runs' : 'Waiting for its canary study';
}

/** One sentence, on one line, with its period. */
function sentenceOf(text: string, place: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const begun = place === 0 ? line : line.charAt(0).toUpperCase() + line.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** An adaptive study runs, or waits for the next round. */
function sayGrowing(it: Case): string[] {
  const { evidence, ended } = it;
  if (isRare(evidence)) return [evidence.rare!.sentence, ...trouble(it)];
  const { rounds, budget } = it.growing!;
  // The evidence was read before the round was appended.
  if (rounds > 0 && evidence.total === 0) return ['its first round was appended just now', ...trouble(it)];
  const of = `${ended} of ${plural(evidence.total, 'run')} in ${plural(rounds, 'round')} have ended`;
  const left = `${budget - evidence.total} of ${plural(budget, 'run')} are left`;
  const waits = evidence.counts.open === 0 ? [`It waits for rows: append a round, or close it; ${left}`] : [];
  return [rounds === 0 ? 'no round was appended yet' : of, ...waits, ...trouble(it)];
}

/** The precision that is the farthest from its target; one without an interval comes first. */
function leastPrecise(of: readonly PrecisionReached[]): PrecisionReached {
  const ratio = ({ half_width: half, target }: PrecisionReached): number =>
    half === null || target === null ? Infinity : half / target;
  return of.toSorted((a, b) => ratio(b) - ratio(a))[0]!;
}

function precisionCount(count: number, of: number, state: string): string {
  if (of === 1) return `the precision is ${state}`;
  return count === of
    ? `all ${of} precisions are ${state}`
    : `${count} of ${of} precisions ${count === 1 ? 'is' : 'are'} ${state}`;
}

/** `mean of miss_m is 6.55 ± 0.098 m (wanted ± 0.1) at 95 % confidence after 812 runs`. */
const withoutState = ({ sentence }: PrecisionReached): string => sentence.slice(sentence.indexOf(': ') + 2);

function sayImprecise(it: Case): string[] {
  const { precision } = it.evidence;
  const count = precisionCount(it.imprecise.length, precision.length, 'not reached');
  return [`${count}: ${withoutState(leastPrecise(it.imprecise))}`, ...trouble(it)];
}

/** No run gave an answer, and all that ended by themselves failed with one message. */
function failedAlike({ evidence: { counts, patterns } }: Case): boolean {
  return counts.open === 0 && counts.ok === 0 && counts.terminated === 0 && patterns === 1;
}

const trouble = ({ evidence }: Case): string[] => {
  const parts = troubleParts(evidence.counts);
  return parts.length === 0 ? [] : [parts.join(', ')];
};

const exampleOf = ({ evidence }: Case, run: number): string => `simbatch logs ${shortId(evidence.batch_id)}/${run}`;

function sayAlike(it: Case): string[] {
  const [failure] = it.evidence.failures;
  const { count, pattern, example_run_id: run } = failure!;
  const who =
    count === 1
      ? it.evidence.total === 1
        ? 'the only run failed'
        : 'the only run that ended by itself failed'
      : count === it.evidence.total
        ? `all ${count} runs failed alike`
        : `all ${count} runs that ended by themselves failed alike`;
  return [`${who}: ${withRemedy(pattern, exampleOf(it, run))}`];
}

function sayCancelled(it: Case): string[] {
  const { ended, evidence, cancelReason, violated } = it;
  const before = ended - evidence.counts.cancelled;
  const counted = `${before} of ${plural(evidence.total, 'run')} ended before`;
  const verdict = violated.length === 0 ? [] : [violatedClause(it)];
  return [cancelReason === undefined ? counted : `${cancelReason}; ${counted}`, ...verdict, ...trouble(it)];
}

function sayBlocked(it: Case): string[] {
  const { code, message, remedy, study } = it.blocked!;
  const [failure] = it.evidence.failures;
  // The message of the canary is the reason why the study waits.
  const canary =
    code !== 'canary-failed' || failure === undefined
      ? []
      : [`the failure: ${withRemedy(failure.pattern, exampleOf(it, failure.example_run_id))}`];
  const ended =
    it.ended === 0 || canary.length > 0 ? [] : [`${it.ended} of ${plural(it.evidence.total, 'run')} have ended`];
  const verdict = it.violated.length === 0 ? [] : [violatedClause(it)];
  // The failure of a canary study is in its message, and what to do about it in the next steps.
  const isSaid = canary.length > 0 || study !== undefined;
  return [isSaid ? message : `${message}; ${remedy}`, ...canary, ...ended, ...verdict];
}

/** The violated requirement that exceeds its share the most. */
function gravest({ violated }: Case): RequirementEvidence | undefined {
  const excess = (it: RequirementEvidence): number => (1 - (it.estimate ?? 0)) / (1 - it.probability);
  return violated.toSorted((a, b) => excess(b) - excess(a))[0];
}

function violatedClause(it: Case): string {
  const { requirements } = it.evidence;
  const count = requirementCount(it.violated.length, requirements.length, 'violated');
  return `${count}: ${failsClause(gravest(it)!)}`;
}

function sayViolated(it: Case): string[] {
  return [violatedClause(it), ...openRuns(it), ...trouble(it)];
}

const openRuns = ({ ended, evidence }: Case): string[] =>
  evidence.counts.open === 0 ? [] : [`${ended} of ${plural(evidence.total, 'run')} have ended`];

function sayRunning(it: Case): string[] {
  const { evidence, ended, notShown } = it;
  const of = evidence.requirements.length;
  const met = of - notShown.length;
  const verdicts =
    of === 0 ? [] : [met > 0 ? requirementCount(met, of, 'already met') : 'no requirement is decided yet'];
  const nearness = evidence.precision.length === 0 ? [] : [withoutState(leastPrecise(evidence.precision))];
  const waits = it.findings.find(({ code, study }) => code === 'canary-running' && study !== undefined);
  // No run has been given out yet, so that there is nothing else to say.
  if (waits !== undefined) return [waits.message];
  return [`${ended} of ${plural(evidence.total, 'run')} have ended`, ...verdicts, ...nearness, ...trouble(it)];
}

/** The requirement that is shown with the most further runs; a requirement that further runs cannot show comes first. */
function furthest({ notShown }: Case): RequirementEvidence | undefined {
  const missing = (it: RequirementEvidence): number => it.more_clean_runs ?? Number.MAX_SAFE_INTEGER;
  return notShown.toSorted((a, b) => missing(b) - missing(a))[0];
}

function sayNotShown(it: Case): string[] {
  const worst = furthest(it)!;
  const { more_clean_runs: more } = worst;
  const outlook = more === null ? '' : `; ${plural(more, 'further run')} without a failure would show it`;
  const count = requirementCount(it.notShown.length, it.evidence.requirements.length, 'undecided');
  return [`${count}: ${passesClause(worst)}${outlook}`, ...trouble(it)];
}

function sayIncomplete({ evidence: { counts, total } }: Case): string[] {
  const missing = total - counts.ok;
  return [`${missing} of ${plural(total, 'run')} did not complete: ${incompleteParts(counts).join(', ')}`];
}

/** A limit that was never checked makes a good answer doubtful. */
const doubts = ({ findings }: Case): string[] =>
  findings.filter(({ severity }) => severity === 'doubtful').map(({ message }) => `this is doubtful: ${message}`);

/** The met requirement with the least margin. */
function closest({ requirements }: StudyEvidence): RequirementEvidence | undefined {
  return requirements.toSorted((a, b) => a.lower - a.probability - (b.lower - b.probability))[0];
}

function sayOk(it: Case): string[] {
  const { evidence } = it;
  const { total, requirements } = evidence;
  const nearest = closest(evidence);
  const { precision } = evidence;
  if (precision.length > 0) {
    const reached = precisionCount(precision.length, precision.length, 'reached');
    const met = nearest === undefined ? [] : [requirementCount(requirements.length, requirements.length, 'met')];
    return [`${reached}: ${withoutState(leastPrecise(precision))}`, ...met, ...trouble(it), ...doubts(it)];
  }
  if (nearest === undefined)
    return [
      total === 0 ? 'the study has no runs' : total === 1 ? 'the run completed' : `all ${total} runs completed`,
      ...doubts(it),
    ];
  const count = requirementCount(requirements.length, requirements.length, 'met');
  const which = requirements.length === 1 ? ':' : '; the closest:';
  return [`${count}${which} ${passesClause(nearest)}`, ...trouble(it), ...doubts(it)];
}

const MOST_REASONS = 20;

/** The verdicts that are not met first, then failures, then findings about doubts and blocks. */
function reasonsOf({ evidence, findings, violated, notShown }: Case): string[] {
  const met = evidence.requirements.filter((it) => it.verdict === 'met');
  const verdicts = [...violated, ...notShown, ...met].map((it) => `${it.name}: ${it.sentence}`);
  const failures = evidence.failures.map(
    (it) => `${plural(it.count, 'run')} ${it.class}: ${it.pattern} (such as run ${it.example_run_id})`,
  );
  const retried = retriesClause(evidence.retries);
  const found = findings
    .filter(({ severity }) => severity === 'doubtful' || severity === 'blocked' || severity === 'warning')
    .map((it) => `${it.message}; ${it.remedy}`);
  const precisions = evidence.precision.map(({ sentence }) => sentence);
  return [...verdicts, ...precisions, ...failures, ...retried, ...found].slice(0, MOST_REASONS);
}
