/** The runs that `--where` selects, in the language of `simbatch table`. */
import { InvalidArgumentError, Option } from 'commander';
import { given } from '../../base/given.ts';
import type { Client, Uuid } from '../../client/client.ts';
import { LIMITS } from '../../contract/limits.ts';
import { appendRun, textOf, type RunRange } from '../../domain/runs/run-ranges.ts';
import { parseWhere } from '../../analysis/where/parse.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { printable } from '../terminal/format.ts';

/** The option of every command that works on runs. */
export const whereOption = (): Option =>
  new Option('--where <condition>', 'only runs that meet this, e.g. "miss_m > 3 and failed"').argParser(readable);

/** A condition that can be read; whether its names are columns depends on the study. */
function readable(text: string): string {
  try {
    parseWhere(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return text;
}

/** The numbers of the runs that a condition selects, in pages. */
export async function* pagesWhere(client: Client, batchId: Uuid, where: string): AsyncGenerator<number[]> {
  const query = { columns: ['run_id'], where, limit: LIMITS.pageSize };
  for (let cursor: string | undefined; ;) {
    const { table, next } = await client.analysis.tablePage(batchId, { ...query, ...given({ cursor }) });
    yield table.rows.map((row) => Number(row['run_id']));
    if (next === undefined) return;
    cursor = next;
  }
}

/** The runs that a condition selects, as ranges. @throws Failure for none. */
export async function runsWhere(client: Client, batchId: Uuid, where: string): Promise<string> {
  const ranges: RunRange[] = [];
  for await (const page of pagesWhere(client, batchId, where)) for (const run of page) appendRun(ranges, run);
  if (ranges.length > 0) return ranges.map(textOf).join(',');
  throw new Failure(EXIT.invalid, `no run of the study has ${printable(where)}; see the runs with \`simbatch table\``);
}
