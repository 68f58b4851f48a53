/** The versions of the code that execute the runs of a batch: their identities, their ended runs, and the fixed version. Pure. */
import { MOST_CODE_RUNNERS, MOST_CODE_VERSIONS, shortCode } from '../../src/domain/code-name.ts';
import type { BatchContext, StoredCode } from '../../src/contract/types.ts';
import type { JobChange, JobStarted } from '../protocol.ts';

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

/** Counts the runs that ended with a code, once for all changes of a turn; a cancelled run has shown nothing. */
export function noteEnds(c: Codes, changes: readonly JobChange[]): void {
  if (c.codes === undefined) return;
  const ended = new Map<string, { runs: number; firstRunId: number }>();
  for (const change of changes) {
    if (change.type !== 'job.ended' || change.code === undefined || change.to === 'Cancelled') continue;
    const { code, runId } = change;
    const known = ended.get(code);
    if (known === undefined) ended.set(code, { runs: 1, firstRunId: runId });
    else {
      known.runs += 1;
      known.firstRunId = Math.min(known.firstRunId, runId);
    }
  }
  for (const [code, { runs, firstRunId }] of ended) {
    const at = c.codes.findIndex(({ identity }) => shortCode(identity.digest) === code);
    const known = c.codes[at];
    if (known === undefined) continue;
    const first = Math.min(known.firstRunId ?? Infinity, firstRunId);
    c.codes = c.codes.with(at, { ...known, runs: known.runs + runs, firstRunId: first });
  }
}
