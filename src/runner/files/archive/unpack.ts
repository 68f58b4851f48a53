/** Writes the members of an archive as files, for a program that reads the files of a finished run. */
import { mkdir, open, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fill } from '../read-part.ts';
import { ARCHIVE } from '../../../domain/files/file-path.ts';
import { startOf, type OpenArchive } from './archived-files.ts';

const PIECE_BYTES = 1 << 20;

/**
 * @param to a folder that nothing else writes to; no file in it is replaced
 * @param step called before each piece; ends the unpacking by an error
 * @throws Error for a damaged archive; the system's error
 */
export async function unpack(archive: OpenArchive, to: string, step: () => void): Promise<void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (const [path, member] of archive.members) {
    const target = join(to, path);
    await mkdir(dirname(target), { recursive: true });
    const start = await startOf(archive, member);
    const file = await open(target, 'wx', member.mode | 0o600);
    try {
      for (let at = 0; at < member.bytes;) {
        step();
        const bytes = await fill(archive.file, piece.subarray(0, member.bytes - at), start + at);
        if (bytes.length === 0) throw new Error(`${ARCHIVE} is damaged: it ends within ${path}`);
        await file.writeFile(bytes);
        at += bytes.length;
      }
    } finally {
      await file.close();
    }
    await utimes(target, member.modifiedMs / 1000, member.modifiedMs / 1000);
  }
}
