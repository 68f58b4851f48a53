/** The answer of a study of rare events as questions see it: of its table of runs, alone or with those that were submitted together. */
import type { RareEventAnswer, Requirement } from '../../../contract/types.ts';
import { rareRequirement } from '../../../domain/study/rare-event/settings.ts';
import type { AnsweredStudy } from '../../table/answered-study.ts';
import { outputColumn, outputNames, type RunTable } from '../../table/run-table.ts';
import { noRareAnswer, rareAnswer } from './answer.ts';
import { combinedRare } from './combine.ts';
import { scoresUnder } from './scores.ts';

/** The requirement of a study of rare events as it was submitted; undefined for another study. */
export const requirementOf = ({ rare }: AnsweredStudy): Requirement | undefined =>
  rare === undefined
    ? undefined
    : rareRequirement(rare.submission.config.adaptive!, rare.submission.requirements ?? []);

/** The answer of a study alone; without numbers for another study. */
export function aloneRare(study: AnsweredStudy): RareEventAnswer {
  const { table, rare } = study;
  const requirement = requirementOf(study);
  if (rare === undefined || requirement === undefined)
    return noRareAnswer(
      table.batchId,
      'no-rare-event-study',
      'The study does not look for rare events, or its runs were read without its rounds, as from a file; ask a coordinator about a study with config.adaptive.algorithm: rare_event.',
    );
  if (table.runIds !== undefined || table.absent?.class === 'cancelled')
    return noRareAnswer(
      table.batchId,
      'part-of-a-study',
      'The study holds a part of the runs of a study of rare events; ask about that study.',
    );
  return rareAnswer(table.batchId, rare, scoreReader(table, requirement, rare), {
    isOver: rare.isOver,
    runs: table.rows,
    hasNoTimeLimit: (study.submission.config?.compute.job_timeout_seconds ?? 0) === 0,
    outputs: outputNames(table),
  });
}

/** The score of a run by the table. */
function scoreReader(
  table: RunTable,
  requirement: Requirement,
  { submission }: NonNullable<AnsweredStudy['rare']>,
): (run: number) => number | undefined {
  const scoreOf = scoresUnder(requirement, submission.config.adaptive?.unknown ?? 'unknown');
  const values = outputColumn(table, requirement.output ?? '');
  return (run) => {
    if (run >= table.rows) return undefined;
    return scoreOf(table.classes[run]!, values?.[run] ?? Number.NaN, table.telemetryLost?.[run] === 1);
  };
}

/** The answer of all studies that were submitted together; that of the study alone where it has no repeat, or holds a part of the runs. */
export function jointRare(study: AnsweredStudy): RareEventAnswer {
  const { repeats = [study] } = study;
  const requirement = requirementOf(study);
  const answers = repeats.map(aloneRare);
  if (requirement === undefined || answers.length === 1 || answers.some(({ phase }) => phase === null))
    return aloneRare(study);
  return combinedRare(answers, requirement);
}
