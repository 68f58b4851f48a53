/** The acknowledged changes: everything that clients and runners received an answer for, checked against the disk. */
import type {
  AttemptRef,
  JobRecord,
  JobStatus,
  Judgement,
  Report,
  RunnerContext,
  Uuid,
} from '../../src/contract/types.ts';
import { derivedJob } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { StudyCache } from '../../src/coordinator/kernel/records/study-cache.ts';
import { batchIdOf, runIdOf } from '../../src/domain/ids.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { decodeBatch, decodeRunner, storedJob } from './decoded.ts';

export class Violation extends Error {}

export function insist(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Violation(message());
}

interface PausableBatch {
  value: string;
  pausedAtMs: number;
}
const TERMINAL = ['Completed', 'Failed', 'Timeout', 'Cancelled'];

export class Acknowledged {
  readonly #disk: ReadonlyMap<string, string>;
  /** The batch of each acknowledged idempotency key. */
  readonly batchOfKey = new Map<string, Uuid>();
  readonly ends = new Map<Uuid, JobStatus>();
  readonly cancelledBatches = new Set<Uuid>();
  /** Drained runners without a resume request, with the attempts they held when the drain was acknowledged. */
  readonly drained = new Map<string, Set<string>>();
  /** Paused batches without a resume request. */
  readonly pausedBatches = new Set<Uuid>();
  /** The latest acknowledged judgement of each batch. */
  readonly #judgements = new Map<Uuid, Judgement>();
  /** Runners that have signed off and not begun to register since. */
  readonly signedOff = new Set<string>();
  readonly #completedBy = new Map<Uuid, number>();
  /** The outcome that a runner has reported of an attempt of its own. */
  readonly #sent = new Map<string, string>();

  constructor(disk: ReadonlyMap<string, string>) {
    this.#disk = disk;
  }

  #job(id: Uuid): JobRecord {
    const record = this.#disk.get(keys.job(id));
    insist(record !== undefined, () => `job ${id} was acknowledged and is not on disk`);
    return storedJob(record);
  }

  /** The status of a run without a record follows from its batch. */
  #derived(id: Uuid): string {
    const record = this.#disk.get(keys.batch(batchIdOf(id)));
    if (record === undefined) return 'lost';
    const batch = decodeBatch(record);
    const studies = new StudyCache({ read: (key) => this.#disk.get(key) });
    const index = studies.indexOf(batch.context, runIdOf(id));
    return index === undefined ? 'not selected' : derivedJob(id, runIdOf(id), index, batch).value;
  }

  submitted(key: string, batchId: Uuid): void {
    const known = this.batchOfKey.get(key);
    insist(known === undefined || known === batchId, () => `key ${key} made two batches: ${known} and ${batchId}`);
    this.batchOfKey.set(key, batchId);
  }

  amended(judgement: Judgement): void {
    const known = this.#judgements.get(judgement.batch_id);
    if ((known?.revision ?? 0) <= judgement.revision) this.#judgements.set(judgement.batch_id, judgement);
  }

  /** A report was accepted: the history must have the attempt with that runner and the reported outcome. */
  reported(type: Report['type'], runnerId: string, jobId: Uuid, attempt: number): void {
    const job = this.#job(jobId);
    const record = job.attempts.find((it) => it.n === attempt);
    insist(record?.runner === runnerId, () => `job ${jobId}: took ${type} of attempt ${attempt} from ${runnerId}`);
    if (type === 'start') insist(record.started !== undefined, () => `job ${jobId}: start of ${attempt} is lost`);
    if (type === 'hand_back' || type === 'release') {
      insist(record.outcome === 'released', () => `job ${jobId}: the hand-back of ${attempt} is lost`);
    }
    if (type === 'fail') {
      insist(['failed', 'timeout'].includes(record.outcome ?? ''), () => `job ${jobId}: failure of ${attempt} is lost`);
    }
    if (type !== 'complete') return;
    insist(record.outcome === 'completed', () => `job ${jobId}: completion by attempt ${attempt} is lost`);
    const other = this.#completedBy.get(jobId) ?? attempt;
    insist(other === attempt, () => `job ${jobId} was completed by attempts ${other} and ${attempt}`);
    this.#completedBy.set(jobId, attempt);
    insist(this.#disk.has(keys.result(jobId)), () => `job ${jobId} was completed and has no result`);
    this.ended(jobId, 'Completed');
  }

  /** A runner reports an attempt of its own: with one outcome, whatever became of its processes. */
  sent(runnerId: string, { type, job_id, attempt }: Report): void {
    if (type === 'start' || type === 'hand_back') return;
    const key = `${runnerId} ${job_id} ${attempt}`;
    const before = this.#sent.get(key) ?? type;
    insist(before === type, () => `runner ${runnerId} reported ${before} and then ${type} of ${job_id} ${attempt}`);
    this.#sent.set(key, type);
  }

  /** The next process of a runner finds every outcome that was reported. */
  recovered(runnerId: string, { job_id, attempt }: AttemptRef, found: string | undefined): void {
    const before = this.#sent.get(`${runnerId} ${job_id} ${attempt}`);
    insist(before === undefined || before === found, () => `runner ${runnerId} reported ${before}, and forgot it`);
  }

  claimed(runnerId: string, jobId: Uuid, attempt: number): void {
    const record = this.#job(jobId).attempts.find((it) => it.n === attempt);
    insist(record?.runner === runnerId, () => `attempt ${attempt} of job ${jobId} was given to ${runnerId} as well`);
  }

  ended(jobId: Uuid, status: JobStatus): void {
    if (TERMINAL.includes(status)) this.ends.set(jobId, status);
  }

  /** Compares all acknowledged changes with the disk. */
  check(): void {
    for (const batchId of this.batchOfKey.values()) {
      insist(this.#disk.has(keys.batch(batchId)), () => `batch ${batchId} was acknowledged and is lost`);
      insist(this.#disk.has(keys.submission(batchId)), () => `the submission of batch ${batchId} is lost`);
    }
    for (const [jobId, status] of this.ends) {
      const value = this.#disk.has(keys.job(jobId)) ? this.#job(jobId).value : this.#derived(jobId);
      insist(value === status, () => `job ${jobId} was ${status} and is ${value}`);
    }
    for (const batchId of this.cancelledBatches) {
      const { value } = JSON.parse(this.#disk.get(keys.batch(batchId)) ?? '{}') as { value: string };
      insist(value === 'Cancelled', () => `batch ${batchId} was cancelled and is ${value}`);
    }
    for (const batchId of this.pausedBatches) {
      const { value, pausedAtMs } = JSON.parse(this.#disk.get(keys.batch(batchId)) ?? '{}') as Partial<PausableBatch>;
      const isOpen = value === 'Pending' || value === 'Running';
      insist(!isOpen || pausedAtMs !== undefined, () => `the pause of batch ${batchId} is lost`);
    }
    for (const [batchId, { revision, requirements, labels }] of this.#judgements) {
      const { judgement, labels: kept } = decodeBatch(this.#disk.get(keys.batch(batchId))!).context;
      const found = judgement?.revision ?? 0;
      const shown = (names: readonly { name: string; probability: number }[] = []): string =>
        JSON.stringify(names.map((it) => [it.name, it.probability]));
      const isSame =
        shown(judgement?.requirements) === shown(requirements) && JSON.stringify(kept) === JSON.stringify(labels);
      const isThere = found > revision || (found === revision && (revision === 0 || isSame));
      insist(isThere, () => `amendment ${revision} of batch ${batchId} is lost: the disk has ${found}`);
    }
    for (const runnerId of this.signedOff) {
      const { value } = JSON.parse(this.#disk.get(keys.runner(runnerId)) ?? '{}') as { value: string };
      insist(value === 'Offline', () => `runner ${runnerId} has signed off and is ${value}`);
    }
    for (const [runnerId, heldThen] of this.drained) {
      insist(this.#runner(runnerId)?.drained === true, () => `the drain of runner ${runnerId} is lost`);
      for (const attempt of this.heldBy(runnerId))
        insist(heldThen.has(attempt), () => `drained runner ${runnerId} gained ${attempt}`);
    }
  }

  #runner(runnerId: string): RunnerContext | undefined {
    const record = this.#disk.get(keys.runner(runnerId));
    return record === undefined ? undefined : decodeRunner(record).context;
  }

  /** The attempts that a runner holds on disk. */
  heldBy(runnerId: string): Set<string> {
    return new Set((this.#runner(runnerId)?.held ?? []).map((it) => `${it.jobId} ${it.attempt}`));
  }
}
