/**
 * Scripted clients of adaptive studies: they append by key and by number, repeat under the same name what was not answered, and at times other
 * rows. The numbers of the rows are unique, so that a row that is stored twice shows.
 */
import type { AppendedRound, RoundRecord, Uuid } from '../../src/contract/types.ts';
import { RoundChain } from '../../src/coordinator/kernel/records/round-chain.ts';
import { recordDigest, RowBlocks } from '../../src/coordinator/kernel/records/stored-rounds.ts';
import { decodeBlock, type RowShape } from '../../src/domain/adaptive/rows.ts';
import { allOf, idOf, keys, ROUND_KINDS, roundsOf } from '../../src/coordinator/kernel/storage/keys.ts';
import { adaptiveStudy } from '../support/rounds.ts';
import { decodeBatch } from './decoded.ts';
import { insist } from './acknowledged.ts';
import type { Stage } from './scenario.ts';
import { Dice } from './world.ts';

const MAX_STUDIES = 2;
const BUDGET = 40;
/** The rows of the studies of `support/rounds.ts`, by the source of their rounds: both have two numbers, of which the second differs from row to row. */
const SHAPES: Readonly<Record<RoundRecord['source'], RowShape>> = {
  external: { space: 'parameters', names: ['r', 'x'] },
  'rare-event/1': { space: 'normal', names: ['a', 'b'] },
};
const WIDTH = 2;

interface Row {
  r: number;
  x: number;
}

/** A round that a client wants appended; its answer, once it has one. */
interface Wish {
  batch: Uuid;
  key?: string;
  round?: number;
  rows: Row[];
  draws?: (number | null)[];
  answer?: AppendedRound;
}

const nameOf = ({ batch, key, round }: Wish): string => `${key ?? round} of ${batch}`;

export class SimRounds {
  readonly #stage: Stage;
  /** Dice of its own: scenarios without adaptive studies are the same as without it. */
  readonly #dice: Dice;
  readonly #wishes: Wish[] = [];
  /** The parameters with which each run was claimed first. */
  readonly #given = new Map<Uuid, string>();
  #rows = 0;
  #submitted = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#dice = new Dice(stage.seed + 2);
  }

  /** Studies grow by rounds in every third scenario. */
  act(): void {
    const dice = this.#dice;
    if (this.#stage.seed % 3 !== 0) return;
    const roll = dice.next();
    if (roll < 0.06) this.#submit();
    else if (roll < 0.3) this.#send(this.#newWish());
    else if (roll < 0.5) this.#send(dice.pick(this.#wishes));
    else if (roll < 0.54) this.#sendOther(dice.pick(this.#wishes.filter((it) => it.answer !== undefined)));
    else if (roll < 0.545) this.#close();
    else if (roll < 0.6) this.#read(dice.pick(this.#wishes.filter((it) => it.answer !== undefined)));
  }

  get #batches(): Uuid[] {
    const { batches, disk } = this.#stage;
    return batches.filter((id) => decodeBatch(disk.get(keys.batch(id))!).context.budget !== undefined);
  }

  /** Repeated under its key until it is answered. */
  #submit(): void {
    const { acknowledged, api } = this.#stage;
    if (this.#submitted < MAX_STUDIES) this.#submitted += 1;
    const key = `adaptive ${this.#dice.int(this.#submitted)}`;
    const asked = api.submit(adaptiveStudy({ runs: BUDGET, name: key }), { idempotencyKey: key, bodyDigest: key });
    this.#stage.follow(`submits ${key}`, asked, ['unavailable'], {
      onAnswer: ({ batch_id: id }) => acknowledged.submitted(key, id),
    });
  }

  #newRows(): Row[] {
    return Array.from({ length: 1 + this.#dice.int(3) }, () => ({ r: 1, x: this.#rows++ }));
  }

  #newWish(): Wish | undefined {
    const dice = this.#dice;
    const batch = dice.pick(this.#batches);
    if (batch === undefined) return undefined;
    const { rounds = 0 } = decodeBatch(this.#stage.disk.get(keys.batch(batch))!).context;
    const wish: Wish = { batch, rows: this.#newRows() };
    const kind = dice.pick(['key', 'round', 'both'] as const);
    if (kind !== 'round') wish.key = `key ${this.#wishes.length}`;
    if (kind !== 'key') wish.round = rounds;
    if (dice.chance(0.3)) wish.draws = wish.rows.map(() => (dice.chance(0.5) ? null : dice.int(9)));
    this.#wishes.push(wish);
    return wish;
  }

  #send(wish: Wish | undefined): void {
    if (wish === undefined) return;
    const { batch, answer: _, ...body } = wish;
    // A wish that was answered is answered for ever; of another one, the study may have ended or gone on meanwhile.
    const before = wish.answer;
    const refusals = ['study-closed', 'budget-exhausted', 'round-taken', 'round-out-of-order'];
    const allowed = before === undefined ? ['unavailable', ...refusals] : ['unavailable'];
    this.#stage.follow(`appends ${nameOf(wish)}`, this.#stage.api.appendRound(batch, body), allowed, {
      onAnswer: (answer) => this.#answered(wish, before, answer),
    });
  }

  #answered(wish: Wish, before: AppendedRound | undefined, answer: AppendedRound): void {
    insist(before === undefined || answer.repeated, () => `the round ${nameOf(wish)} was appended twice`);
    const { repeated: _, ...place } = answer;
    const { repeated: __, ...known } = wish.answer ?? answer;
    insist(
      JSON.stringify(known) === JSON.stringify(place),
      () => `the round ${nameOf(wish)} was answered ${JSON.stringify(known)} and now ${JSON.stringify(place)}`,
    );
    wish.answer = answer;
    this.#checkWish(wish);
  }

  /** Other rows under a known name are refused. */
  #sendOther(wish: Wish | undefined): void {
    if (wish === undefined) return;
    const { batch, answer: _, ...body } = wish;
    const asked = this.#stage.api.appendRound(batch, { ...body, rows: this.#newRows() });
    const allowed = ['unavailable', 'round-key-reused', 'round-taken', 'invalid-request'];
    this.#stage.follow(`appends other rows as ${nameOf(wish)}`, asked, allowed, {
      onAnswer: () => insist(false, () => `other rows were taken as the round ${nameOf(wish)}`),
    });
  }

  #close(): void {
    const batch = this.#dice.pick(this.#batches);
    if (batch === undefined) return;
    this.#stage.follow(`closes ${batch}`, this.#stage.api.closeBatch(batch), ['unavailable'], {});
  }

  /** The runs of a round have the numbers of its rows, and the draws. */
  #read(wish: Wish | undefined): void {
    if (wish === undefined) return;
    const { batch, rows, draws } = wish;
    const { round, first_run_id: first } = wish.answer!;
    this.#stage.follow(`reads the round ${nameOf(wish)}`, this.#stage.api.roundResults(batch, round), [], {
      onAnswer: (answer) => {
        if (!('pieces' in answer)) return;
        const { results } = JSON.parse(answer.pieces.join('')) as {
          results: { run_id: number; parameters: Partial<Row>; draw: number }[];
        };
        const found = results.map((it) => [it.run_id, it.parameters.x, it.draw].join());
        const expected = rows.map(({ x }, at) => [first + at, x, draws?.[at] ?? first + at].join());
        insist(
          found.join(' ') === expected.join(' '),
          () => `the runs of the round ${nameOf(wish)} are ${found.join(' ')} and must be ${expected.join(' ')}`,
        );
      },
    });
  }

  /** The rows on the disk, by run. */
  rowsOf(batch: Uuid): ReturnType<RowBlocks['rowsOf']> {
    return new RowBlocks({ read: (key) => this.#stage.disk.get(key) }).rowsOf(batch, WIDTH);
  }

  /** Run N is run N for ever: each attempt gets the same parameters. */
  given(job: Uuid, parameters: string): void {
    const before = this.#given.get(job) ?? parameters;
    this.#given.set(job, before);
    insist(before === parameters, () => `job ${job} was given ${before} and now ${parameters}`);
  }

  /** Each answer that was given is still true on the disk, and the rounds of each study are whole. */
  check(): void {
    for (const wish of this.#wishes) if (wish.answer !== undefined) this.#checkWish(wish);
    for (const batch of this.#batches) checkRounds(this.#stage.disk, batch);
  }

  #checkWish(wish: Wish): void {
    const { disk } = this.#stage;
    const { round, first_run_id: first, count, digest } = wish.answer!;
    const text = disk.get(keys.round(wish.batch, round));
    insist(text !== undefined, () => `the round ${nameOf(wish)} is lost: it was answered as round ${round}`);
    const stored = JSON.parse(text) as RoundRecord;
    const isSame = stored.digest === digest && stored.first_run_id === first && stored.count === count;
    insist(isSame && stored.key === (wish.key ?? null), () => `the round ${nameOf(wish)} was changed: ${text}`);
    const named = wish.key === undefined ? String(round) : disk.get(keys['round-key'](wish.batch, wish.key));
    insist(named === String(round), () => `the key of the round ${nameOf(wish)} is forgotten: it names ${named}`);
  }
}

/** The rounds of a study: numbers and runs without gaps, the chain of digests, keys, no row twice, and nothing besides. */
function checkRounds(disk: ReadonlyMap<string, string>, batch: Uuid): void {
  const { rounds = 0, totalJobs } = decodeBatch(disk.get(keys.batch(batch))!).context;
  const report = (fault: string): void => insist(false, () => `the rounds of ${batch}: ${fault}`);
  const { source } = JSON.parse(disk.get(keys.round(batch, 0)) ?? '{"source":"external"}') as Pick<
    RoundRecord,
    'source'
  >;
  const chain = new RoundChain(SHAPES[source], recordDigest(disk.get(keys.submission(batch))!), report);
  const seen = new Set<number>();
  const named = new Set<string>();
  let [blocks, keyed] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const text = disk.get(keys.round(batch, round));
    insist(text !== undefined, () => `round ${round} of ${batch} is lost: its batch counts ${rounds}`);
    chain.round(text);
    const { key } = JSON.parse(text) as RoundRecord;
    for (let block = 0; chain.expectsBlock; block++, blocks++) {
      const rows = disk.get(keys.rows(batch, round, block));
      chain.block(rows);
      if (rows !== undefined)
        for (const x of decodeBlock(rows, WIDTH).values.filter((_, at) => at % 2 === 1)) {
          insist(!seen.has(x), () => `the row ${x} is twice in ${batch}: a round was appended twice`);
          seen.add(x);
        }
    }
    if (key === null) continue;
    insist(!named.has(key), () => `two rounds of ${batch} have the key ${key}`);
    named.add(key);
    insist(disk.get(keys['round-key'](batch, key)) === String(round), () => `the key ${key} of ${batch} is forgotten`);
    keyed += 1;
  }
  chain.finish();
  insist(chain.runs === totalJobs, () => `${batch} counts ${totalJobs} runs, and its rounds have ${chain.runs}`);
  const expected = { round: rounds, rows: blocks, 'round-key': keyed };
  for (const kind of ROUND_KINDS) {
    const { gte, lt } = roundsOf(kind, batch);
    const found = [...disk.keys()].filter((key) => key >= gte && key < lt).length;
    insist(found === expected[kind], () => `${batch} has ${found} records ${kind}, and ${expected[kind]} belong to it`);
  }
}

/** No record of a round is there before its batch. */
export function checkOrphans(disk: ReadonlyMap<string, string>): void {
  const { gte, lt } = allOf('round');
  for (const key of disk.keys()) {
    if (key < gte || key >= lt) continue;
    const [batch = ''] = idOf(key).split('/', 1);
    const isThere = disk.has(keys.batch(batch)) || disk.has(keys.deletion(batch));
    insist(isThere, () => `the round ${key} has no batch`);
  }
}
