/**
 * The command of a question: its arguments, options, help and completion follow from the query of the question, and without a
 * presentation of its own it prints any answer as names, values and tables.
 */
import { type Command, Option } from 'commander';
import { IsOptional, type Static } from 'typebox';
import { type Question } from '../../../analysis/question.ts';
import type { QuestionName } from '../../../analysis/questions.ts';
import { given } from '../../../base/given.ts';
import type { NamedSchema } from '../../../contract/build.ts';
import type { QueryOf, QueryParameters } from '../../../contract/queries.ts';
import type { Uuid } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import type { AnswerSource } from '../../offline/file-analysis.ts';
import { BATCH_ARGUMENT } from '../../study/references.ts';
import { writeJson, writeText } from '../../terminal/output.ts';
import { tableOptions, type TableOptions } from '../../terminal/table.ts';
import { plainLines } from './plain-answer.ts';
import { asHelp, queryOptions, type ParameterFlags, type PlacedParameter } from './query-options.ts';
import { familyQuery, noMore, openSource, sourceCommand, type SourceFlags } from './source.ts';

/** The query of a command, and the study it asks about. */
export interface AskedStudy<Q> {
  query: Q;
  analysis: AnswerSource;
  batchId: Uuid;
  family: { family?: 'true' };
}

/** The members of a command that do not follow from its question. */
export interface Presentation<Q extends QueryParameters, A> {
  /** The name of the command. Default: that of the question. */
  name?: string;
  /** Default: the description of the question. */
  summary?: string;
  /** Flags of parameters whose option has another name. */
  flags?: ParameterFlags<Q>;
  /** Former flags of parameters, which the help does not show. */
  former?: ParameterFlags<Q>;
  /** An optional parameter that may be given by its place too. */
  placed?: string & keyof Q;
  /** Members of the query that hold where the user gives none. */
  defaults?: Partial<QueryOf<Q>>;
  /** The lines of an answer for people. */
  lines?: (
    answer: A,
    options: TableOptions,
    asked: AskedStudy<QueryOf<Q>>,
  ) => readonly string[] | Promise<readonly string[]>;
  /** Called when the answer is printed; sets the exit code. */
  printed?: (answer: A) => void;
}

export function questionCommand<N extends string, Q extends QueryParameters, A extends NamedSchema, E>(
  question: Question<N, Q, A, E>,
  presentation: Presentation<Q, Static<A>> = {},
): Command {
  const {
    name = question.name,
    summary = sentenceOf(question),
    flags = {},
    former = {},
    placed: alsoPlaced,
    defaults = {},
    lines = plainLines,
    printed,
  } = presentation;
  const isComparison = question.other !== undefined;
  const mayBeAlone = isComparison && IsOptional(question.query['with']!);
  // Two levels of one study are compared by `simbatch compare --level`.
  const { with: _, level: __, ...own } = question.query;
  const { placed, options } = queryOptions(isComparison ? own : question.query, flags, alsoPlaced);
  const command = sourceCommand(name, summary);
  if (isComparison)
    command.argument('[after]', `${mayBeAlone ? 'another study' : 'the study after'}: ${BATCH_ARGUMENT}`);
  for (const it of placed) {
    command.argument(`[${it.name}]`, it.description);
    if (it.name === 'output') command.withOutput('the output, in place of the argument');
  }
  if (question.isPooled !== false)
    command.option('--family', 'with the extensions and reruns of the study: the latest of each run');
  for (const [parameter, text] of Object.entries<string | undefined>(former))
    options.push({ parameter, option: new Option(text!, `the former name of --${parameter}`).hideHelp() });
  for (const { option } of options) command.addOption(option);

  return command.action(async (...called: unknown[]) => {
    const values = called.at(-2) as SourceFlags & Record<string, unknown>;
    const references = called.slice(0, command.registeredArguments.length) as (string | undefined)[];
    const hasOther = isComparison && !(mayBeAlone && references[1] === undefined && (values.from?.length ?? 1) < 2);
    const { analysis, batchId, otherId, rest } = await openSource(values, references, hasOther ? 2 : 1);
    noMore(rest, placed.length);
    const written = [
      ...placed.map((it, at) => [it.name, rest[at]] as const),
      ...options.map(({ parameter, option }) => [parameter, values[option.attributeName()]] as const),
      ['output', values['output']] as const,
    ].filter(([, value]) => value !== undefined);
    const asked = new Map<string, unknown>();
    for (const [parameter, value] of written) {
      if (asked.has(parameter))
        throw new Failure(
          EXIT.usage,
          `${parameter} is given twice: "${String(asked.get(parameter))}" and "${String(value)}"; give one`,
        );
      asked.set(parameter, value);
    }
    const query = given({
      ...defaults,
      ...(hasOther ? { with: otherId } : {}),
      ...Object.fromEntries(asked),
    }) as QueryOf<Q>;
    for (const it of placed) requirePlaced(it, query);
    const family = familyQuery(values);
    const whole = { ...query, ...family } as never;
    const answer = (await analysis.ask(question.name as QuestionName, batchId, whole)) as Static<A>;
    if (values.format === 'json') await writeJson(answer);
    else await writeText(await lines(answer, tableOptions(values.format), { query, analysis, batchId, family }));
    printed?.(answer);
  });
}

/** @throws Failure where a required argument is missing */
function requirePlaced(
  { name, description, isRequired }: PlacedParameter,
  query: Readonly<Record<string, unknown>>,
): void {
  if (isRequired && query[name] === undefined)
    throw new Failure(EXIT.usage, `the argument ${name} is missing: give it after the study: ${description}`);
}

/** The summary and the description of a question as the description of a command. */
const sentenceOf = ({ summary, description }: Pick<Question, 'summary' | 'description'>): string =>
  [summary, ...(description === undefined ? [] : [description])].map(asHelp).join(': ');
