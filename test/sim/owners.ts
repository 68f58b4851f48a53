/** The owners of a simulated world and their checks: who has cancelled a study, and core hours recounted from the attempts on the disk. */
import { decodeJob } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import type { DayUse } from '../../src/contract/types.ts';
import { charged } from '../../src/domain/budgets/day-use.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { study } from '../support/studies.ts';
import { insist } from './acknowledged.ts';
import { decodeBatch, recordsOf, type Disk } from './decoded.ts';
import type { Stage } from './scenario.ts';

export const OWNERS = ['alice', 'bob'] as const;
export type Owner = (typeof OWNERS)[number];
/** Some tens of runs of some seconds. */
export const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['alice', 0.02],
  ['*', 0.01],
]);

/** With a larger budget all studies come to their end. */
export async function liftBudgets(stage: Stage): Promise<void> {
  stage.budgets = new Map([['*', 1_000]]);
  await stage.restart();
}

/** A study of an owner; every third or so needs a license of the site. @param step makes its key */
export function submitAs(stage: Stage, owner: Owner, step: number): void {
  const { dice } = stage;
  const key = { idempotencyKey: `key ${step}`, bodyDigest: `key ${step}` };
  const resources = dice.chance(0.3) ? { comsol: 1 } : undefined;
  const config = resources === undefined ? {} : { compute: { resources } };
  const made = study({ name: owner, runs: 1 + dice.int(5), cpu: dice.pick(['0', '500m', '2']) ?? '0', config });
  stage.follow(`${owner} submits`, stage.api.as(owner).submit(made, key), [], {});
}

/** The row of the route. */
export const CANCEL = { operationId: 'cancelBatch', scope: 'submit', changes: 'steers' } as const;

/** No client without `operate` has cancelled a study of another. */
export function checkCancellations(disk: Disk): void {
  for (const [id, record] of recordsOf(disk, 'batch')) {
    const { owner, history } = decodeBatch(record).context;
    for (const { type, by } of history?.entries ?? [])
      insist(type !== 'cancelled' || by === undefined || by === owner, () => {
        return `batch ${id} of ${owner} was cancelled by ${by}`;
      });
  }
}

/** Each record has the time of the ended attempts on the disk, and no run of an owner without hours may be claimed. Returns the owners without. */
export function checkBudgets({ disk, parts }: Stage): number {
  const uses = new Map<string, DayUse>();
  for (const [id, record] of recordsOf(disk, 'job')) {
    const { context: batch } = decodeBatch(disk.get(keys.batch(batchIdOf(id)))!);
    const { attempts } = decodeJob(id, record, batch).context;
    for (const { started, ended } of attempts) {
      if (started === undefined || ended === undefined) continue;
      const owner = batch.owner ?? '';
      const cpuMilli = batch.cpuMilli === 0 ? 1_000 : batch.cpuMilli;
      uses.set(owner, charged(uses.get(owner) ?? {}, { cpuMilli, fromMs: started, toMs: ended }));
    }
  }
  for (const owner of new Set([...uses.keys(), ...[...recordsOf(disk, 'budget')].map(([it]) => it)])) {
    const [stored, recounted] = [disk.get(keys.budget(owner)) ?? '{}', JSON.stringify(uses.get(owner) ?? {})];
    insist(stored === recounted, () => {
      return `the record of ${owner} has ${stored} core-milliseconds, and the attempts on the disk ${recounted}`;
    });
  }
  const { budgets, scheduler } = parts;
  const used =
    budgets
      ?.shown()
      .budgets.filter((it) => it.is_used)
      .map((it) => it.owner) ?? [];
  for (const { context } of scheduler.waiting())
    insist(!used.includes(context.owner), () => {
      return `${context.owner} has used its budget, and a run of ${context.batchId} may be claimed`;
    });
  return used.length;
}
