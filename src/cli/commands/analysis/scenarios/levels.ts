/** The part of `simbatch compare` with `--level`: the differences of two levels of an axis of scenarios. */
import { Option } from 'commander';
import { compare } from '../../../../analysis/questions/compare.ts';
import { given } from '../../../../base/given.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';
import { connect, type ClientFlags } from '../../../options.ts';
import { resolveBatch } from '../../../study/references.ts';
import { writeJson, writeText } from '../../../terminal/output.ts';
import { tableOptions } from '../../../terminal/table.ts';
import { comparisonLines } from '../causes.ts';
import { queryOptions } from '../query-options.ts';

export interface LevelFlags extends ClientFlags {
  level?: string;
  with?: string;
  failing?: string;
  confidence?: number;
}

/** The options of a command that creates a study: nothing is created here. */
const CREATING = ['name', 'watch', 'strict', 'idempotencyKey', 'simulationVersion', 'containerImage'];

const { with: _, level: __, ...own } = compare.query;

/** The options of the comparison of two levels. */
export const levelOptions = (): Option[] => [
  new Option('--level <axis:level>', 'compare this level of an axis, such as wind:calm, and run nothing').conflicts(
    CREATING,
  ),
  new Option('--with <axis:level>', 'with --level: another level of the axis, such as wind:storm'),
  ...queryOptions(own, {}).options.map(({ option }) => {
    option.description = `with --level: ${option.description}`;
    return option;
  }),
];

/** True where the flags ask for a comparison of levels. @throws Failure for a part of it alone */
export function asksLevels(flags: LevelFlags): flags is LevelFlags & { level: string; with: string } {
  const { level, with: other, failing, confidence } = flags;
  if (level !== undefined && other !== undefined) return true;
  if (level !== undefined || other !== undefined)
    throw new Failure(
      EXIT.usage,
      '--level and --with are two levels of one axis: give both, such as --level wind:calm --with wind:storm',
    );
  const part = failing !== undefined ? '--failing' : confidence !== undefined ? '--confidence' : undefined;
  if (part !== undefined)
    throw new Failure(
      EXIT.usage,
      `${part} is for two levels: give --level and --with, or compare studies with \`diff\``,
    );
  return false;
}

/** Prints the differences of `with` minus `level`. */
export async function compareLevels(
  reference: string,
  flags: LevelFlags & { level: string; with: string },
): Promise<void> {
  const { level, with: other, failing, confidence, format } = flags;
  if (format === 'name')
    throw new Failure(EXIT.usage, '-f name prints a new study, and --level creates none: use -f table or -f json');
  const client = await connect(flags);
  const batchId = await resolveBatch(client, reference);
  const answer = await client.analysis.ask('compare', batchId, {
    level,
    with: other,
    ...given({ failing, confidence }),
  });
  if (format === 'json') await writeJson(answer);
  else await writeText(comparisonLines(answer, tableOptions('table')));
}
