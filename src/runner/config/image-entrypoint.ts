/** Entrypoints that are files of an image. */

/** The prefix of an entrypoint that is a file of the image and not of this machine. */
const IN_IMAGE = 'image:';

/** The absolute path inside the image of an entrypoint such as `image:/opt/model/run.py`; undefined for a file of this machine. */
export function imageEntrypoint(entrypoint: string): string | undefined {
  return entrypoint.startsWith(`${IN_IMAGE}/`) ? entrypoint.slice(IN_IMAGE.length) : undefined;
}
