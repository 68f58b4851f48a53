/** How a submission continues a study of the same design: what is amended, how many runs are added, and the sentence about it. Pure. */
import type { BatchSubmission } from '../../contract/types.ts';
import { shortId } from '../ids.ts';
import { cellCount } from '../scenarios/cells.ts';
import { plural } from '../plural.ts';
import { designEnd } from '../study/growth.ts';
import { differences, fixedMembers } from './design.ts';
import { AMENDED, MEMBERS, type Amended } from './members.ts';

/** The pointers of the members because of which a submission is another study than this one. */
export function changedDesign(study: BatchSubmission, submission: BatchSubmission): string[] {
  const isSeedGiven =
    typeof submission.config.monte_carlo.seed !== 'object' && submission.config.monte_carlo.seed !== undefined;
  const design = differences(study, submission).design.filter((it) => isSeedGiven || it !== '/config/monte_carlo/seed');
  return [...design, ...differences(study, submission, fixedMembers(submission)).count];
}

const isAmended = (pointer: string): boolean => (AMENDED as readonly string[]).includes(pointer.slice(1));
const AMENDED_MEMBERS = MEMBERS.filter((it) => isAmended(it.pointer));
const KEPT_MEMBERS = MEMBERS.filter((it) => !isAmended(it.pointer));

/** The members of the judgement in which the submission differs from the study, and which an amendment replaces. */
export function amendedMembers(study: BatchSubmission, submission: BatchSubmission): Amended[] {
  const { judgement } = differences(study, submission, AMENDED_MEMBERS);
  return AMENDED.filter((name) => judgement.includes(`/${name}`));
}

/** The members of judgement and execution in which the submission differs, and which stay as the study has them. */
export function keptMembers(study: BatchSubmission, submission: BatchSubmission): string[] {
  const { judgement, execution } = differences(study, submission, KEPT_MEMBERS);
  return [...judgement, ...execution];
}

/** A member of the family of a study, as far as its runs count. */
export interface GrownMember {
  submission: BatchSubmission;
  totalJobs: number;
}

/**
 * The `runs` of the extension that a study needs for those of the submission; undefined when it has as many. `family`: the study first, and
 * its extensions. A Latin hypercube gets the missing runs as a replicate, every other design continues.
 */
export function runsToExtend(family: readonly GrownMember[], submission: BatchSubmission): number | undefined {
  const wanted = designEnd(submission);
  const { monte_carlo: design } = family[0]!.submission.config;
  if (design.sampling_method === 'adaptive') return undefined;
  const end = Math.max(...family.map((it) => designEnd(it.submission)));
  const isReplicated = design.sampling_method === 'latin_hypercube' && typeof design.replicates !== 'number';
  if (!isReplicated) return wanted > end ? wanted : undefined;
  const held = heldRuns(family) / cellCount(submission.config);
  if (wanted <= held) return undefined;
  // A design that `runs_override` cut short is completed.
  return wanted === design.runs && held < wanted ? wanted : wanted - held;
}

/** The runs of a study and its extensions. */
export const heldRuns = (family: readonly GrownMember[]): number => family.reduce((sum, it) => sum + it.totalJobs, 0);

/** The name of a member for people: `inputs.mass`, `code`, `seed`. A version that follows from a function is not named beside its code. */
export function memberNames(pointers: readonly string[], version?: string): string[] {
  const names = pointers.map((pointer) => {
    const [, first = '', second = '', third = '', fourth = ''] = pointer.split('/');
    if (first !== 'config') return second === '' ? first : second;
    if (second === 'dispersions') return `inputs.${third.replaceAll('~1', '/').replaceAll('~0', '~')}`;
    if (second === 'simulation') return third === 'name' ? 'simulation' : third;
    if (second === 'monte_carlo') return third === 'sampling_method' ? 'method' : third;
    if (second === 'compute') return third === 'container' ? fourth : third;
    return second;
  });
  const unique = [...new Set(names)];
  const follows = unique.includes('code') && version?.startsWith('fn-') === true;
  return follows ? unique.filter((it) => it !== 'version') : unique;
}

export interface Continued {
  studyId: string;
  isCancelled: boolean;
  amended: readonly string[];
  /** Pointers of members that stay as the study has them. */
  kept: readonly string[];
  extension: { mode: 'continued' | 'replicate'; total_jobs: number; replicate?: number } | undefined;
  held: number;
  wanted: number;
  /** Of the study and its extensions, those whose canary has failed, with the runs that wait for a release. */
  waiting: readonly { batchId: string; runs: number }[];
}

/** Waiting batches that are named; further ones are counted. */
const MOST_NAMED = 3;

function waitingSentence(waiting: Continued['waiting']): string {
  const runs = waiting.reduce((sum, it) => sum + it.runs, 0);
  const named = waiting.slice(0, MOST_NAMED).map((it) => it.batchId);
  const more = waiting.length > named.length ? ` and ${waiting.length - named.length} more` : '';
  const [first = ''] = named;
  return (
    `${plural(runs, 'run')} of ${plural(waiting.length, 'study', 'studies')} (${named.join(', ')}${more}) must wait, since the canary has failed: ` +
    `see why with \`simbatch status ${shortId(first)}\`; then \`simbatch release ${shortId(first)}\`, or after a correction cancel it and execute its runs with \`simbatch rerun ${shortId(first)}\``
  );
}

/** The sentence about a study that was continued. */
export function continuedSentence(it: Continued): string {
  const parts: string[] = [];
  if (it.amended.length > 0) parts.push(`${it.amended.join(', ')} amended`);
  if (it.extension?.mode === 'continued') parts.push(plural(it.extension.total_jobs, 'further run'));
  if (it.extension?.mode === 'replicate') {
    parts.push(
      `${plural(it.extension.total_jobs, 'further run')} as replicate ${it.extension.replicate ?? 0}, since the strata of a Latin hypercube depend on its number of runs`,
    );
  }
  if (it.isCancelled) parts.push('it was cancelled, and no run is added');
  else if (it.extension === undefined) {
    const more = it.wanted < it.held ? `, more than the ${it.wanted} asked for` : '';
    parts.push(`it has ${plural(it.held, 'run')}${more}; nothing is executed`);
  }
  if (it.waiting.length > 0) parts.push(waitingSentence(it.waiting));
  if (it.kept.length > 0) parts.push(`it keeps its ${memberNames(it.kept).join(', ')}`);
  return `study ${it.studyId} is continued: ${parts.join('; ')}`;
}

/** The sentence about a study that was created because no study has its design. */
export function createdSentence(
  studyId: string,
  previous: string | undefined,
  changed: readonly string[],
  version: string,
): string {
  if (previous === undefined) return `study ${studyId} is new`;
  return `study ${studyId} is another study than ${previous}; changed: ${memberNames(changed, version).join(', ')}`;
}

/** The sentence about a study that was created although a study has its design: the canary study of that one has failed. */
export const afterCanarySentence = (studyId: string, failed: string): string =>
  `study ${studyId} is new: study ${failed} has the same design, and no run of it was executed, since its canary study has failed`;
