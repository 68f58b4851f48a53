/** Options of commands that are copied from the pages. */
import { ENDPOINT } from '../data/place.ts';

/** The option that points a command at this coordinator. */
export const here = (): string => `--endpoint ${ENDPOINT}`;
