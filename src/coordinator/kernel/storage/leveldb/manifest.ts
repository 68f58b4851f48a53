/** Parses LevelDB's manifest: the list of live tables and the first live write-ahead log (its db/version_edit.cc). */
import { ByteReader } from './byte-reader.ts';
import type { LogRecord } from './log-reader.ts';

export interface Manifest {
  /** Live tables: number -> size in bytes. */
  tables: Map<number, number>;
  /** Write-ahead logs with this number and above are live; undefined when no edit says so. */
  logNumber: number | undefined;
  /** LevelDB's last sequence number at the time of the last edit. */
  lastSequence: number;
}

/** @throws RangeError when a record is not a version edit */
export function parseManifest(records: readonly LogRecord[]): Manifest {
  const manifest: Manifest = { tables: new Map(), logNumber: undefined, lastSequence: 0 };
  for (const { payload } of records) applyEdit(new ByteReader(payload), manifest);
  return manifest;
}

function applyEdit(edit: ByteReader, manifest: Manifest): void {
  while (!edit.isAtEnd) {
    const tag = edit.varint();
    switch (tag) {
      case 1: // The comparator's name.
        edit.string();
        break;
      case 2:
        manifest.logNumber = edit.varint();
        break;
      case 3: // The next file number.
      case 9: // The log number before the last compaction; zero since LevelDB 1.0.
        edit.varint();
        break;
      case 4:
        manifest.lastSequence = edit.varint();
        break;
      case 5: // Where the next compaction of a level begins.
        edit.varint();
        edit.string();
        break;
      case 6:
        edit.varint();
        manifest.tables.delete(edit.varint());
        break;
      case 7: {
        edit.varint();
        const number = edit.varint();
        manifest.tables.set(number, edit.varint());
        edit.string();
        edit.string();
        break;
      }
      default:
        throw new RangeError(`a version edit has the unknown field ${tag}`);
    }
  }
}
