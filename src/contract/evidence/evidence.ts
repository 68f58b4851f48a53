/** The evidence about a study, for people who review it: facts that the coordinator knows, and a list of those that are not known. */
import { Type, type Static } from 'typebox';
import { CodeVersion } from '../code/identity.ts';
import { answered, enumOf, flag, listOf, mapOf, named, nullable, ref, text } from '../build.ts';
import { BATCH_STATUSES, EVIDENCE_FACTORS, FAILURE_KINDS, INPUT_EFFECTS, INPUT_READS } from '../enums.ts';
import { count, int32, timestamp, uuid } from '../scalars.ts';
import { Batch, BatchHistory } from '../resources/batches.ts';
import { sentence } from '../answers/header.ts';
import { Convergence, StudySummary } from '../answers/outputs.ts';

const EvidenceRunner = named(
  'EvidenceRunner',
  'A runner that has executed runs of a study.',
  answered({
    id: text('The runner.'),
    registered: flag('Whether the coordinator still knows it. The other members are as it states them now.'),
    hostname: nullable(text('The name of its machine; null: not known.')),
    cpu_cores: nullable(int32('Cores that it declares; null: not known.')),
    memory_gb: nullable(Type.Number({ format: 'double', description: 'Memory that it declares; null: not known.' })),
    versions: mapOf(text('The version.'), { description: 'Versions that it states, such as of its Python.' }),
  }),
);

const EvidenceInput = named(
  'EvidenceInput',
  'An input of a study, with its pedigree.',
  answered({
    name: text('The dispersion.'),
    units: text('As declared; may be empty.'),
    distribution: text('The distribution with its members, for people.'),
    varies: flag('False: it is the same in all runs.'),
    source: nullable(text('Where the distribution comes from, as its study says; null: it does not say.')),
    read: enumOf(
      INPUT_READS,
      '`read`: a completed run has looked it up. `never`: of those whose look-ups are known, none has. `unknown`: too few are known.',
    ),
    effect: enumOf(
      INPUT_EFFECTS,
      '`changes`: in a probe of the study an output changed with it. `none`: every output stayed the same to the bit. `unknown`: there is no such probe.',
    ),
    probe: nullable(uuid('The probe that shows the effect; null: there is none.')),
  }),
);

const EvidenceAudit = named(
  'EvidenceAudit',
  'An audit of a study: runs that were executed again and compared.',
  answered({
    batch_id: uuid('The audit.'),
    status: enumOf(BATCH_STATUSES, 'Its status.'),
    runs: count('Runs drawn.'),
    compared: count('Runs that are compared.'),
    differing: count('Compared runs with another end or other outputs.'),
    same_runner: count('Compared runs that the same runner has executed twice.'),
    sentence,
  }),
);

const EvidenceFactor = named(
  'EvidenceFactor',
  'A factor of credibility. The coordinator assigns no level: people do, with what it knows and what they know.',
  answered({
    id: enumOf(EVIDENCE_FACTORS, 'The factor.'),
    title: text('Its name, for people.'),
    meaning: text('Its question.'),
    known: listOf(text('One sentence.'), 'The facts about it that the coordinator knows; empty: none.'),
    to_state: listOf(text('One question.'), 'The parts that only people can answer.'),
  }),
);

export const EvidenceReport = named(
  'EvidenceReport',
  'The evidence about a study: its question, its code, machines and inputs, its results, and the limits of all of it.',
  answered({
    batch_id: uuid('The batch.'),
    name: nullable(text('Its name; null: not known.')),
    status: nullable(enumOf(BATCH_STATUSES, 'Its status; null: not known.')),
    sentence,
    limits: listOf(text('One sentence.'), 'The parts that are not known, not checked, or weaken the evidence.'),
    asked: answered(
      {
        requirements: count('Requirements that it declares; the summary has their verdicts.'),
        precisions: count('Precisions at which it stops.'),
        stated: listOf(
          answered({
            name: text('The requirement.'),
            runs_ended: nullable(count('Runs that had ended when it was stated; null: not recorded.')),
            at: nullable(timestamp('When it was stated; null: not recorded.')),
          }),
          'When each requirement was stated.',
        ),
      },
      'What the study was to show.',
    ),
    executed: answered(
      {
        simulation: text('Name and version of the simulation.'),
        design: text('Sampling, runs, seed and replicate, for people.'),
        config_hash: nullable(text('Digest of the configuration; null: not known.')),
        image: nullable(text('The container image that it names; null: none.')),
        code: listOf(ref(CodeVersion), 'The versions of the code that executed its runs.'),
        runners: listOf(ref(EvidenceRunner), 'The runners that executed its runs, as far as their code names them.'),
        parent: nullable(Batch.properties.parent),
        reused_runs: nullable(
          count('Runs that have the result of another run and were not executed; null: not known.'),
        ),
      },
      'The code, the machines and the design.',
    ),
    inputs: listOf(ref(EvidenceInput), 'In the order of the study.'),
    results: ref(StudySummary),
    convergence: listOf(
      answered({ output: text('The output.'), quantity: text('The quantity.'), course: ref(Convergence) }),
      'How the estimates of the required outputs settled with the number of runs.',
    ),
    dependence: listOf(answered({ output: text('The output.'), sentence }), 'What the required outputs depend on.'),
    counted: listOf(
      answered({
        class: enumOf(['ok', ...FAILURE_KINDS, 'cancelled', 'open'], 'The class.'),
        runs: count('Runs of it.'),
        statistics: text('How they count in the statistics of outputs.'),
        verdicts: text('How they count in the verdicts.'),
      }),
      'How runs are counted, by class; classes without runs are left out.',
    ),
    retries: nullable(
      answered(
        {
          attempts: count('Attempts that failed and were repeated.'),
          omitted: count('Further attempts that the records no longer have.'),
        },
        'Attempts that failed before another one ended the run; null: not known.',
      ),
    ),
    audits: listOf(ref(EvidenceAudit), 'The latest 20, the oldest of these first; empty: none was made.'),
    audits_omitted: count('Earlier audits that are not listed.'),
    history: nullable(ref(BatchHistory)),
    factors: listOf(
      ref(EvidenceFactor),
      'The eight factors of NASA-STD-7009A (2016, appendix E, table 3) in its order, then the people of NASA-STD-7009 (2008).',
    ),
  }),
);
export type EvidenceReport = Static<typeof EvidenceReport>;
