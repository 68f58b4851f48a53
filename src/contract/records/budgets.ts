/** The core time of an owner by day, as the store holds it. */
import { Type, type Static } from 'typebox';

/** UTC day, as its number since the epoch -> core-milliseconds. */
export const DayUse = Type.Record(Type.String(), Type.Number({ minimum: 0 }), {
  description: 'Core-milliseconds of ended attempts by UTC day, as its number since the epoch.',
});
export type DayUse = Readonly<Static<typeof DayUse>>;
