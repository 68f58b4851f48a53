/** Scripted clients that amend the judgement of studies, running and ended ones. */
import type { JudgementRequest } from '../../src/contract/types.ts';
import { decodeBatch } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import type { Stage } from './scenario.ts';
import { Dice } from './world.ts';

const REFUSALS = ['unavailable', 'unknown-batch', 'judgement-changed'];

export class SimAmendments {
  readonly #stage: Stage;
  /** Dice of its own: scenarios without amendments are the same as before. */
  readonly #dice: Dice;
  #count = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#dice = new Dice(stage.seed + 2);
  }

  /** Studies are amended in every fifth scenario. */
  act(): void {
    const { disk, batches, api, acknowledged, seed } = this.#stage;
    if (seed % 5 !== 3 || !this.#dice.chance(0.05)) return;
    const batch = this.#dice.pick(batches);
    if (batch === undefined) return;
    const { stopWhen, judgement } = decodeBatch(disk.get(keys.batch(batch))!).context;
    const request: JudgementRequest = { labels: { amendment: String(this.#count++) } };
    // The rule of a study that stops is compared with the requirements that it was submitted with.
    if (stopWhen === undefined && this.#dice.chance(0.7)) request.requirements = this.#requirements();
    if (this.#dice.chance(0.3)) request.revision = judgement?.revision ?? 0;
    this.#stage.follow(`amends ${batch}`, api.amendJudgement(batch, request), REFUSALS, {
      onAnswer: (answer) => acknowledged.amended(answer),
    });
  }

  #requirements(): NonNullable<JudgementRequest['requirements']> {
    const probability = [0.3, 0.5, 0.8][this.#dice.int(3)] ?? 0.5;
    const close = { name: 'close', output: 'miss', condition: '< 50', probability, confidence: 0.6 };
    return this.#dice.chance(0.2)
      ? []
      : [close, { ...close, name: 'surely', confidence: 0.7 }].slice(this.#dice.int(2));
  }
}
