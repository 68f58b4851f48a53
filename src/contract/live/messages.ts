/** The messages of the live feed: the requests of a subscriber, and the data of each topic. */
import { Type, type Static } from 'typebox';
import { enumOf, literal } from '../build.ts';
import { JOB_STATUSES } from '../enums.ts';
import { shownProperties, storedCount } from '../records/member-schemas.ts';
import { JOB_MEMBERS } from '../records/members.ts';

/** The latest state of a run. Times in ms since the epoch; members without a value are absent. */
export const RunRow = Type.Object({
  run: storedCount,
  status: enumOf(JOB_STATUSES, 'The status of the run.'),
  ...shownProperties(JOB_MEMBERS, 'live', 'required'),
  ...shownProperties(JOB_MEMBERS, 'live', 'optional'),
  /** The numeric members of the result's metadata, and `execution_time_secs`. */
  outputs: Type.Optional(Type.Record(Type.String(), Type.Number())),
});
export interface RunRow extends Static<typeof RunRow> {}

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
