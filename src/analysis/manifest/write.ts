/** Writes a verification manifest line by line. */
import {
  type ManifestHeader,
  type ManifestRound,
  type ManifestRun,
  RunCounter,
  chainedLine,
  headerLine,
  isRound,
} from './lines.ts';

/**
 * The lines of a manifest, without line feeds: the header, one line per run or round in the order given, and a closing line, the hash of which
 * is the fingerprint of the whole. Reads the runs one at a time; the caller gives the event loop its turns.
 * @throws RangeError when the runs are not in ascending order of (replicate, run id), or not as many per class as the header says.
 */
export async function* manifestLines(
  header: ManifestHeader,
  runs: AsyncIterable<ManifestRun | ManifestRound> | Iterable<ManifestRun | ManifestRound>,
): AsyncGenerator<string, void, undefined> {
  let line = headerLine(header);
  yield line;
  let last: ManifestRun | undefined;
  let count = 0;
  const counts = new RunCounter();
  for await (const run of runs) {
    if (isRound(run)) {
      line = chainedLine(line, run);
      yield line;
      continue;
    }
    if (last !== undefined && !isAfter(run, last)) {
      throw new RangeError(
        `manifest not written: run ${run.run_id} follows run ${last.run_id}; give the runs in run order`,
      );
    }
    last = run;
    count++;
    counts.add(run);
    line = chainedLine(line, run);
    yield line;
  }
  const difference = counts.difference(header);
  if (difference !== undefined) {
    throw new RangeError(`manifest not written: ${difference}; read header and runs from one snapshot`);
  }
  yield chainedLine(line, { closing: true, runs: count });
}

/** Whether a run comes after another one in a manifest. */
export function isAfter(run: ManifestRun, before: ManifestRun): boolean {
  const [replicate, replicateBefore] = [run.replicate ?? 0, before.replicate ?? 0];
  return replicate > replicateBefore || (replicate === replicateBefore && run.run_id > before.run_id);
}
