/** Seeded worlds in which studies take results of others that are deleted or grow older than the retention time, while programs change and the coordinator dies. */
import { expect } from 'chai';
import type { CodeIdentity, JobRecord, Report, Uuid } from '../../src/contract/types.ts';
import { decodeBatch, isTerminal } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { decodeSubmission } from '../../src/coordinator/kernel/records/study-cache.ts';
import { allOf, idOf, keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { shortCode } from '../../src/domain/code-name.ts';
import { batchIdOf, runIdOf } from '../../src/domain/ids.ts';
import { Scene } from '../support/scene.ts';
import { insist } from './acknowledged.ts';
import { checkReuse } from './reuse.ts';
import { Dice } from './world.ts';

const SEEDS = Number(process.env['SIM_SEEDS'] ?? 20);
const STEPS = 60;
/** Studies are looked through each hour. */
const RETAIN_MS = 7_200_000;
const codeOf = (letter: string): CodeIdentity => ({ kind: 'entrypoint', digest: letter.repeat(64) });

/** How often what the worlds are there for has occurred. */
const tally = { taken: 0, deleted: 0, gone: 0, executedAfterDeletion: 0 };

class Sources {
  readonly #dice: Dice;
  #scene!: Scene;
  #life = 0;
  #letter = 'a';
  /** Batches that were on the disk at some time. */
  readonly #seen = new Set<Uuid>();
  /** The batches that were not there any more after the last step. */
  #gone = new Set<Uuid>();
  readonly #taken = new Set<Uuid>();
  /** The keys of deleted sources. */
  readonly #lost = new Set<string>();

  constructor(seed: number) {
    this.#dice = new Dice(seed);
  }

  async play(): Promise<void> {
    this.#scene = await Scene.open({ retainMs: RETAIN_MS });
    await this.#join();
    for (let step = 0; step < STEPS; step += 1) {
      await this.#act(this.#dice.int(100));
      await this.#scene.api.parts.purges.idle();
      this.#check();
    }
    expect(this.#scene.faults).to.deep.equal([]);
  }

  async #act(dice: number): Promise<void> {
    if (dice < 20) await this.#submit();
    else if (dice < 75) await this.#work();
    else if (dice < 85) await this.#delete();
    else if (dice < 90) await this.#restart();
    else if (dice < 96) await this.#wait();
    else this.#letter = this.#dice.chance(0.7) ? 'a' : 'b';
  }

  /** The runner is silent meanwhile, and may be forgotten. */
  async #wait(): Promise<void> {
    await this.#scene.world.advance(this.#dice.int(RETAIN_MS));
    await this.#join();
  }

  async #join(): Promise<void> {
    this.#life += 1;
    const before = this.#life === 1 ? {} : { replaces: `r1-${String(this.#life - 1)}` };
    const engines = [{ name: '*', code: codeOf(this.#letter) }];
    await this.#scene.register('r1', { slots: 3, instance: `r1-${String(this.#life)}`, engines, ...before });
  }

  async #submit(): Promise<void> {
    const dice = this.#dice;
    const reuse = dice.pick(['all', 'all', 'all', 'family', 'none'] as const) ?? 'all';
    await this.#scene.submit({ runs: 1 + dice.int(5), seed: dice.int(2), policy: { reuse } });
  }

  async #delete(): Promise<void> {
    const ended = this.#batches().filter((id) => isTerminal(this.#batch(id).value));
    const id = this.#dice.pick(ended);
    if (id === undefined) return;
    const deletion = this.#scene.api.deleteBatch(id);
    tally.deleted += 1;
    // A coordinator that dies meanwhile may or may not have deleted it.
    if (this.#dice.chance(0.2)) await this.#restart();
    else await deletion;
  }

  async #restart(): Promise<void> {
    await this.#scene.restart();
    await this.#join();
  }

  /** Claims runs, and ends them: none of them may have a known result. */
  async #work(): Promise<void> {
    const code = codeOf(this.#letter);
    const known = this.#known();
    const instance = this.#scene.instance('r1');
    const request = { instance, max_jobs: 3, wait_seconds: 0, engines: [{ name: '*', code }] };
    const { assignments } = await this.#scene.api.claim('r1', request);
    for (const { job } of assignments) {
      const key = this.#keyOf(job.id, shortCode(code.digest));
      const { reuse } = this.#batch(job.batch_id).context;
      insist(reuse !== 'all' || !known.has(key), () => `${job.id} is executed, and the result of ${key} is known`);
      if (reuse === 'all' && this.#lost.has(key)) tally.executedAfterDeletion += 1;
    }
    const reports = assignments.flatMap(({ job, attempt }): Report[] => {
      const own = { job_id: job.id, attempt };
      const metadata = { miss: runIdOf(job.id) + (this.#letter === 'a' ? 0.25 : 0.5) };
      const result = { execution_time_secs: 1, output_files: [], metadata };
      const end: Report = this.#dice.chance(0.1)
        ? { type: 'fail', ...own, reason: 'exit', error_message: 'broke' }
        : { type: 'complete', ...own, result };
      return [{ type: 'start', ...own, code }, end];
    });
    if (reports.length > 0) await this.#scene.api.reports('r1', { instance, reports });
  }

  #batches(): Uuid[] {
    const { gte, lt } = allOf('batch');
    return [...this.#scene.store.disk.keys()].filter((key) => key >= gte && key < lt).map(idOf);
  }

  #batch = (id: Uuid) => decodeBatch(this.#scene.store.disk.get(keys.batch(id))!);

  #keyOf(job: Uuid, code: string): string {
    const { seed } = decodeSubmission(this.#scene.store.disk.get(keys.submission(batchIdOf(job)))!);
    return `${String(seed)}/${String(runIdOf(job))}/${code}`;
  }

  *#jobs(): Iterable<[Uuid, JobRecord]> {
    const { gte, lt } = allOf('job');
    for (const [key, record] of this.#scene.store.disk)
      if (key >= gte && key < lt) yield [idOf(key), JSON.parse(record) as JobRecord];
  }

  /** The keys of executed and completed runs. */
  #known(): Set<string> {
    const found = new Set<string>();
    for (const [id, { value, attempts, reusedFrom }] of this.#jobs()) {
      const code = attempts.at(-1)?.code;
      if (value === 'Completed' && reusedFrom === undefined && code !== undefined) found.add(this.#keyOf(id, code));
    }
    return found;
  }

  #check(): void {
    const { disk } = this.#scene.store;
    const present = new Set(this.#batches());
    for (const id of present) this.#seen.add(id);
    const gone = new Set([...this.#seen].filter((id) => !present.has(id)));
    for (const id of present) insist(!this.#gone.has(id), () => `the deleted batch ${id} is there again`);
    checkReuse(disk, gone);
    for (const [id, { reusedFrom }] of this.#jobs()) {
      if (reusedFrom === undefined) continue;
      insist(disk.has(keys.result(id)), () => `job ${id} has lost the result that it has taken`);
      if (this.#taken.has(id)) continue;
      const source = batchIdOf(reusedFrom);
      insist(!this.#gone.has(source), () => `job ${id} has taken the result of the deleted batch ${source}`);
      this.#taken.add(id);
      tally.taken += 1;
    }
    tally.gone += gone.size - this.#gone.size;
    this.#noteLost(gone);
    this.#gone = gone;
  }

  /** The keys that were known before the batches were deleted, and are not any more. */
  #before = new Set<string>();
  #noteLost(gone: ReadonlySet<Uuid>): void {
    const known = this.#known();
    if (gone.size > this.#gone.size) for (const key of this.#before) if (!known.has(key)) this.#lost.add(key);
    this.#before = known;
  }
}

describe('sim: sources that are deleted', () => {
  it(`gives no result of a deleted study, loses none that was taken, and executes nothing that is known in ${SEEDS} worlds`, async function () {
    this.timeout(0);
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      await new Sources(seed).play().catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      });
    }
    // Worlds without deletions, and without executions because of them, would prove nothing.
    expect(tally.taken).to.be.above(SEEDS);
    expect(tally.deleted).to.be.above(SEEDS);
    expect(tally.gone - tally.deleted, 'deleted by retention').to.be.above(SEEDS / 4);
    expect(tally.executedAfterDeletion).to.be.above(SEEDS / 2);
  });
});
