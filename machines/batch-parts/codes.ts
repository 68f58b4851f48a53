/** The versions of the code that execute the runs of a batch: their identities, their ended runs, and the fixed version. Pure. */
import { MOST_CODE_RUNNERS, MOST_CODE_VERSIONS, shortCode } from '../../src/domain/code-name.ts';
import type { BatchContext, StoredCode } from '../../src/contract/types.ts';
import type { JobEnded, JobStarted } from '../protocol.ts';

type Codes = Pick<BatchContext, 'codes' | 'pinnedCode'>;

/** Adds the code of an attempt that started. The first one is fixed for a batch that pins its code. */
export function noteStart(
  c: Codes,
  { code, runnerId }: Pick<JobStarted, 'code' | 'runnerId'>,
  pinsCode: boolean,
): void {
  if (code === undefined) return;
  if (pinsCode) c.pinnedCode ??= code.digest;
  const codes = c.codes ?? [];
  const at = codes.findIndex(({ identity }) => identity.digest === code.digest);
  if (at < 0) {
    if (codes.length >= MOST_CODE_VERSIONS) return;
    c.codes = [...codes, { identity: code, runs: 0, runners: runnerId === undefined ? [] : [runnerId] }];
    return;
  }
  const known = codes[at] as StoredCode;
  if (runnerId === undefined || known.runners.length >= MOST_CODE_RUNNERS || known.runners.includes(runnerId)) return;
  c.codes = codes.with(at, { ...known, runners: [...known.runners, runnerId] });
}

/** Counts a run that ended with a code; a cancelled run has shown nothing. */
export function noteEnd(c: Codes, { code, runId, to }: JobEnded): void {
  if (code === undefined || c.codes === undefined || to === 'Cancelled') return;
  const at = c.codes.findIndex(({ identity }) => shortCode(identity.digest) === code);
  const known = c.codes[at];
  if (known === undefined) return;
  const firstRunId = Math.min(known.firstRunId ?? Infinity, runId);
  c.codes = c.codes.with(at, { ...known, runs: known.runs + 1, firstRunId });
}
