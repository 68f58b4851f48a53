/** The judgement of a study as amended: its requirements with the time at which each was stated, outputs and labels. Pure. */
import type {
  BatchContext,
  BatchSubmission,
  Fault,
  JudgementMembers,
  JudgementRequest,
  Requirement,
  StatedAt,
  StoredJudgement,
} from '../../contract/types.ts';
import { submissionFaults } from '../study/submission.ts';
import { valueText } from './values.ts';

/** A requirement that was stated after its study was submitted has `stated_at`. */
export type StatedRequirement = Requirement & { stated_at?: StatedAt };
/** A submission with the judgement in force. */
export type JudgedSubmission = Omit<BatchSubmission, 'requirements'> & { requirements?: StatedRequirement[] };

/** The characters of requirements and outputs that an amendment may leave: an open batch is stored with them whenever its runs change. */
export const MOST_JUDGEMENT_CHARS = 65_536;

type Stated = StoredJudgement['stated'][number];
type JudgedBatch = Pick<BatchContext, 'labels' | 'judgement' | 'createdAtMs'>;

/** The submission with the judgement of the batch in place of its own; the submission itself where it was never amended. */
export function amended(
  submission: BatchSubmission,
  { labels, judgement }: Omit<JudgedBatch, 'createdAtMs'>,
): JudgedSubmission {
  if (judgement === undefined) return submission;
  const { requirements: _, outputs: __, labels: ___, ...rest } = submission;
  const stated = judgement.requirements.map((it, at): StatedRequirement => {
    const { runsEnded = 0, atMs = 0 } = judgement.stated[at] ?? {};
    return runsEnded === 0 ? it : { ...it, stated_at: statedAt({ runsEnded, atMs }) };
  });
  return {
    ...rest,
    ...(stated.length === 0 ? {} : { requirements: stated }),
    ...(Object.keys(judgement.outputs).length === 0 ? {} : { outputs: judgement.outputs }),
    ...(labels === undefined ? {} : { labels }),
  };
}

/** The submission as a client may submit it again: without the times at which requirements were stated. */
export function submittable({ requirements, ...submission }: JudgedSubmission): BatchSubmission {
  if (requirements === undefined) return submission;
  return { ...submission, requirements: requirements.map(({ stated_at: _, ...requirement }) => requirement) };
}

/** The requirements of one study of a family, each stated when the last member of the family was amended with it. */
export function statedInFamily(
  { requirements = [] }: Pick<JudgedSubmission, 'requirements'>,
  family: readonly Pick<JudgedSubmission, 'requirements'>[],
): StatedRequirement[] {
  const textOf = ({ stated_at: _, ...requirement }: StatedRequirement): string => valueText(requirement);
  return requirements.map((it) => {
    const all = family.flatMap((member) => (member.requirements ?? []).filter((other) => textOf(other) === textOf(it)));
    const [latest] = all.flatMap((other) => other.stated_at ?? []).toSorted((a, b) => b.runs_ended - a.runs_ended);
    return latest === undefined ? it : { ...it, stated_at: latest };
  });
}

export const statedAt = ({ runsEnded, atMs }: Stated): StatedAt => ({
  runs_ended: runsEnded,
  time: new Date(atMs).toISOString(),
});

/** The judgement in force: that of the submission, stated before its first run, where it was never amended. */
export function judgementOf(
  { requirements = [], outputs = {} }: BatchSubmission,
  { judgement, createdAtMs }: JudgedBatch,
): StoredJudgement {
  const stated = requirements.map((): Stated => ({ runsEnded: 0, atMs: createdAtMs }));
  return judgement ?? { revision: 0, requirements, stated, outputs };
}

/** An amendment that changes something: the judgement after it, and the members that change. */
export interface Amendment {
  judgement: StoredJudgement;
  labels: Readonly<Record<string, string>> | undefined;
  before: JudgementMembers;
  after: JudgementMembers;
}

/**
 * The amendment that a request makes of a study, or undefined where it changes nothing. `submission`: as submitted. A requirement
 * that is equal to one in force keeps the time at which that was stated, with all requirements that it names; every other one is stated now.
 */
export function amendmentOf(
  submission: BatchSubmission,
  batch: JudgedBatch,
  request: JudgementRequest,
  now: Stated,
): Amendment | undefined {
  const old = judgementOf(submission, batch);
  const before = { requirements: [...old.requirements], outputs: old.outputs, labels: { ...batch.labels } };
  const given: Required<JudgementMembers> = {
    requirements: request.requirements ?? before.requirements,
    outputs: request.outputs ?? before.outputs,
    labels: request.labels ?? before.labels,
  };
  const changed = (['requirements', 'outputs', 'labels'] as const).filter(
    (name) => valueText(before[name]) !== valueText(given[name]),
  );
  if (changed.length === 0) return undefined;
  const only = (members: Required<JudgementMembers>): JudgementMembers =>
    Object.fromEntries(changed.map((name) => [name, members[name]]));
  const judgement = {
    revision: old.revision + 1,
    requirements: given.requirements,
    stated: given.requirements.map((it) => statedBefore(it, given.requirements, old) ?? now),
    outputs: given.outputs,
    amendedAtMs: now.atMs,
  };
  const labels = Object.keys(given.labels).length === 0 ? undefined : given.labels;
  return { judgement, labels, before: only(before), after: only(given) };
}

/** When a requirement was stated that is in force, with all that it names; undefined for another one. */
function statedBefore(requirement: Requirement, all: readonly Requirement[], old: StoredJudgement): Stated | undefined {
  const at = old.requirements.findIndex((it) => valueText(it) === valueText(requirement));
  if (at < 0) return undefined;
  const named = (requirement.all ?? []).map((name) => all.find((it) => it.name === name));
  const isSame = named.every((it) => it !== undefined && statedBefore(it, all, old) !== undefined);
  return isSame ? old.stated[at] : undefined;
}

/** The faults of an amendment of this study, with pointers into the request. */
export function amendmentFaults(submission: JudgedSubmission, request: JudgementRequest): Fault[] {
  const { requirements, outputs, labels, stop_when: stop } = request;
  const faults: Fault[] = [];
  if (stop !== undefined) {
    const detail = `is ${JSON.stringify(stop)}, and the rule by which a study stops is fixed before its first run; submit another study with it`;
    faults.push({ pointer: '/stop_when', detail });
  }
  if (requirements === undefined && outputs === undefined && labels === undefined && faults.length === 0)
    faults.push({ pointer: '', detail: 'amends nothing; give `requirements`, `outputs` or `labels`' });
  if (requirements?.length === 0 && submission.policy?.stop_when === 'settled') {
    const detail = 'is empty, and the study stops when its requirements are settled; keep one, or cancel the study';
    faults.push({ pointer: '/requirements', detail });
  }
  const size = JSON.stringify([
    requirements ?? submission.requirements ?? [],
    outputs ?? submission.outputs ?? {},
  ]).length;
  if (size > MOST_JUDGEMENT_CHARS) {
    const pointer = requirements === undefined ? '/outputs' : '/requirements';
    const detail = `leaves requirements and outputs of ${size} characters, and an amended study has at most ${MOST_JUDGEMENT_CHARS}; shorten their descriptions`;
    faults.push({ pointer, detail });
  }
  if (requirements === undefined) return faults;
  const after = { ...submission, requirements };
  return [...faults, ...submissionFaults(after).filter(({ pointer }) => pointer.startsWith('/requirements/'))];
}
