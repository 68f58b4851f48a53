/** The table of a probe, from the same function as that of `simbatch probe`. */
import { StudyProbe } from '../../contract/answers/probe.ts';
import type { BatchConfig } from '../../contract/types.ts';
import { designOfRows } from '../../domain/probe/design.ts';
import { isProbe } from '../../domain/probe/group.ts';
import { idleInputs, probeTable, type ProbeRun, type ProbeTable } from '../../domain/probe/table.ts';
import { plural } from '../../domain/plural.ts';
import { question } from '../question.ts';
import type { AnsweredStudy } from '../table/answered-study.ts';
import { answerHeader } from '../table/header.ts';
import { classOf, countClasses, runIdOf, type RunTable, runsOf } from '../table/run-table.ts';
import { listed } from '../wording.ts';

/** Characters of the outputs of all runs as JSON; each change of a run has the output of the nominal run beside its own. */
const MOST_CHARS = 16 * 1024 * 1024;

export const probe = question({
  name: 'probe',
  operationId: 'getProbe',
  summary: 'Read which inputs of a probe are read, and what each changes',
  description:
    'For a study that `simbatch probe` has made: for each input whether it was looked up, whether it has an effect, and the changes of every output at its low and high quantile. Any other study has no table, and a `reason`.',
  query: {},
  response: StudyProbe,
  isPooled: false,
  async answer(study) {
    const found = await tableOf(study);
    const header = answerHeader(study.table);
    if (typeof found === 'string')
      return { ...header, nominal: null, inputs: [], reason: found, sentence: `no table of a probe: ${found}` };
    return { ...header, ...found, reason: null, sentence: sentenceOf(found, study.table) };
  },
});

/** The table, or why there is none. */
async function tableOf({ table, submission, readResults }: AnsweredStudy): Promise<ProbeTable | string> {
  if (readResults === undefined)
    return 'a table of runs has neither their look-ups nor all outputs; ask the coordinator of the study';
  const { config, labels } = submission;
  if (config === undefined || !isProbe({ config, ...(labels === undefined ? {} : { labels }) }))
    return 'the study is not a probe; simbatch probe executes one of a study';
  if (runsOf(table) === 0) return 'the probe has no runs yet';
  const { open } = countClasses(table);
  if (open > 0) return `the probe has not ended: ${open} of ${plural(runsOf(table), 'run')} are open`;
  const design = designOf(config, table);
  if (design === undefined)
    return 'the rows of the study are not those of a probe: a nominal run, then each input alone low and high';
  const results = await readResults(MOST_CHARS);
  const nominal = results?.get(0)?.outputs ?? {};
  if (results === undefined || JSON.stringify(nominal).length * table.rows > MOST_CHARS)
    return 'the outputs of its runs are too large for one table; read them one by one, as results of the runs';
  const runs = Array.from({ length: table.rows }, (_, run): ProbeRun => {
    const { outputs = {}, parameters_read: read } = results.get(run) ?? {};
    return {
      run_id: run,
      class: classOf(table, run),
      outputs,
      ...(read === undefined ? {} : { parameters_read: read }),
    };
  });
  return probeTable(design, runs);
}

/** A selection of the runs is not a probe. */
function designOf(config: BatchConfig, table: RunTable): ReturnType<typeof designOfRows> {
  const isWhole =
    runsOf(table) === table.rows && (table.rows === 0 || runIdOf(table, table.rows - 1) === table.rows - 1);
  return isWhole ? designOfRows(config, table.rows, (name) => table.parameters.get(name)) : undefined;
}

/** `probe of 3 inputs in 7 runs: never read: b; without effect: c`. */
function sentenceOf(found: ProbeTable, table: RunTable): string {
  const named = (label: string, inputs: readonly { name: string }[]): string[] =>
    inputs.length === 0 ? [] : [`${label}: ${listed(inputs.map(({ name }) => name))}`];
  const idle = idleInputs(found);
  const parts = [
    ...named(
      'never read',
      idle.filter(({ read }) => read === 'never'),
    ),
    ...named(
      'without effect',
      idle.filter(({ read }) => read !== 'never'),
    ),
    ...named(
      'effect not known',
      found.inputs.filter((it) => it.effect === 'unknown' && !idle.includes(it)),
    ),
  ];
  const all = `probe of ${plural(found.inputs.length, 'input')} in ${plural(table.rows, 'run')}`;
  return `${all}: ${parts.length === 0 ? 'every input has an effect' : parts.join('; ')}`;
}
