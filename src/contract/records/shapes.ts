/** The shapes of members that several records have. */
import { Type, type Static, type TSchema } from 'typebox';
import { storedCount, storedTime } from '../members/member-schemas.ts';

export const count = (description: string) => ({ ...storedCount, description });
export const time = (description: string) => ({ ...storedTime, description });
export const amount = (description: string) => Type.Number({ minimum: 0, description });
/** A list that is replaced and never changed. */
export const fixedList = <T extends TSchema>(items: T) => Type.Unsafe<readonly Static<T>[]>(Type.Array(items));
