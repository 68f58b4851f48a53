/** The messages of the live feed: requests of a subscriber and messages of the coordinator; `topics.ts` has their data. */
import { Type, type Static } from 'typebox';
import { literal } from '../build.ts';
import { storedCount } from '../members/member-schemas.ts';

/** A place in the deltas of a topic: they are numbered; the epoch changes when the numbering starts again. */
export const Position = Type.Object({ epoch: Type.String(), seq: storedCount });
export interface Position extends Static<typeof Position> {}

const topic = Type.String({ maxLength: 300 });

/** A request of a subscriber. A `from` that is not a position is ignored: a full message follows. */
export const LiveRequest = Type.Unsafe<LiveRequest>({
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string' } },
  discriminator: { propertyName: 'type' },
  oneOf: [
    Type.Object({ type: literal('subscribe'), topic, from: Type.Optional(Type.Unknown()) }),
    Type.Object({ type: literal('unsubscribe'), topic }),
    Type.Object({ type: literal('ping') }),
  ],
});
export type LiveRequest =
  { type: 'subscribe'; topic: string; from?: unknown } | { type: 'unsubscribe'; topic: string } | { type: 'ping' };

/** A full message or a delta of a topic with this data. */
export interface DataMessage<Data> extends Position {
  type: 'snapshot' | 'delta';
  topic: string;
  data: Data;
}

/** A message of the coordinator. `resumed`: the connection is back and nothing was missed. */
export type FeedMessage<Data = unknown> =
  | DataMessage<Data>
  | ({ type: 'resumed'; topic: string } & Position)
  | { type: 'error'; topic?: string; code: string; detail: string };
