/** Recounts a store from its single records and compares the result with its counters. */
import { batchIdOf } from '../../src/domain/ids.ts';
import { decodeBatch, decodeJob, decodeRunner, isTerminal } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { jobsByStatus } from '../../src/coordinator/kernel/records/to-resource.ts';

/** Returns all inconsistencies, one sentence each. */
export function recount(records: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  const counted = new Map<string, Record<string, number>>();
  const held = new Map<string, string>();
  for (const [key, text] of records) {
    const [, kind, id = ''] = /^!(\w+)!(.*)$/.exec(key) ?? [];
    if (kind === 'runner') for (const { jobId } of decodeRunner(text).context.held) held.set(jobId, id);
    if (kind === 'batch') {
      const batch = decodeBatch(text);
      counted.set(id, jobsByStatus(batch));
      if (!records.has(`!submission!${id}`)) faults.push(`batch ${id} has no submission`);
      if (records.has(`!open!${id}`) === isTerminal(batch.value))
        faults.push(`batch ${id} is ${batch.value}, open or not`);
    }
  }
  const found = new Map<string, Record<string, number>>();
  for (const [key, text] of records) {
    const [, kind, id = ''] = /^!(\w+)!(.*)$/.exec(key) ?? [];
    if (kind !== 'job' && kind !== 'result') continue;
    const batchId = batchIdOf(id);
    const batch = records.get(`!batch!${batchId}`);
    if (batch === undefined) {
      if (!records.has(`!deletion!${batchId}`)) faults.push(`${key} is of no batch`);
      continue;
    }
    if (kind === 'result') {
      if (!records.has(`!job!${id}`)) faults.push(`result ${id} is of no job`);
      continue;
    }
    const { value, context } = decodeJob(id, text, decodeBatch(batch).context);
    const counts = found.get(batchId) ?? {};
    counts[value] = (counts[value] ?? 0) + 1;
    found.set(batchId, counts);
    const isActive = value === 'Claimed' || value === 'Running';
    if (isActive && held.get(id) !== context.runnerId) faults.push(`job ${id} is ${value} and not with its runner`);
    if (!isActive && held.has(id)) faults.push(`job ${id} is ${value} and held`);
    if ((value === 'Completed' || value === 'Failed') && !records.has(`!result!${id}`))
      faults.push(`no result of ${id}`);
  }
  for (const [batchId, counts] of counted) {
    for (const [status, count] of Object.entries(counts)) {
      const there = found.get(batchId)?.[status] ?? 0;
      // Untouched runs have no record.
      const fits = status === 'Pending' || status === 'Cancelled' ? there <= count : there === count;
      if (!fits) faults.push(`batch ${batchId} counts ${count} ${status}, and has ${there}`);
    }
  }
  return faults;
}
