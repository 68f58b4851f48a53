/**
 * The parameters that a simulation has looked up, as its client library reports them: a file in the output directory, or a part of a
 * message of a shared process. The library knows by the access time of the run configuration that nothing else has read it.
 */
import { utimesSync } from 'node:fs';
import { isJsonObject } from '../../base/json/json-object.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { ReportedResult } from '../../contract/types.ts';

/** The file in the output directory; it is removed when it was read. */
export const READS_FILE = '.simbatch-reads.json';
/** The access time of a run configuration that nothing has read, in seconds. */
const UNREAD_S = 1;
/** A file with every name of the largest study has fewer bytes. */
export const MOST_READS_BYTES = 16 << 20;

/** Marks a run configuration as not read. @throws the system's error */
export const markUnread = (path: string, nowMs: number): void => utimesSync(path, UNREAD_S, nowMs / 1000);

type LookUps = Pick<ReportedResult, 'parameters_read' | 'parameters_asked'>;

/** The members of a result for a report of a client library; none where it says nothing that can be right. */
export function lookUpMembers(report: unknown, parameters: Readonly<Record<string, number>>): LookUps {
  if (!isJsonObject(report)) return {};
  const { read, asked } = report;
  if (read === 'all') return { parameters_read: 'all' };
  if (!isTexts(read)) return {};
  const known = [...new Set(read)].filter((name) => Object.hasOwn(parameters, name));
  const missing = (isTexts(asked) ? asked : []).filter(
    (name) => name.length <= LIMITS.askedNameLength && name.isWellFormed() && !Object.hasOwn(parameters, name),
  );
  return {
    parameters_read: known,
    ...(missing.length === 0 ? {} : { parameters_asked: [...new Set(missing)].slice(0, LIMITS.askedNames) }),
  };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((it) => typeof it === 'string');
