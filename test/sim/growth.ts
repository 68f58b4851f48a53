/** Scripted clients that make studies of other studies, and the checks of what they have made. */
import type { BatchContext } from '../../machines/batch.ts';
import type { ExtendRequest, RerunRequest, SubmissionResponse, Uuid } from '../../src/contract/types.ts';
import { decodeBatch } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { FamilyIndex } from '../../src/coordinator/kernel/records/family.ts';
import { decodeSubmission } from '../../src/coordinator/kernel/records/study-cache.ts';
import { allOf, idOf, keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../src/domain/ids.ts';
import { studySampler } from '../../src/domain/sampling/sampler.ts';
import { insist } from './acknowledged.ts';
import type { Stage } from './scenario.ts';
import { Dice } from './world.ts';

const MAX_DERIVED = 4;
const REFUSALS = ['unavailable', 'unknown-batch', 'invalid-request', 'illegal-transition'];

/** A request that is repeated under its key until it is answered. */
interface Wish {
  key: string;
  ask(): Promise<SubmissionResponse>;
}

export class SimGrowth {
  readonly #stage: Stage;
  /** Dice of its own: scenarios in which no study grows are the same as without it. */
  readonly #dice: Dice;
  readonly #wishes: Wish[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#dice = new Dice(stage.seed + 1);
  }

  /** Studies grow in every other scenario: the others have fewer studies, and so more of the life of each. */
  act(): void {
    const dice = this.#dice;
    if (this.#stage.seed % 2 === 1) return;
    if (dice.chance(0.3) || this.#wishes.length >= MAX_DERIVED) this.#send(dice.pick(this.#wishes));
    else this.#send(this.#newWish());
  }

  #send(wish: Wish | undefined): void {
    if (wish === undefined) return;
    this.#stage.follow(`asks ${wish.key}`, wish.ask(), REFUSALS, {
      onAnswer: ({ batch_id: id }) => this.#stage.acknowledged.submitted(wish.key, id),
    });
  }

  #newWish(): Wish | undefined {
    const stage = this.#stage;
    const dice = this.#dice;
    const batch = dice.pick(stage.batches.filter((id) => !isAdaptive(stage.disk, id)));
    if (batch === undefined) return undefined;
    const key = `growth ${this.#wishes.length}`;
    const options = { idempotencyKey: key, bodyDigest: key };
    const kind = dice.pick(['extend', 'rerun', 'audit'] as const);
    const [extension, rerun] = [this.#extension(batch), this.#rerun()];
    const audit = { fraction: 0.1 + 0.9 * dice.next(), seed: dice.int(1000) };
    const ask = (): Promise<SubmissionResponse> => {
      if (kind === 'extend') return stage.api.extendBatch(batch, extension, options);
      if (kind === 'rerun') return stage.api.rerunBatch(batch, rerun, options);
      return stage.api.auditBatch(batch, audit, options);
    };
    const wish = { key, ask };
    this.#wishes.push(wish);
    return wish;
  }

  /** Some runs more than the design has; at times too few. */
  #extension(batch: Uuid): ExtendRequest {
    const { disk } = this.#stage;
    const { submission } = decodeSubmission(disk.get(keys.submission(batch)) as string);
    return { runs: Math.max(1, submission.config.monte_carlo.runs + this.#dice.int(6)) };
  }

  #rerun(): RerunRequest {
    const dice = this.#dice;
    const select = dice.pick([
      undefined,
      { states: ['Failed', 'Timeout'] as ('Failed' | 'Timeout')[] },
      { states: ['Cancelled'] as 'Cancelled'[] },
      { requirement: 'close' },
      { failure_kind: 'lost' as const },
    ]);
    const relation = dice.pick(['rerun', 'comparison'] as const) ?? 'rerun';
    return { relation, simulation_version: '2', ...(select === undefined ? {} : { select }) };
  }
}

/** Adaptive studies grow by rounds. */
const isAdaptive = (disk: ReadonlyMap<string, string>, batch: Uuid): boolean =>
  decodeBatch(disk.get(keys.batch(batch))!).context.budget !== undefined;

/** Parents and children agree: each record of a family lists the batches that name it, and no other. */
export function checkFamilies(disk: ReadonlyMap<string, string>, batches: Iterable<BatchContext>): void {
  const index = new FamilyIndex();
  const inOrder = [...batches].sort((a, b) => (a.batchId < b.batchId ? -1 : 1));
  for (const batch of inOrder) index.add(batch);
  const expected = new Map(index.records());
  const { gte, lt } = allOf('family');
  const found = [...disk].filter(([key]) => key >= gte && key < lt);
  for (const [key, record] of found) {
    insist(expected.get(idOf(key)) === record, () => `${key} is ${record}, by the batches ${expected.get(idOf(key))}`);
  }
  insist(found.length === expected.size, () => `${found.length} families are on disk, and ${expected.size} exist`);
}

/** The runs of a batch that came of another one have the parameters of the same design, run by run. */
export async function checkParameters({ api, disk, rounds }: Stage, batch: Uuid): Promise<void> {
  const { parent, samplingScheme } = decodeBatch(disk.get(keys.batch(batch)) as string).context;
  // A canary study has a design of its own.
  if (parent === undefined || parent.relation === 'probe') return;
  const own = decodeSubmission(disk.get(keys.submission(batch)) as string).submission.config.monte_carlo;
  const { submission, seed } = decodeSubmission(disk.get(keys.submission(parent.batchId)) as string);
  const { run_ids: _, ...design } = submission.config.monte_carlo;
  // The study that would have been submitted with as many runs from the start.
  const { replicate, replicates } = own;
  const whole = {
    ...design,
    runs: own.runs,
    ...(replicate == null ? {} : { replicate }),
    ...(replicates == null ? {} : { replicates }),
  };
  const rowOf = submission.config.adaptive === undefined ? undefined : rounds.rowsOf(parent.batchId);
  const sampler = studySampler({ ...submission.config, monte_carlo: whole }, seed, samplingScheme, rowOf);
  const listing = await api.jobs({ batch_id: [batch] });
  for await (const chunk of listing.chunks) {
    for (const { id, run_config: it } of chunk) {
      const expected = JSON.stringify(sampler.parameters(it.run_id));
      insist(id === jobId(batch, it.run_id), () => `job ${id} is run ${it.run_id}`);
      insist(JSON.stringify(it.parameters) === expected, () => `run ${it.run_id} of ${batch} has other parameters`);
    }
  }
}
