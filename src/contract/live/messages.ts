/** The messages of the live feed: the requests of a subscriber, and the data of each topic. */
import { Type, type Static } from 'typebox';
import { enumOf } from '../build.ts';
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
