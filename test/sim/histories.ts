/** Histories in simulated worlds: those that runners report of studies that declare them, and the check that none is lost, doubled or of another run. */
import type { BatchConfig, StoredResult, Uuid } from '../../src/contract/types.ts';
import { allOf, historyAt, idOf, keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { encodeHistory } from '../../src/domain/histories/values.ts';
import { batchIdOf, jobId, runIdOf } from '../../src/domain/ids.ts';
import { insist } from './acknowledged.ts';

const NAMES = ['a', 'b'] as const;
export const SIM_HISTORIES: NonNullable<BatchConfig['histories']> = NAMES.map((variable) => ({
  variable,
  at: { points: [0, 1, 4] },
}));

/** Another value in each run and history, the last one missing. */
const valuesOf = (run: number, place: number): string => encodeHistory([run, place + 0.5, Number.NaN]);

export class SimHistories {
  readonly #batches = new Set<Uuid>();

  /** Takes the configuration of a study of which a runner has a run. */
  claimed(batchId: Uuid, { histories }: Pick<BatchConfig, 'histories'>): void {
    if ((histories?.length ?? 0) > 0) this.#batches.add(batchId);
  }

  /** The member of the result of a run whose study declares histories. */
  of(id: Uuid): { histories?: Record<string, string> } {
    if (!this.#batches.has(batchIdOf(id))) return {};
    return { histories: Object.fromEntries(NAMES.map((name, place) => [name, valuesOf(runIdOf(id), place)])) };
  }
}

/** Each run has the histories that its result says it left, with its own values, and no other has any. */
export function checkHistories(disk: ReadonlyMap<string, string>): void {
  const { gte, lt } = allOf('result');
  let expected = 0;
  for (const [key, record] of disk) {
    if (key < gte || key >= lt || !record.includes('"history_count"')) continue;
    const { job_id: id, history_count: count = 0 } = JSON.parse(record) as StoredResult;
    insist(count === NAMES.length, () => `job ${id} has ${count} histories, its runner reported ${NAMES.length}`);
    for (const place of NAMES.keys()) {
      const stored = disk.get(keys.history(batchIdOf(id), place, runIdOf(id)));
      insist(stored === valuesOf(runIdOf(id), place), () => `job ${id} has lost its history ${place}, or has another`);
    }
    expected += count;
  }
  const histories = [...disk.keys()].filter((key) => key >= allOf('history').gte && key < allOf('history').lt);
  if (histories.length === expected) return;
  for (const key of histories) {
    const { batchId, run } = historyAt(idOf(key));
    const result = disk.get(keys.result(jobId(batchId, run)));
    const isOwned = result?.includes('"history_count"') === true || disk.has(keys.deletion(batchId));
    insist(isOwned, () => `the history ${key} is of a run without a result that says so`);
  }
}
