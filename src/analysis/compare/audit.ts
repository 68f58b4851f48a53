/** Repeated runs beside the original ones: which differ, on which runners, in which outputs. One pair of runs at a time. */
import { createHash } from 'node:crypto';
import type { AuditAnswer } from '../../contract/types.ts';
import type { RunClass } from '../table/run-class.ts';

/** A run as an audit sees it. */
export interface AuditedRun {
  class: RunClass;
  runner: string;
  /** JSON values of the outputs by flat name. */
  outputs: ReadonlyMap<string, unknown>;
}

type RunnerPair = AuditAnswer['runners'][number];
type DifferingOutput = AuditAnswer['outputs'][number];

/** Everything but the ids of the batches, the capabilities of runners and the runs that were not compared. */
export type AuditComparison = Pick<
  AuditAnswer,
  'compared' | 'identical' | 'differing' | 'same_runner' | 'differing_runs' | 'outputs'
> & { runners: Omit<RunnerPair, 'capabilities'>[] };

const MAX_RUNS = 1_000;
const MAX_OUTPUTS = 1_000;
const MAX_OUTPUTS_OF_RUN = 20;

/** SHA-256 over the class and the outputs in order of their names, 64 hex digits. */
export function outcomeDigest({ class: runClass, outputs }: AuditedRun): string {
  const sorted = [...outputs].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([runClass, sorted]))
    .digest('hex');
}

/** Collects the compared runs, in ascending order. */
export class AuditTally {
  #compared = 0;
  #differing = 0;
  #sameRunner = 0;
  readonly #runs: AuditAnswer['differing_runs'] = [];
  readonly #pairs = new Map<string, Omit<RunnerPair, 'capabilities'>>();
  readonly #outputs = new Map<string, DifferingOutput>();

  add(runId: number, before: AuditedRun, after: AuditedRun): void {
    this.#compared += 1;
    if (before.runner === after.runner) this.#sameRunner += 1;
    const key = JSON.stringify([before.runner, after.runner]);
    const pair = this.#pairs.get(key) ?? { before: before.runner, after: after.runner, compared: 0, differing: 0 };
    this.#pairs.set(key, pair);
    pair.compared += 1;
    const digests = [outcomeDigest(before), outcomeDigest(after)] as const;
    if (digests[0] === digests[1]) return;
    this.#differing += 1;
    pair.differing += 1;
    const outputs = differencesOf(before.outputs, after.outputs);
    for (const it of outputs) this.#addOutput(it);
    if (this.#runs.length >= MAX_RUNS) return;
    this.#runs.push({
      run_id: runId,
      before: { class: before.class, runner_id: before.runner, digest: digests[0] },
      after: { class: after.class, runner_id: after.runner, digest: digests[1] },
      outputs: outputs.slice(0, MAX_OUTPUTS_OF_RUN),
    });
  }

  result(): AuditComparison {
    const byDiffering = (a: { differing: number }, b: { differing: number }): number => b.differing - a.differing;
    return {
      compared: this.#compared,
      identical: this.#compared - this.#differing,
      differing: this.#differing,
      same_runner: this.#sameRunner,
      differing_runs: this.#runs,
      runners: [...this.#pairs.values()].sort(byDiffering),
      outputs: [...this.#outputs.values()].sort(byDiffering).slice(0, MAX_OUTPUTS),
    };
  }

  #addOutput({ name, before, after }: Difference): void {
    const known = this.#outputs.get(name);
    const size = sizeOf(before, after);
    if (known === undefined) {
      this.#outputs.set(name, { name, differing: 1, largest_difference: size });
      return;
    }
    known.differing += 1;
    if (size !== null) known.largest_difference = Math.max(size, known.largest_difference ?? size);
  }
}

interface Difference {
  name: string;
  before?: unknown;
  after?: unknown;
}

/** The members that differ, by name; a member is absent where a side lacks it. */
function differencesOf(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): Difference[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => (a < b ? -1 : 1));
  return differingMembers(
    names,
    (name) => before.get(name),
    (name) => after.get(name),
  );
}

/** The names whose values differ as JSON, with the values that there are. */
export function differingMembers(
  names: readonly string[],
  before: (name: string) => unknown,
  after: (name: string) => unknown,
): Difference[] {
  const differences: Difference[] = [];
  for (const name of names) {
    const [left, right] = [before(name), after(name)];
    if (JSON.stringify(left) === JSON.stringify(right)) continue;
    const difference: Difference = { name };
    if (left !== undefined) difference.before = left;
    if (right !== undefined) difference.after = right;
    differences.push(difference);
  }
  return differences;
}

/** The absolute difference of two finite numbers; null for other values. */
function sizeOf(before: unknown, after: unknown): number | null {
  if (typeof before !== 'number' || typeof after !== 'number') return null;
  const size = Math.abs(after - before);
  return Number.isFinite(size) ? size : null;
}
