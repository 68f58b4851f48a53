/** Recounts the records of a store: counters against jobs, indexes against records, runners against the jobs they hold. */
import { untouchedRuns } from '../../../machines/batch.ts';
import type { RunSelection } from '../../domain/runs/run-selection.ts';
import { RoundChain } from '../kernel/records/round-chain.ts';
import { recordDigest } from '../kernel/records/stored-rounds.ts';
import { decodeSubmission, selectionOf } from '../kernel/records/study-cache.ts';
import { rowDesign } from '../../domain/adaptive/given-rows.ts';
import { runIdOf } from '../../domain/ids.ts';
import type { JobStatus, RoundRecord, StoredResult } from '../../contract/types.ts';
import { FamilyIndex } from '../kernel/records/family.ts';
import { KeyGroups } from '../kernel/records/key-groups.ts';
import { entriesOf, isIndexed, listedBatch } from '../kernel/records/study-index.ts';
import { decodeBatch, decodeJob, decodeRunner, isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { jobsByStatus } from '../kernel/records/to-resource.ts';
import type { EngineView } from '../kernel/storage/engine.ts';
import { HistoryAccounts } from '../histories/account.ts';
import { allOf, idOf, keys } from '../kernel/storage/keys.ts';
import { joinRecords, type BatchRecords, type RunRecords } from './join-records.ts';
import { wholeRecord, wholeRecords } from './read-records.ts';
import { roundsWithout } from './rounds-without.ts';

/** The runner and the attempt of a held run. */
export interface Holder {
  runnerId: string;
  attempt: number;
}

/** Job -> holder, by the records of the runners. */
export async function holders(view: EngineView, report: (fault: string) => void): Promise<Map<string, Holder>> {
  const found = new Map<string, Holder>();
  for await (const [key, record] of wholeRecords(view, allOf('runner'))) {
    const runnerId = idOf(key);
    for (const { jobId, attempt } of decodeRunner(record).context.held) {
      const other = found.get(jobId);
      if (other !== undefined) report(`run ${jobId} is held by runner ${other.runnerId} and by runner ${runnerId}`);
      found.set(jobId, { runnerId, attempt });
    }
  }
  return found;
}

/** Reports each inconsistency of the whole records, one sentence each. */
export async function recount(view: EngineView, report: (fault: string) => void): Promise<void> {
  const held = await holders(view, report);
  const families = new FamilyIndex();
  const groups = new KeyGroups();
  const listed = await listedStudies(view, report);
  const histories = new HistoryAccounts();
  for await (const records of joinRecords(view)) {
    if (records.batch !== undefined) families.add(decodeBatch(records.batch).context);
    if (records.batch !== undefined && records.submission !== undefined)
      groups.add(records.batchId, decodeSubmission(records.submission));
    recountEntries(view, records, listed.get(records.batchId) ?? 0, report);
    histories.submission(records.batchId, records.submission);
    await recountBatch(records, held, histories, report);
    recountRounds(view, records, report);
  }
  const stored = wholeRecords(view, allOf('history'));
  for await (const fault of histories.faults(stored, (id) => isDeleted(view, id))) report(fault);
  await recountFamilies(view, families, report);
  await recountGroups(view, groups, report);
  await recountOrphans(view, report);
  for (const [jobId, { runnerId }] of held) report(`runner ${runnerId} holds run ${jobId}, which is not active`);
}

/** Each round has its batch, each block of rows and each key its round. */
async function recountOrphans(view: EngineView, report: (fault: string) => void): Promise<void> {
  const isThere = (batchId: string): boolean => wholeRecord(view, keys.batch(batchId)) !== undefined;
  const counts = new Map<string, number>();
  for await (const { batchId, key, isDeleted } of roundsWithout(view, isThere)) {
    if (!isDeleted && key.startsWith(allOf('round').gte)) counts.set(batchId, (counts.get(batchId) ?? 0) + 1);
  }
  for (const [batchId, rounds] of counts) report(`study ${batchId} has no record, and ${rounds} rounds`);
  let latest = '';
  for await (const [key] of wholeRecords(view, allOf('rows'))) {
    const place = idOf(key).split('/').slice(0, 2).join('/');
    if (place === latest) continue;
    latest = place;
    const [batchId = '', round = ''] = place.split('/');
    const number = Number.parseInt(round, 16);
    if (wholeRecord(view, keys.round(batchId, number)) === undefined && !isDeleted(view, batchId))
      report(`study ${batchId} has rows of round ${number}, which has no record`);
  }
  for await (const [key, record] of wholeRecords(view, allOf('round-key'))) {
    const [batchId = ''] = idOf(key).split('/', 1);
    const round = wholeRecord(view, keys.round(batchId, Number(record)));
    const named = idOf(key).slice(batchId.length + 1);
    if ((round === undefined || (JSON.parse(round) as RoundRecord).key !== named) && !isDeleted(view, batchId))
      report(
        `study ${batchId}: the key ${JSON.stringify(named)} names round ${record}, which has another one or no record`,
      );
  }
}

/** The records of a deleted batch, or of a copy that was not finished, are removed by the coordinator. */
const isDeleted = (view: EngineView, batchId: string): boolean =>
  wholeRecord(view, keys.deletion(batchId)) !== undefined;

/** Each record of a family lists the batches whose records name it, and no other. */
async function recountFamilies(
  view: EngineView,
  families: FamilyIndex,
  report: (fault: string) => void,
): Promise<void> {
  const expected = new Map(families.records());
  for await (const [key, record] of wholeRecords(view, allOf('family'))) {
    const familyId = idOf(key);
    if (expected.get(familyId) !== record) {
      report(`the record of the family of study ${familyId} does not list the studies that came of it`);
    }
    expected.delete(familyId);
  }
  for (const familyId of expected.keys()) report(`the record of the family of study ${familyId} is missing`);
}

/** Each record of studies whose runs can have the same keys lists those that exist: no other, and, unless it is of an older version, all. */
async function recountGroups(view: EngineView, groups: KeyGroups, report: (fault: string) => void): Promise<void> {
  const expected = new Map(groups.records());
  for await (const [key, record] of wholeRecords(view, allOf('key-group'))) {
    const members = new Set(JSON.parse(expected.get(idOf(key)) ?? '[]') as string[]);
    for (const batchId of JSON.parse(record) as string[]) {
      if (!members.has(batchId)) report(`the record ${key} lists study ${batchId}, which is not one of its studies`);
    }
  }
}

/** Counts the entries of each study in the index of studies; every one is of a batch that exists. */
async function listedStudies(view: EngineView, report: (fault: string) => void): Promise<Map<string, number>> {
  const listed = new Map<string, number>();
  for await (const [key] of wholeRecords(view, allOf('study'))) {
    const batchId = listedBatch(key);
    if (wholeRecord(view, keys.batch(batchId)) === undefined)
      report(`the record ${key} lists study ${batchId}, which has no record`);
    else listed.set(batchId, (listed.get(batchId) ?? 0) + 1);
  }
  return listed;
}

/** A study is listed under its design and its name and nowhere else, unless it waits for that; a batch that comes of another one is not listed. */
function recountEntries(
  view: EngineView,
  { batchId, batch, submission }: BatchRecords,
  listed: number,
  report: (fault: string) => void,
): void {
  if (batch === undefined || submission === undefined) return;
  const isListed = decodeBatch(batch).context.parent === undefined;
  const entries = isListed ? entriesOf(batchId, submission) : [];
  const found = entries.filter((key) => wholeRecord(view, key) !== undefined).length;
  if (found < entries.length && isIndexed((key) => wholeRecord(view, key), batchId))
    report(`study ${batchId} is missing in the list of the studies with its design or its name`);
  if (found < listed) report(`study ${batchId} is listed with another design or name than its own`);
}

async function recountBatch(
  { batchId, batch: record, submission, open, deletion, runs }: BatchRecords,
  held: Map<string, Holder>,
  histories: HistoryAccounts,
  report: (fault: string) => void,
): Promise<void> {
  const batch = record === undefined ? undefined : decodeBatch(record);
  const selection = batch === undefined ? undefined : selectionIn(batch, submission);
  const counts = new Map<JobStatus, number>();
  let touched = 0;
  let cancelledAhead = 0;
  let orphans = 0;
  let next = 0;
  let reported = 0;
  for await (const run of runs) {
    if (batch === undefined) {
      orphans += 1;
      continue;
    }
    const status = recountRun(run, batch, held, report);
    if (run.result !== undefined && hasTelemetry(run.result)) reported += 1;
    if (run.result !== undefined) histories.result(run.jobId, run.result);
    if (status === undefined) continue;
    counts.set(status, (counts.get(status) ?? 0) + 1);
    touched += 1;
    if (selection === undefined) continue;
    const index = selection.indexFrom(runIdOf(run.jobId));
    if (index >= batch.context.next) cancelledAhead += 1;
    else {
      if (index > next) reportLost(batch, selection, next, index, report);
      next = index + 1;
    }
  }
  if (batch === undefined) {
    // A deleted batch leaves records until its purge has ended.
    if (deletion === undefined) {
      report(`study ${batchId} has no record; ${orphans} records of its runs, submission ${submission !== undefined}`);
    }
    return;
  }
  const { value, context } = batch;
  if (selection !== undefined) reportLost(batch, selection, next, context.next, report);
  if (submission === undefined) report(`study ${batchId} has no submission`);
  if ((open !== undefined) === isTerminal(value)) {
    report(
      `study ${batchId} is ${value}, and its index record of open studies is ${open === undefined ? 'missing' : 'there'}`,
    );
  }
  const derived = context.cancelRequested ? context.totalJobs - touched : 0;
  const expected = jobsByStatus(batch);
  for (const [status, counted] of Object.entries(expected)) {
    const ofRecords = counts.get(status as JobStatus) ?? 0;
    const found =
      ofRecords + (status === 'Cancelled' ? derived : 0) + (status === 'Pending' ? untouchedRuns(context) : 0);
    if (found !== counted) report(`study ${batchId} counts ${counted} ${status} runs, and its records have ${found}`);
  }
  const { reported: counted = 0 } = context.telemetry ?? {};
  if (reported !== counted) {
    report(`study ${batchId} counts the telemetry of ${counted} runs, and its results have that of ${reported}`);
  }
  if (selection !== undefined && cancelledAhead !== context.cancelledAhead) {
    report(
      `study ${batchId} counts ${context.cancelledAhead} runs cancelled ahead, and its records have ${cancelledAhead}`,
    );
  }
}

const hasTelemetry = (result: string): boolean => (JSON.parse(result) as StoredResult).telemetry !== undefined;

/** The runs of the batch; undefined when it selects runs and the submission that names them is missing. */
function selectionIn({ context }: BatchState, submission: string | undefined): RunSelection | undefined {
  if (context.selectsRuns === true && submission === undefined) return undefined;
  return selectionOf(context, submission ?? '');
}

/** Returns the runs in words: `3 to 7`, or in the notation of selections. */
function shown(lost: RunSelection): string {
  const [range, ...others] = lost.ranges;
  if (range !== undefined && others.length === 0 && range.step === 1) return `${range.first} to ${range.last}`;
  const text = lost.toString();
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** Runs below the cursor have a record, unless they were cancelled with their batch. */
function reportLost(
  { context }: BatchState,
  selection: RunSelection,
  from: number,
  to: number,
  report: (fault: string) => void,
): void {
  if (context.cancelRequested || from >= to) return;
  const lost = selection.drop(from).take(to - from);
  const which = to - from === 1 ? `run ${lost.toString()}` : `runs ${shown(lost)}`;
  report(`study ${context.batchId}: the record of ${which} is missing`);
}

function recountRun(
  { jobId, job, result, requeue }: RunRecords,
  { context }: BatchState,
  held: Map<string, Holder>,
  report: (fault: string) => void,
): JobStatus | undefined {
  if (job === undefined) {
    report(`run ${jobId} has no record, and ${result === undefined ? 'an index record' : 'a result'}`);
    return undefined;
  }
  const { value, context: own } = decodeJob(jobId, job, context);
  const isActive = value === 'Claimed' || value === 'Running';
  const holder = held.get(jobId);
  held.delete(jobId);
  if (isActive && (holder?.runnerId !== own.runnerId || holder?.attempt !== own.attempt)) {
    report(`run ${jobId} is ${value} on runner ${own.runnerId}, which does not hold it`);
  }
  if (!isActive && holder !== undefined) report(`run ${jobId} is ${value}, and runner ${holder.runnerId} holds it`);
  if ((requeue !== undefined) !== (value === 'Pending')) {
    report(
      `run ${jobId} is ${value}, and its index record of requeued runs is ${requeue === undefined ? 'missing' : 'there'}`,
    );
  }
  const hasResult = value === 'Completed' || value === 'Failed' || value === 'Timeout';
  if (hasResult !== (result !== undefined)) {
    report(`run ${jobId} is ${value}, and its result is ${result === undefined ? 'missing' : 'there'}`);
  }
  return value;
}

/** The rounds of an adaptive batch: rows that match their digests, the chain of records, and the counters of the batch. */
function recountRounds(
  view: EngineView,
  { batchId, batch, submission }: BatchRecords,
  report: (fault: string) => void,
): void {
  if (batch === undefined || submission?.includes('"adaptive"') !== true) return;
  const { config } = decodeSubmission(submission).submission;
  if (config.adaptive === undefined) return;
  const { parent, budget, rounds = 0, totalJobs } = decodeBatch(batch).context;
  const shape = rowDesign(config);
  const start = parent === undefined ? recordDigest(submission) : undefined;
  const chain = new RoundChain(shape, start, (fault, isMarked) => {
    if (isMarked !== true) report(`study ${batchId}: ${fault}`);
  });
  for (let number = 0; ; number++) {
    const record = wholeRecord(view, keys.round(batchId, number));
    if (record === undefined) {
      if (number >= rounds) break;
      report(`study ${batchId}: the record of round ${number} is missing`);
      continue;
    }
    chain.round(record);
    const { key } = JSON.parse(record) as RoundRecord;
    for (let block = 0; chain.expectsBlock; block++) chain.block(wholeRecord(view, keys.rows(batchId, number, block)));
    if (key !== null && wholeRecord(view, keys['round-key'](batchId, key)) !== String(number)) {
      report(`study ${batchId}: the key of round ${number} is missing or names another round`);
    }
  }
  chain.finish();
  if (budget !== undefined && (chain.rounds !== rounds || chain.runs !== totalJobs)) {
    report(
      `study ${batchId} counts ${rounds} rounds with ${totalJobs} runs, and its records have ${chain.rounds} with ${chain.runs}`,
    );
  }
}
