/** The probability of a rare violation, with bounds, of a study with the algorithm `rare_event`. */
import { RareEventAnswer } from '../../../contract/answers/goals/rare-event.ts';
import { choiceQuery, textQuery } from '../../../contract/queries.ts';
import { rareRequirement } from '../../../domain/study/rare-event/settings.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { isBatchId } from '../../../domain/ids.ts';
import { question } from '../../question.ts';
import { combinedRare } from '../../rare/answer/combine.ts';
import { aloneRare, jointRare, requirementOf } from '../../rare/answer/of-study.ts';
import type { AnsweredStudy } from '../../table/answered-study.ts';

export const rareEvent = question({
  name: 'rare-event',
  operationId: 'getRareEvent',
  summary: 'Read the probability of a rare violation and its bounds',
  description:
    'Experimental. The bounds are of the violations in the regions that the study found; `direct` bounds all others. With `combined`, the studies that were submitted together are answered together, and with `with` two studies: the hull of their bounds.',
  query: {
    combined: choiceQuery(
      ['true', 'false'],
      '`true`: the study with its repeats, which were submitted together and have other seeds. `false`: the study alone.',
      'false',
    ),
    with: textQuery(
      'Another study of the same design with another seed, in place of those that were submitted together.',
    ),
  },
  response: RareEventAnswer,
  isPooled: false,
  joinsRepeats: ({ combined, with: written }) => combined === 'true' && written === undefined,
  other({ with: written }) {
    if (written === undefined) return undefined;
    const id = written.toLowerCase();
    if (isBatchId(id)) return id;
    const shown = JSON.stringify(id.slice(0, 100));
    throw new SimbatchError('unknown-batch', `${shown} in \`with\` is not the id of a study; give the id of one`);
  },
  answer(study, { with: written }, other) {
    if (written === undefined) return jointRare(study);
    const requirement = requirementOf(study);
    if (requirement === undefined) return aloneRare(study);
    requireRepeat(study, other);
    return combinedRare([aloneRare(study), aloneRare(other)], requirement);
  },
});

/** @throws RangeError where the other study is not one of the same question with another seed */
function requireRepeat({ rare: first }: AnsweredStudy, { rare: second, table }: AnsweredStudy): void {
  const shape = (it: typeof first): string => {
    const { simulation, dispersions, correlations, adaptive } = it!.submission.config;
    const requirement = rareRequirement(adaptive!, it!.submission.requirements ?? []);
    return JSON.stringify([simulation.name, simulation.version, dispersions, correlations, requirement]);
  };
  if (second === undefined || shape(first) !== shape(second))
    throw new RangeError(
      `the study ${table.batchId} in \`with\` does not ask the same question: give one of the same simulation, dispersions and requirement, with another seed`,
    );
  if (String(first!.seed) === String(second.seed))
    throw new RangeError(`the study ${table.batchId} in \`with\` has the same seed; give one with another seed`);
}
