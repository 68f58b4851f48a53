/** Routes of the rounds of adaptive studies. */
import { LIMITS } from '../../contract/limits.ts';
import { ROUNDS_QUERY, WAIT_QUERY } from '../../contract/queries.ts';
import * as batches from '../../contract/resources/batches.ts';
import * as evaluation from '../../contract/adaptive/evaluation.ts';
import * as rounds from '../../contract/adaptive/rounds.ts';
import { int32 } from '../../contract/scalars.ts';
import { text } from '../../contract/build.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { list, StatusAnswer } from '../answers.ts';
import { routesOf, waitOf } from '../route.ts';

const route = routesOf('studies');

const ROUND = { round: int32('The number of the round.') };
const KEY = {
  key: text('The key of the round, percent-encoded.', { minLength: 1, maxLength: LIMITS.roundNameLength }),
};

/** A malformed number is answered like an unknown one. */
function numberOf({ round = '' }: Readonly<Record<string, string>>): number {
  if (/^(0|[1-9]\d{0,9})$/.test(round)) return Number(round);
  throw new SimbatchError('unknown-round', `${JSON.stringify(round.slice(0, 100))} is not the number of a round`);
}

export const roundRoutes = [
  route({
    method: 'POST',
    path: '/batches/{batch_id}/rounds',
    operationId: 'appendRound',
    summary: 'Append a round of runs',
    description:
      'To an adaptive study. A repeat under the same key, or with the same number, returns the stored round, however long ago that was and whatever the state of the study.',
    scope: 'submit',
    changes: 'grows',
    body: { schema: rounds.RoundRequest, limit: 'rows', sliced: true },
    response: rounds.AppendedRound,
    statuses: { 201: { description: 'The round was appended.', schema: rounds.AppendedRound } },
    errors: [
      'round-key-reused',
      'round-taken',
      'round-out-of-order',
      'budget-exhausted',
      'study-closed',
      'not-external',
    ],
    handle: async (coordinator, call) => {
      const answer = await coordinator.appendRound(call.id, call.body);
      return answer.repeated ? answer : new StatusAnswer(201, answer);
    },
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/rounds',
    operationId: 'listRounds',
    summary: 'List the rounds of a study',
    scope: 'read',
    answer: 'list',
    query: ROUNDS_QUERY,
    response: rounds.RoundList,
    errors: ['not-external'],
    handle: async (coordinator, { id, query }) => list(await coordinator.rounds(id, query)),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/rounds/by-key/{key}',
    operationId: 'getRoundByKey',
    summary: 'Find a round by its key',
    scope: 'read',
    pathParameters: KEY,
    response: rounds.RoundDetail,
    errors: ['not-external', 'unknown-round'],
    handle: (coordinator, { id, parameters }) => coordinator.roundByKey(id, parameters['key']!),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/rounds/{round}',
    operationId: 'getRound',
    summary: 'Read a round',
    description: 'With its runs by class.',
    scope: 'read',
    pathParameters: ROUND,
    response: rounds.RoundDetail,
    errors: ['not-external', 'unknown-round'],
    handle: (coordinator, { id, parameters }) => coordinator.round(id, numberOf(parameters)),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/rounds/{round}/results',
    operationId: 'getRoundResults',
    summary: 'Read the results of a round',
    description:
      'Its runs in their order, once all of them have ended; the answer waits for that up to `wait` seconds.',
    scope: 'read',
    answer: 'raw',
    media: ['application/json; charset=utf-8'],
    pathParameters: ROUND,
    query: WAIT_QUERY,
    response: rounds.RoundResults,
    statuses: { 202: { description: 'Runs have not ended; ask again.', schema: rounds.RoundProgress } },
    errors: ['not-external', 'unknown-round'],
    handle: async (coordinator, call) => {
      const answer = await coordinator.roundResults(call.id, numberOf(call.parameters), waitOf(call));
      return 'pieces' in answer ? { body: answer.pieces } : new StatusAnswer(202, answer.progress);
    },
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/evaluate',
    operationId: 'evaluatePoints',
    summary: 'Evaluate points',
    description:
      'Of an adaptive study. Rows that no round has are appended as one round, under its digest as key; all others have the runs that they have. A repeat appends nothing. The answer waits for the results up to `wait` seconds.',
    scope: 'submit',
    changes: 'grows',
    answer: 'raw',
    media: ['application/json; charset=utf-8'],
    body: { schema: evaluation.EvaluationRequest, limit: 'rows', sliced: true },
    query: WAIT_QUERY,
    response: evaluation.Evaluation,
    statuses: { 202: { description: 'Runs have not ended; ask again.', schema: evaluation.EvaluationProgress } },
    errors: ['budget-exhausted', 'study-closed', 'not-external'],
    handle: async (coordinator, call) => {
      const answer = await coordinator.evaluate(call.id, call.body, waitOf(call));
      return 'pieces' in answer ? { body: answer.pieces } : new StatusAnswer(202, answer.progress);
    },
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/rounds-check',
    operationId: 'checkRounds',
    summary: 'Check the rounds of a study',
    description: 'The rows of each round against its digest, and the chain of their records from the submission on.',
    scope: 'read',
    response: rounds.RoundsCheck,
    errors: ['not-external'],
    handle: (coordinator, { id }) => coordinator.checkRounds(id),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/close',
    operationId: 'closeBatch',
    summary: 'Close an adaptive study',
    description: 'It takes no further rounds, and ends once its runs have. A repeat changes nothing.',
    scope: 'submit',
    changes: 'steers',
    response: batches.Batch,
    errors: ['not-external'],
    handle: (coordinator, { id }) => coordinator.closeBatch(id),
  }),
];
