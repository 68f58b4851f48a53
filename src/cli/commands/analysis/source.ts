/** The study that a command answers about: of the coordinator, or in files of runs. */
import { Option } from 'commander';
import type { Uuid } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import type { AnswerSource } from '../../offline/file-analysis.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import type { OutputCommand } from '../../output-command.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';

export interface SourceFlags extends ClientFlags {
  /** Files of runs, in place of a coordinator. */
  from?: string[];
  /** Study files that describe them: one for all, or one each. */
  study?: string[];
  /** True to pool the runs with those of the extensions and reruns of the study. */
  family?: boolean;
}

const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** Returns a command about a study, of the coordinator or in a file. */
export const sourceCommand = (name: string, summary: string): OutputCommand =>
  clientCommand(name, summary, ['table', 'wide', 'json'])
    .argument('[study]', `${BATCH_ARGUMENT}; none with --from`)
    .addOption(
      new Option('--from <file>', 'answer from a Parquet or CSV file of runs, without a coordinator').argParser(
        collect,
      ),
    )
    .addOption(
      new Option('--study <file>', 'with --from: the study of these runs, where the file does not hold it').argParser(
        collect,
      ),
    );

/** The query parameter of `--family`. @throws Failure with `--from`: a file holds the runs that it holds. */
export function familyQuery({ family, from }: SourceFlags): { family?: 'true' } {
  if (family !== true) return {};
  if (from === undefined) return { family: 'true' };
  throw new Failure(
    EXIT.usage,
    '--family has no meaning with --from: write the file with the family, `simbatch table --family`',
  );
}

/** The study that a command is about, and the arguments after it. */
export interface Source {
  analysis: AnswerSource;
  batchId: Uuid;
  /** The study after, in a comparison. */
  otherId: Uuid;
  /** The arguments that are not studies. */
  rest: (string | undefined)[];
}

/**
 * The study named by the first argument, or by `--from`; `studies` is how many the command takes.
 * @throws Failure when there are more or fewer.
 */
export async function openSource(
  { from, study, ...flags }: SourceFlags,
  given: readonly (string | undefined)[],
  studies: 1 | 2 = 1,
): Promise<Source> {
  if (from !== undefined) return openFiles(from, study, given, studies);
  if (study !== undefined) throw new Failure(EXIT.usage, '--study has no meaning without --from: give a file of runs');
  const [first, second] = given;
  if (first === undefined || (studies === 2 && second === undefined)) {
    const wanted = studies === 2 ? 'two studies, before and after' : 'a study';
    throw new Failure(EXIT.usage, `the study is missing: name ${wanted}, such as latest, or files with --from`);
  }
  const client = await connect(flags);
  const batchId = await resolveBatch(client, first);
  const otherId = studies === 2 ? await resolveBatch(client, second!) : batchId;
  return { analysis: client.analysis, batchId, otherId, rest: given.slice(studies) };
}

async function openFiles(
  from: readonly string[],
  study: readonly string[] = [],
  given: readonly (string | undefined)[],
  studies: number,
): Promise<Source> {
  if (from.length !== studies) {
    const wanted = studies === 1 ? 'one file' : 'two files, before and after';
    throw new Failure(EXIT.usage, `--from is given ${from.length} times: give ${wanted}`);
  }
  if (study.length > 1 && study.length !== from.length)
    throw new Failure(
      EXIT.usage,
      `--study is given ${study.length} times for ${from.length} files: give one for all or one each`,
    );
  const [{ readFileStudy }, { fileAnalysis }] = await Promise.all([
    import('../../offline/file-study.ts'),
    import('../../offline/file-analysis.ts'),
  ]);
  const read = await Promise.all(from.map((path, at) => readFileStudy(path, study[at] ?? study[0])));
  const [first, second = first!] = read;
  const rest = given.filter((it) => it !== undefined);
  const [batchId, otherId] = [first!, second].map((it) => it.table.batchId) as [Uuid, Uuid];
  return { analysis: fileAnalysis(first!, second), batchId, otherId, rest };
}

/** Refuses arguments after those that a command takes. */
export function noMore(rest: readonly (string | undefined)[], taken: number): void {
  const extra = rest[taken];
  if (extra !== undefined)
    throw new Failure(
      EXIT.usage,
      `"${extra}" is one argument too many: with --from, a file takes the place of the study`,
    );
}
