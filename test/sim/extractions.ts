/**
 * Extractions in simulated worlds: the files that runs leave on runners and in an object store, clients that ask for extractions and delete
 * files, and what runners compute of them. The checks are in extraction-checks.ts.
 */
import type { BatchConfig, BatchSubmission, ExtractionRequest, ParentFiles, Uuid } from '../../src/contract/types.ts';
import { isTerminal } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import type { CoordinatorOptions } from '../../src/coordinator/options.ts';
import { batchIdOf, jobId, runIdOf } from '../../src/domain/ids.ts';
import { decodeBatch } from './decoded.ts';
import { insist } from './acknowledged.ts';
import { ExtractionChecks, isExtraction, parentRun, valueOf } from './extraction-checks.ts';
import { SIM_HISTORIES } from './histories.ts';
import type { SimRunner } from './runners.ts';
import type { Stage } from './scenario.ts';
import { Dice } from './world.ts';

const MAX_ASKED = 5;
const LEAVES_AT = 80;
const FILES = ['telemetry.parquet', 'out.csv'] as const;
/** The bucket of the coordinator, and that of another one. */
const [OWN, FOREIGN] = ['own', 'foreign'] as const;
const REFUSALS = ['unavailable', 'unknown-batch', 'invalid-request'];
const PEAK = { name: 'peak', take: 'max', telemetry: 'nz' } as const;
const QUESTIONS: readonly ExtractionRequest[] = [
  { derived: [PEAK] },
  { derived: [PEAK], histories: SIM_HISTORIES },
  { derived: [{ name: 'peak', expression: 'outputs.miss' }] },
  { with: { name: 'post' } },
];

type Complete = { type: 'complete'; result: { metadata: { peak: number }; output_files: []; execution_time_secs: 0 } };
type Gone = { type: 'fail'; reason: 'files-gone'; error_message: string };

interface Answer {
  batch_id: Uuid;
  total_jobs: number;
  without_files?: { runs: number };
}

/** A request that is repeated under its key. */
interface Wish {
  key: string;
  ask: () => Promise<Answer>;
  /** The runs that it is about, where they are known. */
  expected: number | undefined;
}

export class SimExtractions {
  readonly #stage: Stage;
  /** Dice of its own: scenarios without extractions are the same as without it. */
  readonly #dice: Dice;
  /** Every fourth scenario: files are left, and extractions are asked for. */
  readonly isActive: boolean;
  /** In some scenarios the first runner leaves for ever. */
  readonly departs: boolean;
  /** The files of the machines and of the stores by their places and addresses, as numbers. */
  readonly #files = new Map<string, number>();
  readonly #deleted = new Set<string>();
  readonly #buckets = new Map<Uuid, string>();
  readonly #wishes: Wish[] = [];
  readonly checks: ExtractionChecks;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#dice = new Dice(stage.seed + 4);
    this.isActive = stage.seed % 4 === 3;
    this.departs = this.isActive && this.#dice.chance(0.3);
    this.checks = new ExtractionChecks(stage.disk);
  }

  /** The object store, which names the files that are in it. */
  get options(): Partial<CoordinatorOptions> {
    if (!this.isActive) return {};
    const list = async (bucket: string, prefix: string): Promise<{ key: string; bytes: number }[]> => {
      const place = `${bucket} s3://${bucket}/`;
      const found = [...this.#files.keys()].filter((it) => it.startsWith(place + prefix));
      return found.map((it) => ({ key: it.slice(place.length), bytes: 1 }));
    };
    const store = {
      serves: (bucket: string) => bucket === OWN,
      list,
      signedRead: async (bucket: string, key: string) => `s3://${bucket}/${key}`,
      removeBelow: async () => {},
    };
    return { objectStore: store as unknown as NonNullable<CoordinatorOptions['objectStore']> };
  }

  /** A submission whose runs leave their files on runners, in the store, or in that of another coordinator. */
  stored(submission: BatchSubmission, key: string): BatchSubmission {
    const bucket = ['', OWN, '', FOREIGN][(this.#stage.seed + key.length + Number(key.at(-1))) % 4] ?? '';
    if (this.isActive) submission.config.telemetry.storage.s3_bucket = bucket;
    return submission;
  }

  /** Takes the configuration of a study of which a runner has a run. */
  claimed(batchId: Uuid, { telemetry }: Pick<BatchConfig, 'telemetry'>): void {
    this.#buckets.set(batchId, telemetry.storage.s3_bucket);
  }

  /** The files that a run leaves before it is reported, and where they are. */
  leave(runner: string, id: Uuid, attempt: number): { telemetry_data?: string; output_files?: string[] } {
    if (!this.isActive || isExtraction(this.#stage.disk, batchIdOf(id))) return {};
    const bucket = this.#buckets.get(batchIdOf(id)) ?? '';
    const addresses = FILES.map((name) => {
      const address = addressOf(bucket, id, attempt, name);
      const place = `${bucket === '' ? runner : bucket} ${address}`;
      if (!this.#deleted.has(place)) this.#files.set(place, valueOf(id, attempt, name));
      return address;
    });
    return { telemetry_data: addresses[0]!, output_files: addresses.slice(1) };
  }

  /** The outputs that a runner computes of the files that the coordinator names. */
  computed(runner: string, id: Uuid, found: ParentFiles): Complete | Gone {
    const fail = (why: string): Gone => ({ type: 'fail', reason: 'files-gone', error_message: why });
    if (found.gone !== undefined) return fail(found.gone);
    const { batch_id: batch = '', run_id: run = 0, attempt = 0, result, files = [] } = found;
    let peak = Number(result?.metadata['miss'] ?? 0);
    for (const { path, url } of files) {
      const local = `${runner} ${addressOf('', jobId(batch, run), attempt, path)}`;
      const key = url === undefined ? local : `${OWN} ${url}`;
      const value = this.#files.get(key);
      if (value === undefined) {
        const place = this.checks.placeOf(id, path);
        insist(this.#deleted.has(place), () => `run ${id} was given to ${runner}, and its file is at ${place}`);
        return fail(`${path} does not exist`);
      }
      peak += value;
    }
    return { type: 'complete', result: { execution_time_secs: 0, output_files: [], metadata: { peak } } };
  }

  act(): void {
    const dice = this.#dice;
    if (!this.isActive) return;
    if (dice.chance(0.01)) this.#delete();
    if (!dice.chance(0.2)) return;
    const wish =
      this.#wishes.length >= MAX_ASKED || dice.chance(0.3)
        ? dice.pick(this.#wishes)
        : (this.#newWish() ?? dice.pick(this.#wishes));
    if (wish === undefined) return;
    const { key, ask, expected } = wish;
    this.#stage.follow(`asks ${key}`, ask(), REFUSALS, {
      onAnswer: ({ batch_id: id, total_jobs: runs, without_files: without }) => {
        this.#stage.acknowledged.submitted(key, id);
        const counted = runs + (without?.runs ?? 0);
        insist(expected === undefined || expected === counted, () => `${key} counts ${counted} runs of ${expected}`);
      },
    });
  }

  /** Some files of a machine or a store are deleted. */
  #delete(): void {
    for (let count = 1 + this.#dice.int(4); count > 0; count -= 1) {
      const key = this.#dice.pick([...this.#files.keys()]);
      if (key === undefined) return;
      this.#files.delete(key);
      this.#deleted.add(key);
    }
  }

  /** A study with ended runs is asked about; or an extraction once more. */
  #newWish(): Wish | undefined {
    const { api, disk, batches } = this.#stage;
    const dice = this.#dice;
    const stateOf = (id: Uuid) => decodeBatch(disk.get(keys.batch(id))!);
    const batch = dice.pick(batches.filter((id) => stateOf(id).context.completed > 0));
    if (batch === undefined) return undefined;
    const key = `extraction ${this.#wishes.length}`;
    const options = { idempotencyKey: key, bodyDigest: key };
    const isAgain = isExtraction(disk, batch);
    const { value, context } = stateOf(batch);
    const select = dice.pick([undefined, undefined, { states: ['Failed', 'Timeout', 'Completed'] as const }]);
    const request: ExtractionRequest = {
      ...dice.pick(QUESTIONS),
      ...(dice.chance(0.3) ? { name: 'same' } : {}),
      ...(select === undefined ? {} : { select: { states: [...select.states] } }),
    };
    const ask = () => (isAgain ? api.rerunBatch(batch, {}, options) : api.extractBatch(batch, request, options));
    const isWhole = !isAgain && isTerminal(value) && select === undefined;
    const wish = { key, ask, expected: isWhole ? context.completed : undefined };
    this.#wishes.push(wish);
    return wish;
  }

  /** True for a runner that has left for ever by this step. */
  hasLeft(runner: string, step: number): boolean {
    return this.departs && step > LEAVES_AT && runner === this.#stage.runnerIds[0];
  }

  /** The runners that have files become honest, except a runner that has left. */
  comeBack(runners: readonly SimRunner[]): SimRunner[] {
    if (!this.isActive) return [];
    const back = runners.filter(({ id }) => !this.hasLeft(id, Infinity));
    for (const it of back) it.reform();
    return back;
  }

  /** Runs whose runner has left for ever wait for it, which a finding says; their studies are cancelled. */
  async giveUp(): Promise<void> {
    const { api, disk } = this.#stage;
    for (const id of this.#stage.unfinished()) {
      insist(this.departs && isExtraction(disk, id), () => `batch ${id} has not ended`);
      const findings = await api.findings(id);
      const found = findings.find(({ code }) => code === 'files-elsewhere');
      insist(found?.runners?.join() === this.#stage.runnerIds[0], () => `nothing says for whom batch ${id} waits`);
      await api.cancelBatch(id);
    }
  }

  /** Runs whose files are gone are counted and named, and every extraction is listed. */
  async checkLists(): Promise<void> {
    const { api, disk } = this.#stage;
    for (const parent of this.#stage.batches) {
      const { extractions } = await api.extractions(parent);
      const made = this.#stage.batches.filter(
        (id) => isExtraction(disk, id) && parentRun(disk, id, 0).batch === parent,
      );
      const listed = extractions.map((it) => it.batch_id);
      insist(listed.toSorted().join() === made.toSorted().join(), () => `batch ${parent} lists ${listed.join()}`);
      for (const { batch_id: id, without_files: without, completed } of extractions) {
        const gone = this.checks.goneRuns(id);
        this.#stage.tally.gone += gone.count;
        this.#stage.tally.extracted += completed;
        const named = without?.run_ids ?? '';
        const expected = gone.toString();
        insist(named === expected && (without?.runs ?? 0) === gone.count, () => {
          return `extraction ${id} names the runs ${named} without files, and they are ${expected}`;
        });
        const findings = (await api.findings(id)).filter(({ code }) => code === 'files-gone');
        const counted = findings[0]?.count ?? 0;
        insist(
          counted === gone.count,
          () => `a finding of ${id} counts ${counted} runs without files of ${gone.count}`,
        );
      }
    }
  }
}

function addressOf(bucket: string, id: Uuid, attempt: number, name: string): string {
  const run = runIdOf(id);
  if (bucket === '') return `/out/${batchIdOf(id)}/${String(run).padStart(8, '0')}/attempt-${attempt}/${name}`;
  return `s3://${bucket}/${batchIdOf(id)}/${run}/attempt-${attempt}/${name}`;
}
