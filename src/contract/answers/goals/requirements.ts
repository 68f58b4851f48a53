/** Requirements as a study declares them, and the verdicts on them. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, mapOf, named, nullable, ref, submitted, text } from '../../build.ts';
import { CELL_RULES, LOOKS, TERMINATED_RULES, VERDICTS } from '../../enums.ts';
import { LIMITS } from '../../limits.ts';
import { count, double, freeText, name, timestamp } from '../../scalars.ts';
import { CellCounts, CellVerdict } from '../../scenarios/answers.ts';
import { Warning, headerMembers, probability, range, sentence } from '../header.ts';

const share = (description: string) =>
  Type.Number({ format: 'double', exclusiveMinimum: 0, exclusiveMaximum: 1, description });

export const Requirement = named(
  'Requirement',
  'A requirement: a run passes when the condition holds for the output, or when it passes all of the requirements named.',
  submitted({
    name: name('Name of the requirement, unique in the study.'),
    in: Type.Optional(
      enumOf(
        CELL_RULES,
        'Of a study with scenarios. `each`: the probability is required in every cell. `pooled`: of the cells together, by `weights`. `worst`: in every cell, with bounds of the least probability that hold for all cells. `each` when absent.',
      ),
    ),
    weights: Type.Optional(
      mapOf(
        mapOf(double('The weight, 0 or more.', { minimum: 0 }), {
          description: 'Level -> weight; every level of the axis.',
          maxProperties: LIMITS.cells,
        }),
        {
          description:
            'With `in: pooled`: axis -> weights of its levels. A cell weighs the product over the axes, in proportion to those of all cells; the levels of an axis that is not named weigh the same.',
          maxProperties: LIMITS.axes,
        },
      ),
    ),
    output: Type.Optional(
      name('The output, a number of `metadata.json` by its flat name, or `execution_secs`; with `condition`.'),
    ),
    condition: Type.Optional(
      freeText(
        'An operator (`<`, `<=`, `>`, `>=`, `==`, `!=`), then a finite decimal number, e.g. `<= 50`; or two ends, both included, e.g. `2500 .. 3200`.',
      ),
    ),
    all: Type.Optional(
      listOf(
        name('The name of another requirement of the study.'),
        'In place of `output` and `condition`: requirements that are passed in the same run.',
        LIMITS.requirements,
      ),
    ),
    probability: share('The probability of passing that is required.'),
    confidence: Type.Optional(share('The confidence of the verdict; 0.95 when absent.')),
    terminated: Type.Optional(
      enumOf(TERMINATED_RULES, 'How a run counts that a rule ended early; `fail` when absent.'),
    ),
    look: Type.Optional(
      enumOf(
        LOOKS,
        '`once`: judged when all runs have ended. `continuous`: judged after each run. `once` when absent.',
      ),
    ),
  }),
);
export type Requirement = Static<typeof Requirement>;

export const OutputDeclaration = named(
  'OutputDeclaration',
  'An output of the simulation.',
  submitted({
    units: Type.Optional(freeText('Units, for display.')),
    description: Type.Optional(freeText('Meaning, for display.')),
    censored: Type.Optional(
      name(
        'The telemetry variable whose largest or smallest value the output is: a rule that ends a run on this variable bounds the value that the output would have had.',
      ),
    ),
  }),
);

export const requirements = listOf(ref(Requirement), 'What the study is to show.', LIMITS.requirements);
export const outputs = mapOf(ref(OutputDeclaration), {
  description: 'Output name -> units and meaning.',
  maxProperties: LIMITS.mapEntries,
  propertyNames: { type: 'string', minLength: 1, maxLength: LIMITS.nameLength },
});

export const StatedAt = named(
  'StatedAt',
  'When a requirement was stated.',
  answered({
    runs_ended: count(
      'Runs of the study that had ended then. 0: the requirement was stated before anyone could look at a run.',
    ),
    time: timestamp('The time.'),
  }),
);
export type StatedAt = Static<typeof StatedAt>;

const verdictMembers = {
  name: text('Its name.'),
  output: nullable(text('Its output; null where it is of several requirements.')),
  condition: nullable(text('Its condition; null likewise.')),
  all: Type.Optional(listOf(text('The name of a requirement.'), 'The requirements that are passed in the same run.')),
  in: Type.Optional(
    enumOf(CELL_RULES, 'Of a study with scenarios: the cells that the probability is of; absent: `each`.'),
  ),
  stated_at: Type.Optional({
    ...ref(StatedAt),
    description: 'When it was stated; absent for a requirement that was submitted with the study.',
  }),
  probability: probability('The probability that is required.'),
  confidence: probability('The confidence of the verdict.'),
  terminated: enumOf(TERMINATED_RULES, 'How a run counts that a rule ended early.'),
  look: enumOf(LOOKS, 'Judged once, or after each run.'),
  passed: count('Runs that pass.'),
  failed: count('Runs that fail.'),
  unknown: count('Runs that count against either verdict.'),
  judged: count('The sum of the three.'),
  estimate: nullable(probability('Passed runs among those that pass or fail.')),
  wilson: nullable(range('Two-sided interval of the estimate, for display.')),
  lower: probability('One-sided: exact for one look; of the confidence sequence where the runs are judged one by one.'),
  upper: probability('One-sided, likewise.'),
  verdict: nullable(enumOf(VERDICTS, 'The verdict; null where the runs allow none.')),
  reason: Type.Optional(
    text(
      'Why there is no verdict. `adaptive-design`, `canary-design`: the runs were chosen. `saltelli-design`: they share inputs. Of the requirement of a study of rare events, why it is not shown: `one-study`, `bounds`, `studies-apart`.',
    ),
  ),
  settled: nullable(enumOf(['certain', 'sequential'], 'How it was settled while runs are open.')),
  settled_at_run_id: nullable(count('The run that decided.')),
  log_e_met: nullable(double('Logarithm of the E value for `met`, `continuous` only.')),
  log_e_violated: nullable(double('Logarithm of the E value for `violated`, `continuous` only.')),
  more_clean_runs: nullable(count('For `not-shown`: further passing runs that would show it.')),
  needed_clean_runs: nullable(count('For `open`: passing runs that are enough.')),
  failures_left: nullable(
    Type.Integer({ description: 'For `open`: further failures that `met` allows; below 0: out of reach.' }),
  ),
  warnings: listOf(ref(Warning), 'Limits of this verdict.'),
  cells: Type.Optional({
    ...ref(CellCounts),
    description:
      'Of a study with scenarios: its cells, each judged alone. The study is `met` when every cell is met; the counts of runs are those of all cells, `estimate`, `lower` and `upper` those of the least share over the cells, with `in: pooled` those of the pooled share.',
  }),
  sentence,
};

export const RequirementVerdict = named(
  'RequirementVerdict',
  'A judged requirement. While runs are open, the counts are those of the complete prefix.',
  answered(verdictMembers),
);
export type RequirementVerdict = Static<typeof RequirementVerdict>;

export const JudgedRequirement = named(
  'JudgedRequirement',
  'A judged requirement, with the course of its estimate.',
  answered({
    ...verdictMembers,
    course: listOf(
      answered({
        n: count('Runs used: the first n of the complete prefix.'),
        estimate: nullable(probability('Passed runs among those of them that pass or fail.')),
        lower: probability('One-sided bound as of a verdict at n.'),
        upper: probability('One-sided bound as of a verdict at n.'),
      }),
      'At most 64 points, evenly spaced in log n; the last one has the bounds of the verdict. None of a study with scenarios.',
    ),
    by: Type.Optional(listOf(ref(CellVerdict), 'With `by`: the cells, the last axis varying fastest.')),
  }),
);
export type JudgedRequirement = Static<typeof JudgedRequirement>;

export const StudyVerdicts = named(
  'StudyVerdicts',
  'The verdicts on requirements.',
  answered({ ...headerMembers, requirements: listOf(ref(JudgedRequirement), 'In the order of the study.') }),
);
export type StudyVerdicts = Static<typeof StudyVerdicts>;
