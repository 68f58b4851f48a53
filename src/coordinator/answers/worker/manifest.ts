/** The manifest of a study, written by the analysis worker from the stored records. */
import { codeOf as codeIn, reasonOf } from '../../../domain/runs/run-end.ts';
import { createHash } from 'node:crypto';
import { type ManifestRound, type ManifestRun, RunCounter } from '../../../analysis/manifest/lines.ts';
import { manifestLines } from '../../../analysis/manifest/write.ts';
import { type RunClass, RUN_CLASSES, runClassOf } from '../../../analysis/table/run-class.ts';
import { stringifyExact } from '../../../base/json/json-writing.ts';
import { packageVersion } from '../../../base/package.ts';
import type { RoundLookup } from '../../../domain/adaptive/rows.ts';
import type { RunSelection } from '../../../domain/runs/run-selection.ts';
import type { Sampler } from '../../../domain/sampling/run-values.ts';
import { toResult } from '../../kernel/records/to-resource.ts';
import type { ReadingHead } from '../row-readings.ts';
import { type NextRows, runBlocks, type StoredRun } from './runs.ts';
import { studyOf } from './study.ts';

/** Pieces of the text are about this long. */
const PIECE_CHARS = 65_536;

/**
 * The text of a manifest in pieces, each of whole lines. Runs that have not ended are in it as `open`. `counts` are those of the
 * same instant, from `countRuns`.
 */
export async function* manifestPieces(
  head: ReadingHead,
  next: NextRows,
  counts: Readonly<Record<string, number>>,
): AsyncGenerator<Uint8Array> {
  const { submission, seed, sampler, selection } = studyOf(head);
  const header = {
    batch_id: head.batchId,
    configuration: submission.config,
    config_hash: head.configHash,
    sampling_scheme: head.samplingScheme,
    seed,
    versions: { simbatch: packageVersion, simulation: submission.config.simulation.version },
    ...(head.codes === undefined ? {} : { code_versions: head.codes }),
    counts,
    ...(head.reusedRuns === 0 ? {} : { reused: head.reusedRuns }),
  };
  const runs = withRounds(allRuns({ head, selection, next, names: sampler.names }, parametersOf(sampler)), head.rounds);
  let piece = '';
  for await (const line of manifestLines(header, runs)) {
    piece += `${line}\n`;
    if (piece.length < PIECE_CHARS) continue;
    yield new TextEncoder().encode(piece);
    piece = '';
  }
  yield new TextEncoder().encode(piece);
}

/** The members of a line that follow from the run's number. */
type Drawn = Pick<ManifestRun, 'parameters' | 'draw' | 'minus_zero'>;

const parametersOf =
  (sampler: Sampler) =>
  (runId: number): Drawn => {
    const parameters = sampler.parameters(runId);
    const draw = sampler.drawOf?.(runId);
    if (draw === undefined) return { parameters };
    const minusZero = Object.keys(parameters).filter((name) => Object.is(parameters[name], -0));
    return { parameters, draw, ...(minusZero.length === 0 ? {} : { minus_zero: minusZero }) };
  };

/** The lines of the runs, each after those of the rounds up to its own; a batch may hold no run of a round. */
async function* withRounds(
  runs: AsyncIterable<ManifestRun>,
  rounds: RoundLookup | undefined,
): AsyncGenerator<ManifestRun | ManifestRound> {
  let next = 0;
  const upTo = function* (end: number): Generator<ManifestRound> {
    for (; rounds !== undefined && next < end; next++) yield rounds.heads[next]!;
  };
  for await (const run of runs) {
    if (rounds !== undefined) yield* upTo(rounds.roundOf(run.run_id) + 1);
    yield run;
  }
}

/** How many runs are in each class that has any. */
export async function countRuns(head: ReadingHead, next: NextRows): Promise<Record<string, number>> {
  const counter = new RunCounter();
  let recorded = 0;
  for await (const block of runBlocks(next)) {
    recorded += block.length;
    for (const run of block) counter.add({ class: classOf(run) });
  }
  const rest = head.isCancelled ? 'cancelled' : 'open';
  const counts = Object.fromEntries(RUN_CLASSES.map((name): [RunClass, number] => [name, counter.count(name)]));
  counts[rest] = (counts[rest] ?? 0) + head.totalJobs - recorded;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

async function* allRuns(
  {
    head,
    selection,
    next,
    names,
  }: { head: ReadingHead; selection: RunSelection; next: NextRows; names: readonly string[] },
  drawn: (runId: number) => Drawn,
): AsyncGenerator<ManifestRun> {
  const untouched = (index: number): ManifestRun => {
    const runId = selection.nth(index);
    const runClass = head.isCancelled ? 'cancelled' : 'open';
    return { run_id: runId, ...drawn(runId), class: runClass, result_digest: null };
  };
  let index = 0;
  for await (const block of runBlocks(next)) {
    for (const run of block) {
      for (const end = selection.indexFrom(run.runId); index < end; index++) yield untouched(index);
      index++;
      yield {
        run_id: run.runId,
        ...drawn(run.runId),
        class: classOf(run),
        ...codeOf(run),
        ...originOf(run),
        result_digest: digestOf(run, names),
      };
    }
  }
  for (; index < selection.count; index++) yield untouched(index);
}

const classOf = ({ job }: StoredRun): RunClass => runClassOf(job!.value, reasonOf(job!));

/** The code of the last attempt, where it is known. */
function codeOf({ job }: StoredRun): Pick<ManifestRun, 'code'> {
  const code = job && codeIn(job);
  return code === undefined ? {} : { code };
}

/** The run whose result it has. */
const originOf = ({ job }: StoredRun): Pick<ManifestRun, 'reused_from'> =>
  job?.reusedFrom === undefined ? {} : { reused_from: job.reusedFrom };

/** SHA-256 of the result as `GET /jobs/{job_id}/results` sends it; null where there is none. */
function digestOf({ job, result }: StoredRun, names: readonly string[]): string | null {
  if (result === undefined) return null;
  const sent = stringifyExact(toResult(result, job!, () => names));
  return createHash('sha256').update(sent, 'utf8').digest('hex');
}
