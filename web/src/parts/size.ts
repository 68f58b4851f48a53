/** Sizes of files for people. */

/** `512 B`, `1.50 KiB`, `23.4 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toPrecision(3)} KiB` : `${(bytes / 1024 / 1024).toPrecision(3)} MiB`;
}
