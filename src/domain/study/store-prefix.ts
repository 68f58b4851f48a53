/** `telemetry.storage.s3_prefix`: the folders of a bucket below which the files of a study are. */

/** The folders of a prefix; a `/` at its beginning or end is cut. */
const foldersOf = (prefix: string): string[] => prefix.replaceAll(/^\/+|\/+$/g, '').split('/');

/** The prefix as keys begin with it, without `/` at either end. */
export const storePrefix = (prefix: string): string => foldersOf(prefix).join('/');

/** Why a text is not such a prefix, to follow its name in a message; undefined for a prefix, also for an empty one. */
export function storePrefixFault(prefix: string): string | undefined {
  const folders = foldersOf(prefix);
  const is = `is ${JSON.stringify(prefix.slice(0, 200))}`;
  const dots = folders.find((it) => it === '.' || it === '..');
  if (dots !== undefined) return `${is} with the folder \`${dots}\`, which would leave the bucket; name folders only`;
  if (folders.length > 1 && folders.includes('')) return `${is} with an empty folder; write one / between folders`;
  // In lists of a store and on Windows they would be other names, on a terminal commands.
  if (/[\\\p{Cc}]/u.test(prefix) || !prefix.isWellFormed())
    return `${is} with a backslash, a control character or half a character; use other characters`;
  return undefined;
}
