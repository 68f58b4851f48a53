/** The results of all runs of a study with every output, for questions about values that have no column. */
import type { WholeResult } from '../../../analysis/table/answered-study.ts';
import { outputsOf } from '../../../domain/runs/outputs.ts';
import { toResult } from '../../kernel/records/to-resource.ts';
import { type NextRows, runBlocks } from './runs.ts';

/**
 * Returns the results by run; undefined where their outputs have more characters than `most` as JSON.
 * @param names the parameters of the study, as its runs count them
 */
export async function wholeResults(
  names: readonly string[],
  next: NextRows,
  most: number,
): Promise<Map<number, WholeResult> | undefined> {
  const found = new Map<number, WholeResult>();
  let chars = 0;
  for await (const block of runBlocks(next)) {
    for (const { runId, job, result } of block) {
      if (result === undefined) continue;
      chars += JSON.stringify(result.metadata).length;
      if (chars > most) return undefined;
      const { parameters_read: read } = toResult(result, job!, () => names);
      const outputs = Object.fromEntries(outputsOf(result.metadata));
      found.set(runId, read === undefined ? { outputs } : { outputs, parameters_read: read });
    }
  }
  return found;
}
