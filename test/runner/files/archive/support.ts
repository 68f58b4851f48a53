/** The folder of an attempt for tests of archives. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../../src/base/clock.ts';
import { ArchivedFiles } from '../../../../src/runner/files/archive/archived-files.ts';
import { listRunFiles } from '../../../../src/runner/files/list-files.ts';

export class AttemptFolder {
  readonly root: string;
  readonly directory: string;
  readonly archived = new ArchivedFiles(systemClock);

  constructor(root = mkdtempSync(join(tmpdir(), 'simbatch-archive-'))) {
    this.root = root;
    this.directory = join(root, '8b0c0c3e-0000-4000-8000-000000000001', '00000017', 'attempt-1');
    mkdirSync(this.directory, { recursive: true });
  }

  at(path: string): string {
    return join(this.directory, path);
  }

  write(files: Readonly<Record<string, string | Buffer>>): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(this.at(path)), { recursive: true });
      writeFileSync(this.at(path), content);
    }
  }

  /** The paths of all entries. */
  entries(): string[] {
    return readdirSync(this.directory, { recursive: true, encoding: 'utf8' }).sort();
  }

  /** The content of a file of the archive, else of the folder; the fault where it cannot be read. */
  async read(path: string, offset = 0, length = 1e9): Promise<string> {
    const part = await this.archived.part(this.directory, path, { offset, length, maxBytes: 1e9 });
    if (part === undefined) return readFileSync(this.at(path), 'utf8');
    return 'fault' in part ? `${part.fault}: ${part.detail}` : Buffer.from(part.bytes).toString('utf8');
  }

  list() {
    return listRunFiles(this.directory, this.archived, new AbortController().signal);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
