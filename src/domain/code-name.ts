/** The name of a code version: the digits of its digest that runs carry. */

/** Digits of a digest by which results, attempts and tables name a code. */
const NAME_DIGITS = 12;
/** Code versions that a study distinguishes; the code of further ones is counted nowhere, and their runs name it all the same. */
export const MOST_CODE_VERSIONS = 100;
/** Runners that are named for a code version. */
export const MOST_CODE_RUNNERS = 20;

/** The digits by which results, attempts and tables name the code of a digest. */
export const shortCode = (digest: string): string => digest.slice(0, NAME_DIGITS);
