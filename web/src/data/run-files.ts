/** Addresses of the files of runs. */
import type { RunFile, Uuid } from '../../../src/contract/types.ts';

/** The address of a file: it answers with the bytes of a file on a runner, and with a redirect, which a page may not follow, of a file in an object store. */
export const addressOf = (jobId: Uuid, path: string): string => `/jobs/${jobId}/files/${encodeURIComponent(path)}`;

/** The bytes of a file for this page, which sends no request to another origin: the coordinator reads an object store for it. */
export const readAddress = (jobId: Uuid, { path, place }: Pick<RunFile, 'path' | 'place'>): string =>
  `${addressOf(jobId, path)}${place === 'object-store' ? '?through=coordinator' : ''}`;
