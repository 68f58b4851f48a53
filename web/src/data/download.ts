/** Downloads the table of a study's runs as a file, which the coordinator writes. */
import type { Uuid } from '../../../src/contract/types.ts';
import { accepted } from './api.ts';

/** The formats by their names on the buttons, which are those of the API in capitals or not. */
export const FORMATS = ['CSV', 'JSON', 'Parquet', 'Arrow'] as const;
export type Format = (typeof FORMATS)[number];

/** Fetches the file, of all runs or of those that `where` selects, and lets the browser save it: a link could not carry the token. */
export async function download(batchId: Uuid, format: Format, name: string, where?: string): Promise<void> {
  const extension = format.toLowerCase();
  const only = where === undefined ? '' : `&where=${encodeURIComponent(where)}`;
  const response = await accepted(`/batches/${batchId}/table?format=${extension}${only}`);
  saveFile(await response.blob(), name, extension);
}

/** Lets the browser save data under a name that every file system takes. */
export function saveFile(data: Blob, name: string, extension: string): void {
  const address = URL.createObjectURL(data);
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name.replaceAll(/[^\w.-]+/g, '_') || 'batch'}.${extension}`;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
