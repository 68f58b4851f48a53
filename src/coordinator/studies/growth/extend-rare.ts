/**
 * Extension of a study of rare events: the one study that is opened again after its end. A confirmed one takes further draws of the same attempt, one
 * whose search did not reach a violation a larger budget. The first of the studies that were submitted together takes the others along, since
 * their joint bounds are as wide as the widest of them.
 */
import type { RareEnd } from '../../../contract/enums.ts';
import type { ExtendRequest, ExtendResponse, SubmissionWarning, Uuid } from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { plural } from '../../../domain/plural.ts';
import type { Answers } from '../../answers/answers.ts';
import { isTerminal, type BatchState } from '../../kernel/actors/actor-kinds.ts';
import { ledBy } from '../../kernel/records/family.ts';
import { batchOrThrow } from '../../kernel/records/lookup.ts';
import { readBatch } from '../../kernel/records/read-batch.ts';
import { versionOf } from '../../kernel/records/study-version.ts';
import { once } from '../../kernel/turn/idempotency.ts';
import { byActor } from '../../kernel/turn/acting-turns.ts';
import type { Turn } from '../../kernel/turn/turn.ts';
import { refuse, rememberedAnswer, type DeriveParts, type GrowthOptions } from './derive.ts';

export interface ExtendParts extends DeriveParts {
  answers: Pick<Answers, 'rareExtension'>;
}

const refusal = (batchId: Uuid, why: string): SimbatchError =>
  new SimbatchError('not-extendable', `study ${batchId} is not extended: ${why}`);

/** Why an end is final. */
function finalEnd(reason: RareEnd | undefined): string {
  if (reason === undefined) return 'it was closed before its end; submit it anew';
  if (reason === 'not-reached')
    return 'its search has as many levels as one may have; report a margin that leads further, or submit it with another level_probability';
  const remedy =
    reason === 'settled' ? 'submit it without the stop that it asked for' : '`simbatch rare` says why, and the remedy';
  return `it ended as ${reason}, and only an end as confirmed or not-reached leaves something to continue; ${remedy}`;
}

/** A study that can be extended, as of a version. */
interface Extendable {
  batchId: Uuid;
  version: string;
}

/**
 * Opens a study of rare events again, with those that it leads.
 * @throws SimbatchError `unknown-batch`; `not-extendable` at another end; `invalid-request` for a number of runs that it cannot use
 */
export async function extendRare(
  parts: ExtendParts,
  batchId: Uuid,
  { runs, name }: ExtendRequest,
  options: GrowthOptions,
): Promise<ExtendResponse> {
  if (name !== undefined)
    refuse({
      pointer: '/name',
      detail: 'is given, and a study of rare events continues under its own name; leave it out',
    });
  if (runs === undefined)
    return refuse({
      pointer: '/runs',
      detail:
        'is missing; give the number of further draws of a confirmed study, or of runs by which the budget of another one grows',
    });
  for (;;) {
    const remembered = await rememberedAnswer(parts, options);
    if (remembered !== undefined) return remembered as ExtendResponse;
    await parts.groupCommit.durable();
    const read = (key: string): string | undefined => parts.groupCommit.read(key);
    const led = ledBy(read, readBatch({ get: read }, batchId).context).map((it) => readBatch({ get: read }, it));
    for (const { value, context } of led) {
      if (isTerminal(value)) continue;
      throw refusal(
        batchId,
        `study ${context.batchId} is ${value}, and rounds are appended until its end; repeat the request then`,
      );
    }
    const [first, ...others] = led;
    const extendable: Extendable[] = [await checked(parts, first!, runs, options)];
    const warnings: SubmissionWarning[] = [];
    for (const other of others) {
      try {
        extendable.push(await checked(parts, other, runs, options));
      } catch (error) {
        if (!(error instanceof SimbatchError) || !['not-extendable', 'invalid-request'].includes(error.code))
          throw error;
        warnings.push({ code: 'not-extended', pointer: '', detail: error.message });
      }
    }
    const response = await parts.turns.run('extend-rare', (turn) => {
      if (extendable.some((it) => versionOf(batchOrThrow(turn, it.batchId)) !== it.version)) return undefined;
      return once(parts, turn, options, () => extended(turn, extendable, runs, warnings));
    });
    if (response !== undefined) return response;
  }
}

function extended(
  turn: Turn,
  extendable: readonly Extendable[],
  runs: number,
  warnings: SubmissionWarning[],
): ExtendResponse {
  for (const { batchId } of extendable)
    turn.send('batch', batchId, { type: 'EXTEND', runs, ...byActor(turn), now: turn.now });
  turn.deliverFacts();
  const [first] = extendable;
  const { context } = batchOrThrow(turn, first!.batchId);
  const response: ExtendResponse = {
    batch_id: context.batchId,
    total_jobs: context.totalJobs,
    estimated_completion_time_mins: null,
    mode: 'reopened',
    budget: context.budget ?? 0,
  };
  if (extendable.length > 1) response.studies = extendable.map((it) => it.batchId);
  return warnings.length === 0 ? response : { ...response, warnings };
}

/** @throws SimbatchError when the study cannot be extended by so many runs */
async function checked(
  parts: ExtendParts,
  state: BatchState,
  runs: number,
  { maxRuns = Infinity }: GrowthOptions,
): Promise<Extendable> {
  const { value, context } = state;
  const { batchId, budget = 0 } = context;
  if (value !== 'Completed') throw refusal(batchId, `it is ${value}; submit it anew`);
  const { reason, least, most } = await parts.answers.rareExtension(batchId);
  if (least === undefined) throw refusal(batchId, finalEnd(reason));
  if (runs < least)
    refuse({
      pointer: '/runs',
      detail: `is ${runs}, and the next level of the search of study ${batchId} needs at least ${least} further runs; give these, or more`,
    });
  const room = Math.min(most, maxRuns - budget);
  if (runs > room)
    refuse({
      pointer: '/runs',
      detail: `is ${runs}; study ${batchId}, which has a budget of ${plural(budget, 'run')}, takes up to ${Math.max(0, room)} more: give fewer`,
    });
  return { batchId, version: versionOf(state) };
}
