/** Scripted clients that submit the same studies again and take the results of earlier ones; and the checks of what the runs have taken. */
import type { CodeIdentity, RunnerEngine, StoredResult } from '../../src/contract/types.ts';
import { decodeJob } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { shortCode } from '../../src/domain/code-name.ts';
import { batchIdOf, runIdOf } from '../../src/domain/ids.ts';
import { studySampler } from '../../src/domain/sampling/sampler.ts';
import { study } from '../support/studies.ts';
import { decodeBatch, decodeSubmission, groupsOf, recordsOf, type Disk } from './decoded.ts';
import { SIM_HISTORIES } from './histories.ts';
import { insist } from './acknowledged.ts';
import type { Stage } from './scenario.ts';
import { Dice } from './world.ts';

const MAX_STUDIES = 8;
const REUSES = ['all', 'all', 'family', 'none'] as const;

export class SimReuse {
  readonly #stage: Stage;
  /** Dice of its own: scenarios without reuse are the same as without it. */
  readonly #dice: Dice;
  readonly #isActive: boolean;
  readonly #wishes: { key: string; submission: ReturnType<typeof study> }[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#dice = new Dice(stage.seed + 3);
    this.#isActive = stage.seed % 4 === 1;
  }

  /** The code of a runner: two programs of the same name. Undefined in scenarios without reuse. */
  codeOf(runnerId: string): CodeIdentity | undefined {
    if (!this.#isActive) return undefined;
    return { kind: 'entrypoint', digest: (runnerId.endsWith('1') ? 'b' : 'a').repeat(64) };
  }

  enginesOf(runnerId: string): { engines?: RunnerEngine[] } {
    const code = this.codeOf(runnerId);
    return code === undefined ? {} : { engines: [{ name: '*', code }] };
  }

  act(): void {
    const dice = this.#dice;
    if (!this.#isActive || !dice.chance(0.15)) return;
    if (this.#wishes.length < MAX_STUDIES && dice.chance(0.7)) this.#wishes.push(this.#newWish());
    const wish = dice.pick(this.#wishes);
    if (wish === undefined) return;
    const { key, submission } = wish;
    const asked = this.#stage.api.submit(submission, { idempotencyKey: key, bodyDigest: key });
    this.#stage.follow(`submits ${key}`, asked, ['unavailable'], {
      onAnswer: ({ batch_id: id }) => this.#stage.acknowledged.submitted(key, id),
    });
  }

  #newWish(): { key: string; submission: ReturnType<typeof study> } {
    const dice = this.#dice;
    const count = 1 + dice.int(6);
    const submission = study({
      name: `reuse ${this.#wishes.length}`,
      runs: 6,
      seed: dice.int(2),
      maxParallelJobs: dice.int(3),
      policy: { reuse: dice.pick(REUSES) ?? 'all', ...(dice.chance(0.3) ? { canary_runs: 1 + dice.int(3) } : {}) },
      config: {
        histories: this.#wishes.length % 2 === 0 ? SIM_HISTORIES : null,
        monte_carlo: { run_ids: dice.chance(0.5) ? `0-${String(count - 1)}` : null },
      },
    });
    return { key: `reuse ${this.#wishes.length}`, submission };
  }
}

/**
 * Every taken result is that of a finished run with the same code and parameters, which is on the disk unless its batch was deleted; and is
 * counted.
 */
export function checkReuse(disk: Disk, deleted: ReadonlySet<string> = new Set()): void {
  const reused = new Map<string, number>();
  for (const [id, record] of recordsOf(disk, 'job')) {
    if (!record.includes('"reusedFrom":')) continue;
    if (!deleted.has(decodeOrigin(record))) checkTaken(disk, id, record);
    reused.set(batchIdOf(id), (reused.get(batchIdOf(id)) ?? 0) + 1);
  }
  const expected = new Map<string, string[]>();
  const submissions = [...recordsOf(disk, 'submission')].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [id, record] of submissions) {
    for (const group of groupsOf(record)) expected.set(group, [...(expected.get(group) ?? []), id]);
    const { reused: counted = 0 } = decodeBatch(disk.get(keys.batch(id))!).context;
    const found = reused.get(id) ?? 0;
    insist(counted === found, () => `batch ${id} counts ${counted} taken results, and ${found} runs have one`);
  }
  for (const [group, record] of recordsOf(disk, 'key-group')) {
    const listed = (JSON.parse(record) as string[]).toSorted().join();
    const members = (expected.get(group) ?? []).join();
    insist(listed === members, () => `the group ${group} lists ${listed}, and its studies are ${members}`);
    expected.delete(group);
  }
  insist(expected.size === 0, () => `${expected.size} groups of studies have no record`);
}

const decodeOrigin = (record: string): string => batchIdOf((JSON.parse(record) as { reusedFrom: string }).reusedFrom);

function checkTaken(disk: Disk, id: string, record: string): void {
  const { value, context } = decodeJob(id, record, decodeBatch(disk.get(keys.batch(batchIdOf(id)))!).context);
  const origin = context.reusedFrom!;
  const source = disk.get(keys.job(origin));
  insist(source !== undefined, () => `job ${id} has the result of ${origin}, which is not on disk`);
  const original = decodeJob(origin, source, decodeBatch(disk.get(keys.batch(batchIdOf(origin)))!).context);
  insist(
    original.value === value,
    () => `job ${id} is ${value}, and ${origin}, whose result it has, ${original.value}`,
  );
  const { code, reason } = original.context.attempts.at(-1)!;
  insist(
    code === context.reusedCode,
    () => `job ${id} says that ${context.reusedCode} made its result, it was ${code}`,
  );
  insist(value === 'Completed' || reason === 'early_termination', () => `job ${id} has the result of a failure`);
  const codes = decodeBatch(disk.get(keys.batch(batchIdOf(id)))!).context.codes ?? [];
  const isCounted = codes.some(({ identity }) => shortCode(identity.digest) === code);
  insist(isCounted, () => `the code ${code} of job ${id} is not listed by its batch`);
  const [own, other] = [id, origin].map((it) => {
    const { job_id: _, reused_from: __, ...result } = JSON.parse(disk.get(keys.result(it))!) as StoredResult;
    return JSON.stringify(result);
  });
  insist(own === other, () => `job ${id} has the result ${own}, and ${origin} has ${other}`);
  const [mine, theirs] = [id, origin].map((it) => parametersOf(disk, it));
  insist(mine === theirs, () => `job ${id} has the parameters ${mine}, and ${origin} has ${theirs}`);
}

function parametersOf(disk: Disk, id: string): string {
  const batch = batchIdOf(id);
  const { submission, seed } = decodeSubmission(disk.get(keys.submission(batch))!);
  const { samplingScheme } = decodeBatch(disk.get(keys.batch(batch))!).context;
  return `${seed}/${runIdOf(id)} ${JSON.stringify(studySampler(submission.config, seed, samplingScheme).parameters(runIdOf(id)))}`;
}
