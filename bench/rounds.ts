/**
 * A round of 1,000 rows beside a plain study of 1,000 runs, in turns on one coordinator: submitted or appended, executed in bulk by runners
 * that run nothing, and read; CPU of the coordinator for each step. Then rounds of one row, one after the other.
 */
import type { AppendedRound, BatchSubmission, SubmissionResponse } from '../src/contract/types.ts';
import type { CoordinatorProcess } from './support/coordinator.ts';
import { withCoordinator } from './support/folder.ts';
import { measure, median, shown, type Measure } from './support/measure.ts';
import { IdleHands } from './support/runners.ts';
import { study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const ROWS = 1_000;
const TURNS = Number(process.env['ROUNDS_TURNS'] ?? 15);
/** Studies or rounds of one turn: the kernel counts CPU in hundredths of a second. */
const AT_A_TURN = 20;
const ONE_ROW_ROUNDS = Number(process.env['ROUNDS_ONE_ROW'] ?? 2_000);
const RUNNERS = 4;
const BULK = 64;

const STEPS = ['append or submit', 'execute', 'read the results'] as const;

interface Turn {
  /** CPU of the coordinator, in milliseconds for 1,000 runs, by step. */
  cpuMs: number[];
  /** Milliseconds for 1,000 runs. */
  ms: number;
}

type Kind = 'plain' | 'round';

/** The study of the benches, with every parameter chosen by rows. */
function adaptive(budget: number): BatchSubmission {
  const submission = study(budget, 'rounds');
  submission.config.monte_carlo.sampling_method = 'adaptive';
  submission.config.adaptive = { algorithm: 'external' };
  const names = Object.keys(submission.config.dispersions);
  submission.config.dispersions = Object.fromEntries(
    names.map((name) => [name, { distribution: { type: 'chosen' }, units: '' }]),
  );
  return submission;
}

/** Rows that no other round has. */
function rowsFrom(first: number, count: number): Record<string, number>[] {
  const names = Object.keys(study(1).config.dispersions);
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(names.map((name, place) => [name, Math.sin((first + at) * names.length + place) * 1_000])),
  );
}

class Bench {
  readonly #coordinator: CoordinatorProcess;
  readonly #wire: Wire;
  readonly #hands: readonly IdleHands[];
  #adaptive = '';
  #rows = 0;

  private constructor(coordinator: CoordinatorProcess, wire: Wire, hands: readonly IdleHands[]) {
    this.#coordinator = coordinator;
    this.#wire = wire;
    this.#hands = hands;
  }

  static async on(coordinator: CoordinatorProcess): Promise<Bench> {
    const { port } = coordinator;
    const ids = Array.from({ length: RUNNERS }, (_, at) => `r${at}`);
    const hands = await Promise.all(ids.map((id) => IdleHands.register(port, id, BULK)));
    const bench = new Bench(coordinator, await Wire.open(port), hands);
    await bench.newStudy();
    return bench;
  }

  async newStudy(): Promise<void> {
    this.#adaptive = (await this.#wire.post<SubmissionResponse>('/jobs', adaptive(10_000_000))).batch_id;
  }

  async turn(kind: Kind): Promise<Turn> {
    const cpuMs = STEPS.map(() => 0);
    const since = performance.now();
    for (let at = 0; at < AT_A_TURN; at += 1) {
      let path = '';
      const steps = [
        async () => (path = kind === 'plain' ? await this.#submit() : await this.#append()),
        () => this.execute(),
        () => this.#read(path),
      ];
      for (const [step, take] of steps.entries()) {
        const before = this.#coordinator.cpuSecs();
        await take();
        cpuMs[step]! += ((this.#coordinator.cpuSecs() - before) * 1_000) / AT_A_TURN;
      }
    }
    return { cpuMs, ms: (performance.now() - since) / AT_A_TURN };
  }

  async #submit(): Promise<string> {
    const { batch_id } = await this.#wire.post<SubmissionResponse>('/jobs', study(ROWS));
    return `/batches/${batch_id}/results`;
  }

  async #append(rows = ROWS): Promise<string> {
    const body = JSON.stringify({ key: `k${this.#rows}`, rows: rowsFrom(this.#rows, rows) });
    this.#rows += rows;
    const { status, text } = await this.#wire.request('POST', `/batches/${this.#adaptive}/rounds`, body);
    if (status !== 201) throw new Error(`a round was answered ${status} ${text.slice(0, 500)}`);
    return `/batches/${this.#adaptive}/rounds/${(JSON.parse(text) as AppendedRound).round}/results`;
  }

  async execute(): Promise<void> {
    await Promise.all(this.#hands.map((it) => it.workInBulk()));
  }

  async #read(path: string): Promise<void> {
    // Written in pieces, which the wire does not read.
    const answer = await fetch(`${this.#coordinator.url}${path}`);
    const { results } = (await answer.json()) as { results: unknown[] };
    if (results.length !== ROWS) throw new Error(`${path} has ${results.length} results`);
  }

  /** Rounds of one row, appended one after the other: rounds a minute, and CPU of the coordinator for each, in ms. */
  async oneRowRounds(): Promise<{ rate: number; cpuMs: number }> {
    const [since, before] = [performance.now(), this.#coordinator.cpuSecs()];
    for (let at = 0; at < ONE_ROW_ROUNDS; at += 1) await this.#append(1);
    const cpuMs = ((this.#coordinator.cpuSecs() - before) * 1_000) / ONE_ROW_ROUNDS;
    return { rate: (ONE_ROW_ROUNDS * 60_000) / (performance.now() - since), cpuMs };
  }

  close(): void {
    for (const it of [...this.#hands, this.#wire]) it.close();
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, it) => total + it, 0);

export async function run(): Promise<Measure[]> {
  return withCoordinator(async (coordinator) => {
    const bench = await Bench.on(coordinator);
    for (const kind of ['plain', 'round', 'round', 'plain'] as const) await bench.turn(kind);
    const found: Record<Kind, Turn[]> = { plain: [], round: [] };
    for (let at = 0; at < TURNS; at += 1) {
      const order: Kind[] = at % 2 === 0 ? ['plain', 'round'] : ['round', 'plain'];
      for (const kind of order) found[kind].push(await bench.turn(kind));
    }
    const ratios = (of: (turn: Turn) => number): number[] => found.round.map((it, at) => of(it) / of(found.plain[at]!));
    const lines: Measure[] = [];
    for (const kind of ['plain', 'round'] as const) {
      const what = kind === 'plain' ? 'a plain study of 1,000 runs' : 'a round of 1,000 rows';
      const cpu = found[kind].map(({ cpuMs }) => sum(cpuMs));
      lines.push(measure(`${what}: CPU of the coordinator`, 'ms', cpu));
      for (const [step, name] of STEPS.entries())
        console.log(`${what}: ${name}: ${shown(median(found[kind].map((it) => it.cpuMs[step]!)))} ms of CPU`);
      const times = found[kind].map((it) => it.ms);
      lines.push(measure(`${what}: time`, 'ms', times));
    }
    lines.push(
      measure(
        'a round to a plain study, CPU',
        '',
        ratios(({ cpuMs }) => sum(cpuMs)),
        { atMost: 1 },
      ),
    );
    lines.push(
      measure(
        'a round to a plain study, time',
        '',
        ratios(({ ms }) => ms),
      ),
    );
    const ones: { rate: number; cpuMs: number }[] = [];
    for (let at = 0; at < 3; at += 1) {
      await bench.newStudy();
      ones.push(await bench.oneRowRounds());
      await bench.execute();
    }
    const rates = ones.map(({ rate }) => rate);
    lines.push(
      measure('rounds of one row, one after the other', 'a minute', rates, { atLeast: 10_000 }),
      measure(
        'the same: CPU of the coordinator for each',
        'ms',
        ones.map(({ cpuMs }) => cpuMs),
      ),
    );
    bench.close();
    return lines;
  });
}
