/**
 * Repairs a damaged data directory into a new one: copies every whole record, makes the records agree with each other, and
 * names what is lost. The damaged directory is kept as it is.
 */
import { Level } from 'level';
import { mkdir, rm } from 'node:fs/promises';
import { decodeBatch, decodeRunner } from '../kernel/actors/actor-kinds.ts';
import { FamilyIndex } from '../kernel/records/family.ts';
import { KeyGroups } from '../kernel/records/key-groups.ts';
import { makeStore } from '../kernel/storage/create-store.ts';
import { lockDirectory } from '../kernel/storage/directory-lock.ts';
import type { EngineView } from '../kernel/storage/engine.ts';
import { FORMAT_KEY } from '../kernel/storage/integrity/group-chain.ts';
import { readIdentity } from '../kernel/storage/integrity/identity.ts';
import { verifyFiles, type VerifiedFiles } from '../kernel/storage/integrity/verify-files.ts';
import { HistoryAccounts } from '../histories/account.ts';
import { encodeResult } from '../kernel/actors/job-codec.ts';
import { jobId as jobIdOf } from '../../domain/ids.ts';
import type { StoredResult } from '../../contract/types.ts';
import { allOf, idOf, isResultKey, keys, ROUND_KINDS, type KeyKind } from '../kernel/storage/keys.ts';
import { openLevelEngine } from '../kernel/storage/leveldb/level-engine.ts';
import type { Store } from '../kernel/storage/store.ts';
import { conditionVariables } from '../../domain/study/condition.ts';
import { decodeSubmission, selectionOf } from '../kernel/records/study-cache.ts';
import { Unplaced } from './unplaced.ts';
import { unrepairable } from './unrepairable.ts';
import { cloneFiles } from './clone.ts';
import { joinRecords, type BatchRecords } from './join-records.ts';
import { BatchRepair } from './repair-batch.ts';
import { repairRounds } from './repair-rounds.ts';
import { roundsWithout } from './rounds-without.ts';
import { wholeRecord, wholeRecords } from './read-records.ts';
import { salvageTables } from './salvage-tables.ts';
import { holders, type Holder } from './recount.ts';
import { EVERYTHING, type Progress } from './verify.ts';

export interface RepairReport {
  /** Records in the new directory. */
  records: number;
  /** The damage, and every loss and change by name. */
  findings: string[];
  /** Findings that are losses; 0: every record was saved. */
  losses: number;
}

const GROUP = 500;
/** Kinds that are repaired or rebuilt, and the store's own records. */
const REPAIRED_KINDS = [
  'batch',
  'submission',
  'open',
  'family',
  'key-group',
  // Left out: the coordinator lists the studies that are left when it opens the directory.
  'study',
  'job',
  'result',
  'history',
  'requeue',
  'runner',
  'deletion',
  ...ROUND_KINDS,
  // Left out: the coordinator judges the runs that are left again.
  'verdicts',
  'idempotency',
  'meta',
] as const satisfies readonly KeyKind[];

/**
 * Saves the whole records of `directory` in the new directory `target`; those of batches that cannot be served any more, in `<target>.unplaced.ndjson`.
 * @throws SimbatchError `store-locked`, `store-unusable` when `target` is not empty or nothing can be read
 */
export async function repairStore(
  directory: string,
  target: string,
  now: number,
  progress: Progress = () => {},
): Promise<RepairReport> {
  const lock = await lockDirectory(directory);
  const clone = `${target}.repairing-${process.pid}`;
  const unplaced = new Unplaced(`${target}.unplaced.ndjson`);
  try {
    const report = await makeStore(target, async (store) => {
      const files = await verifyFiles(directory, (done, total) => progress('files', done, total));
      await mkdir(clone, { recursive: true });
      await cloneFiles(directory, clone);
      const lost = await salvageTables(clone, files.faults);
      if (files.faults.length > 0) await repairFiles(clone);
      return new Repair(store, unplaced, now, progress).run(directory, clone, files, lost);
    });
    await unplaced.close();
    return report;
  } catch (error) {
    await unplaced.remove();
    throw error;
  } finally {
    await rm(clone, { recursive: true, force: true });
    await lock.release();
  }
}

/** LevelDB's own repair: it rebuilds the manifest from the tables and logs that it can read. */
async function repairFiles(clone: string): Promise<void> {
  await (Level as unknown as { repair(location: string): Promise<void> }).repair(clone);
}

class Repair {
  readonly #store: Store;
  readonly #now: number;
  readonly #progress: Progress;
  readonly #report: RepairReport = { records: 0, findings: [], losses: 0 };
  readonly #unplaced: Unplaced;
  readonly #families = new FamilyIndex();
  readonly #groups = new KeyGroups();
  readonly #histories = new HistoryAccounts();
  #group: [string, string][] = [];

  constructor(store: Store, unplaced: Unplaced, now: number, progress: Progress) {
    this.#store = store;
    this.#unplaced = unplaced;
    this.#now = now;
    this.#progress = progress;
  }

  async run(
    directory: string,
    clone: string,
    files: VerifiedFiles,
    lostInTables: readonly string[],
  ): Promise<RepairReport> {
    const { findings } = this.#report;
    for (const { file, problem } of files.faults) {
      // LevelDB's repair skips the damaged part of a log.
      if (file.endsWith('.log')) this.#lose(`${file}: ${problem}`);
      else findings.push(`${file}: ${problem}`);
    }
    for (const it of lostInTables) this.#lose(it);
    const engine = await openLevelEngine(clone);
    try {
      // The repair leaves tables that overlap, whose numbers do not follow their age: a single record would be read from a wrong one.
      if (files.faults.length > 0) await engine.compact(EVERYTHING);
      if (engine.get(FORMAT_KEY) === '1') throw unrepairable(directory, 'its format is 1, which has no checksums');
      const { last, faults } = readIdentity(engine, files.mark);
      for (const { file, problem } of faults) findings.push(`${file}: ${problem}`);
      const lost = (files.mark?.number ?? 0) - last.number;
      if (lost > 0) this.#lose(`the last ${lost} groups are lost, with changes that cannot be named`);
      const view = engine.snapshot();
      try {
        await this.#copy(view);
      } finally {
        await view.close();
      }
    } finally {
      await engine.close();
    }
    return this.#report;
  }

  async #copy(view: EngineView): Promise<void> {
    await this.#reportDamaged(view);
    const held = await holders(view, (fault) => this.#report.findings.push(fault));
    const kept = new Set<string>();
    const batches = new Set<string>();
    for await (const records of joinRecords(view)) await this.#batch(view, records, held, kept, batches);
    await this.#roundsWithoutBatch(view, batches);
    for (const [familyId, family] of this.#families.records()) await this.#put([[keys.family(familyId), family]]);
    for (const [group, members] of this.#groups.records()) await this.#put([[keys['key-group'](group), members]]);
    await this.#copyHistories(view);
    await this.#runners(view, kept);
    await this.#idempotency(view, batches);
    await this.#others(view);
    await this.#flush();
  }

  /** Keeps a record of a batch that cannot be served. */
  async #leave(key: string, value: string | undefined): Promise<void> {
    if (value !== undefined) await this.#unplaced.add(key, value);
  }

  #lose(finding: string): void {
    this.#report.findings.push(finding);
    this.#report.losses += 1;
  }

  async #reportDamaged(view: EngineView): Promise<void> {
    const report = (key: string): void => {
      this.#lose(`${key}: the checksum of the record does not match; the record is lost`);
    };
    let read = 0;
    for await (const _ of wholeRecords(view, EVERYTHING, report)) {
      read += 1;
      if (read % 1_000 === 0) this.#progress('records', read, 0);
    }
  }

  async #batch(
    view: EngineView,
    records: BatchRecords,
    held: Map<string, Holder>,
    kept: Set<string>,
    batches: Set<string>,
  ): Promise<void> {
    const { batchId, batch, submission, deletion, runs } = records;
    if (batch === undefined || submission === undefined) {
      let dropped = 0;
      const isDeleted = deletion !== undefined;
      for await (const { jobId, job, result } of runs) {
        dropped += 1;
        if (!isDeleted) await this.#leave(keys.job(jobId), job);
        if (!isDeleted) await this.#leave(keys.result(jobId), result);
      }
      if (isDeleted) return;
      await this.#leave(keys.batch(batchId), batch);
      await this.#leave(keys.submission(batchId), submission);
      const missing = batch === undefined ? 'record' : 'submission';
      this.#lose(
        `study ${batchId}: its ${missing} is lost; the records of ${dropped} runs are in ${this.#unplaced.path}`,
      );
      return;
    }
    const report = (it: string, isLoss?: true): void => {
      if (isLoss === true) this.#lose(it);
      else this.#report.findings.push(it);
    };
    const stored = decodeBatch(batch);
    const study = decodeSubmission(submission).submission;
    const put = (changes: readonly [string, string][]): Promise<void> => this.#put(changes);
    const rounds =
      study.config.adaptive === undefined
        ? undefined
        : await repairRounds({ view, now: this.#now, report, put }, stored.context, study);
    const state = { value: stored.value, context: rounds?.context ?? stored.context };
    const selection = selectionOf(state.context, submission);
    const limits = conditionVariables(study.config.early_termination);
    const repair = new BatchRepair(state, selection, limits, this.#now, report, rounds?.isLost);
    this.#histories.submission(batchId, submission);
    for await (const run of runs) {
      const changes = repair.run(run, held.get(run.jobId));
      for (const [key, value] of changes) if (isResultKey(key)) this.#histories.result(idOf(key), value);
      await this.#put(changes);
    }
    await this.#put(repair.finish());
    await this.#put([[keys.submission(batchId), submission]]);
    batches.add(batchId);
    this.#families.add(state.context);
    this.#groups.add(batchId, decodeSubmission(submission));
    for (const jobId of repair.held) kept.add(jobId);
  }

  /** Copies the histories that the results have, and takes the others out of the results, so that they are missing and not damaged. */
  async #copyHistories(view: EngineView): Promise<void> {
    for await (const [key, values] of wholeRecords(view, allOf('history'))) {
      const fault = this.#histories.history(key, values);
      if (fault === undefined) await this.#put([[key, values]]);
      else this.#report.findings.push(`the record ${key} ${fault}; it is dropped`);
    }
    for (const { batchId, run, count } of this.#histories.missing()) {
      this.#lose(`run ${run} of study ${batchId}: ${count} of its histories are lost`);
      const id = jobIdOf(batchId, run);
      const { history_count: left = 0, ...result } = JSON.parse(wholeRecord(view, keys.result(id))!) as StoredResult;
      await this.#put([[keys.result(id), encodeResult({ ...result, history_count: left - count })]]);
    }
  }

  async #runners(view: EngineView, kept: ReadonlySet<string>): Promise<void> {
    for await (const [key, record] of wholeRecords(view, allOf('runner'))) {
      const { value, context } = decodeRunner(record);
      const held = context.held.filter(({ jobId }) => kept.has(jobId));
      if (held.length < context.held.length) {
        this.#report.findings.push(`runner ${idOf(key)}: it no longer holds ${context.held.length - held.length} runs`);
      }
      const status = value === 'Busy' && held.length === 0 ? 'Idle' : value;
      await this.#put([[key, JSON.stringify({ value: status, ...context, held })]]);
    }
  }

  async #idempotency(view: EngineView, batches: ReadonlySet<string>): Promise<void> {
    for await (const [key, record] of wholeRecords(view, allOf('idempotency'))) {
      // The stored answer of an idempotency key is that of a submission, or a batch.
      const { response } = JSON.parse(record) as { response?: { batch_id?: string; id?: string } };
      if (batches.has(response?.batch_id ?? response?.id ?? '')) await this.#put([[key, record]]);
    }
  }

  /** The rounds of batches that are lost; those of a deleted one are not kept. */
  async #roundsWithoutBatch(view: EngineView, batches: ReadonlySet<string>): Promise<void> {
    for await (const { batchId, key, record, isDeleted } of roundsWithout(view, (id) => batches.has(id))) {
      if (isDeleted) continue;
      await this.#leave(key, record);
      if (key.startsWith(allOf('round').gte))
        this.#lose(`study ${batchId}: it is lost, and a round of it is in ${this.#unplaced.path}: ${key}`);
    }
  }

  /** Records of kinds that no repair is known for are copied as they are. */
  async #others(view: EngineView): Promise<void> {
    for await (const [key, record] of wholeRecords(view, EVERYTHING)) {
      if (REPAIRED_KINDS.some((kind) => key.startsWith(allOf(kind).gte))) continue;
      await this.#put([[key, record]]);
    }
  }

  async #put(changes: readonly [string, string][]): Promise<void> {
    for (const change of changes) this.#group.push(change);
    this.#report.records += changes.length;
    if (this.#group.length >= GROUP) await this.#flush();
  }

  async #flush(): Promise<void> {
    const group = this.#group;
    this.#group = [];
    await this.#store.write(group);
  }
}
