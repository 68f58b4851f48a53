/** The records in the store, as schemas. */
import { Type, type Static } from 'typebox';
import { enumOf } from '../build.ts';
import { JOB_STATUSES } from '../enums.ts';
import { storedProperties } from './member-schemas.ts';
import { JOB_MEMBERS } from './members.ts';

export const JobRecord = Type.Object({
  value: enumOf(JOB_STATUSES, 'The status.'),
  ...storedProperties(JOB_MEMBERS),
});
export interface JobRecord extends Static<typeof JobRecord> {}
