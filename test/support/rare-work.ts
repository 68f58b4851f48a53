/** Studies of rare events in a scene: their runs executed, their rounds and their answers. */
import { setTimeout } from 'node:timers/promises';
import type { RareEventAnswer, RoundRecord, Uuid } from '../../src/contract/types.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { RESULT, type Scene } from './scene.ts';

/** The rounds of a study without their times, and the chain that depends on them. */
export async function roundsOf({ store }: Scene, batch: Uuid): Promise<object[]> {
  const found: object[] = [];
  for (let round = 0; ; round++) {
    const text = store.get(keys.round(batch, round));
    if (text === undefined) return found;
    const { appended_at: _, previous: __, ...rest } = JSON.parse(text) as RoundRecord;
    found.push(rest);
  }
}

export interface WorkOptions {
  runners?: number;
  /** Called before each claim. */
  before?: (claims: number) => Promise<void>;
  /** The value of a run. */
  value?: ((parameters: Readonly<Record<string, number>>, run: number) => number | undefined) | undefined;
}

export const sumOf = ({ a = 0, b = 0 }: Readonly<Record<string, number>>): number => (a + b) / Math.SQRT2;

/** Executes runs, also those of other studies, until the study has ended. */
export async function work(
  scene: Scene,
  batch: Uuid,
  { runners = 1, before, value = sumOf }: WorkOptions = {},
): Promise<void> {
  const names = Array.from({ length: runners }, (_, at) => `runner-${at}`);
  for (const name of names) await scene.register(name, { slots: 40 });
  for (let claims = 0; claims < 20_000; claims++) {
    if (['Completed', 'Cancelled'].includes((await scene.api.batch(batch)).batch.status)) return;
    await before?.(claims);
    const name = names[claims % runners]!;
    const { assignments } = await scene.claimRaw(name, 40);
    for (const { job, attempt } of assignments) {
      const { run_id: run, parameters } = job.run_config;
      await scene.start(job.batch_id, run, name, attempt);
      const y = value(parameters, run);
      const result = { ...RESULT, metadata: y === undefined ? {} : { y } };
      await scene.api.complete(job.id, { runner_id: name, attempt, result });
    }
    if (assignments.length === 0) await setTimeout(5);
  }
  throw new Error('the study has not ended');
}

export async function answerOf(
  scene: Scene,
  batch: Uuid,
  query: { with?: string; combined?: 'true' } = {},
): Promise<RareEventAnswer> {
  const asked = { name: 'rare-event' as const, batchId: batch, query };
  const answer = await scene.api.parts.answers.ask(asked, { waitMs: 60_000 });
  if (answer.state !== 'ready') throw new Error(`the answer is ${answer.state}`);
  return JSON.parse(Buffer.from(answer.body).toString()) as RareEventAnswer;
}
