/** The identity of the code that executes runs of extractions: this program. */
import { createHash } from 'node:crypto';
import { packageVersion } from '../../../base/package.ts';
import type { RunCode } from '../../code/engine-codes.ts';

/** Equal versions compute equal values. */
export const EXTRACTION_CODE: RunCode = {
  identity: {
    kind: 'entrypoint',
    digest: createHash('sha256').update(`simbatch-extraction\0${packageVersion}`).digest('hex'),
    note: `the runner itself computes, simbatch ${packageVersion}; no program is started`,
  },
};
