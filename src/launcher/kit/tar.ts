/**
 * Writes tar archives whose bytes depend on their files alone: one owner, one time, the order of the given files.
 * Source: POSIX.1-1988, ustar interchange format.
 */

export interface ArchivedFile {
  /** Relative, with `/`; at most 100 bytes after a folder prefix of at most 155. */
  path: string;
  /** Permission bits, e.g. 0o644. */
  mode: number;
  data: Uint8Array;
}

const BLOCK = 512;
/** 1980-01-01: programs warn of files from 1970. */
const MODIFIED_SECS = 315_532_800;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** The archive of these files, in their order. Folders follow from the paths. Throws RangeError for a path that is too long. */
export function tarOf(files: readonly ArchivedFile[]): Buffer {
  const blocks: Uint8Array[] = [];
  for (const file of files) {
    blocks.push(headerOf(file), file.data);
    const rest = file.data.length % BLOCK;
    if (rest > 0) blocks.push(Buffer.alloc(BLOCK - rest));
  }
  blocks.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(blocks);
}

function headerOf({ path, mode, data }: ArchivedFile): Buffer {
  const { prefix, name } = split(path);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number): void => {
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  };
  header.write(name, 0);
  octal(mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(data.length, 124, 11);
  octal(MODIFIED_SECS, 136, 11);
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(prefix, 345);
  // The checksum counts its own field as spaces.
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** A long path is divided at a `/`. */
function split(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= PREFIX_BYTES && Buffer.byteLength(name) <= NAME_BYTES) return { prefix, name };
  }
  throw new RangeError(`the path ${path} is too long for an archive`);
}
