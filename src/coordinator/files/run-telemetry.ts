/** The telemetry file of an ended run as bytes, from its runner or from the object store, for the analysis worker. */
import { SimbatchError } from '../../domain/errors.ts';
import { fileKindOf, pathInAttempt } from '../../domain/files/file-path.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Uuid } from '../../contract/types.ts';
import type { TelemetryReading } from '../answers/worker/telemetry/drawn-runs.ts';
import { fileAttempt, filesOwner } from './file-attempt.ts';
import { readFile, type ReadFileParts } from './read-file.ts';

/** Larger files are not read. */
const MAX_BYTES = LIMITS.relayedFileBytes;
/** For one file; a runner that answers slowly must not hold the others up. */
const READ_MS = 20_000;

/** Never rejects: the reason is part of the answer. */
export async function runTelemetry(parts: ReadFileParts, jobId: Uuid): Promise<TelemetryReading> {
  const stop = new AbortController();
  const late = (): void => stop.abort(new Error(`it was not read within ${String(READ_MS / 1000)} s`));
  const cancel = parts.clock.after(READ_MS, late);
  try {
    const { jobId: owner, gone } = filesOwner(parts, jobId);
    if (gone !== undefined) return { why: `the run whose result it has ${gone}`, isLasting: true };
    const attempt = fileAttempt(parts, owner, undefined);
    const path = pathInAttempt(attempt?.result?.telemetry_data ?? '');
    if (path === undefined || fileKindOf(path) !== 'telemetry') return { why: 'it has no telemetry', isLasting: true };
    const wish = { path, attempt: attempt?.attempt, range: undefined, isHead: false };
    const reading = await readFile(parts, jobId, wish, stop.signal);
    if (reading.size > MAX_BYTES) {
      reading.close();
      return tooLarge(reading.size);
    }
    return await collected(reading.content);
  } catch (error) {
    stop.abort();
    const isLasting = error instanceof SimbatchError && ['unknown-file', 'file-too-large'].includes(error.code);
    return { why: (error instanceof Error ? error.message : String(error)).slice(0, 300), isLasting };
  } finally {
    cancel();
  }
}

const tooLarge = (bytes: number): TelemetryReading => ({
  why: `its telemetry has ${String(bytes)} bytes, more than ${String(MAX_BYTES)}`,
  isLasting: true,
});

async function collected(content: AsyncIterable<Uint8Array>): Promise<TelemetryReading> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > MAX_BYTES) return tooLarge(bytes);
    parts.push(part);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return { bytes: whole };
}
