/**
 * Damages every byte of a small store in turn, and truncates every file at every length: a start either refuses and names
 * the file, or serves exactly the records that were written.
 */
import { expect } from 'chai';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../../src/coordinator/kernel/storage/open-store.ts';
import type { Store } from '../../../../src/coordinator/kernel/storage/store.ts';
import { seededRandom } from '../../../support/simulated-clock.ts';

/** Of a large store every so many bytes are tried; SIM_BYTES=1 tries all. */
const STRIDE = Number(process.env.SIM_BYTES ?? 4_001);

const MEMORY = '/dev/shm';

async function recordsOf(store: Store): Promise<string> {
  const found: string[] = [];
  const view = store.snapshot();
  for await (const chunk of view.entries({ gte: '!', lt: '"' }))
    for (const [key, value] of chunk) if (!key.startsWith('!meta!')) found.push(`${key}=${value}=${store.get(key)}`);
  await view.close();
  return found.join('\n');
}

describe('coordinator/kernel/storage: damage at every byte', () => {
  let folder = '';
  before(() => (folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'simbatch-bytes-'))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A store with tables, a manifest of several edits and a log of several groups. */
  async function written(name: string, groups: number, bytes: number): Promise<{ directory: string; records: string }> {
    const directory = join(folder, name);
    const random = seededRandom(7);
    // Random digits: text that Snappy cannot compress much, so that blocks of either kind occur.
    const text = (): string => Array.from({ length: bytes }, () => Math.floor(random() * 36).toString(36)).join('');
    for (let life = 0; life < 2; life += 1) {
      const store = await openStore(directory);
      for (let group = 0; group < groups; group += 1) {
        await store.write([
          [`!job!${life}-${group}`, `{"text":"${text()}"}`],
          ['!batch!b', `{"n":${life * groups + group}}`],
          [`!requeue!${group}`, life === 0 ? '' : null],
        ]);
      }
      await store.close();
    }
    const store = await openStore(directory);
    const records = await recordsOf(store);
    await store.close();
    const again = await openStore(directory);
    await again.write([['!open!b', '']]);
    await again.write([['!runner!r', '{"value":"Idle"}']]);
    const complete = await recordsOf(again);
    await again.close();
    expect(complete).to.have.length.above(records.length);
    return { directory, records: complete };
  }

  interface Tally {
    refused: number;
    served: number;
  }

  /** Starts on a copy of the store in which one file has these bytes. */
  async function start(original: string, file: string, bytes: Buffer, records: string, tally: Tally, what: string) {
    const directory = join(folder, 'copy');
    rmSync(directory, { recursive: true, force: true });
    cpSync(original, directory, { recursive: true });
    writeFileSync(join(directory, file), bytes);
    let store: Store;
    try {
      store = await openStore(directory);
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      expect(code, `${what}: ${message}`).to.equal('store-damaged');
      expect(message, what).to.match(new RegExp(`${file}|MANIFEST-|high-water-mark`));
      tally.refused += 1;
      return;
    }
    const found = await recordsOf(store);
    await store.close();
    expect(found, what).to.equal(records);
    tally.served += 1;
  }

  const filesOf = (directory: string): string[] =>
    readdirSync(directory).filter((it) => /^(\d+\.(ldb|log)|MANIFEST-\d+|CURRENT|high-water-mark)$/.test(it));

  /** The bytes of the mark that have a meaning; the rest of its two pages is padding. */
  const isPadding = (file: string, at: number): boolean => file === 'high-water-mark' && at % 4096 > 120;

  for (const [size, groups, bytes, stride] of [
    ['small', 3, 40, 1],
    ['large', 60, 5_000, STRIDE],
  ] as const) {
    it(`${size} store: a flipped bit at any byte is refused, or changes nothing`, async () => {
      const { directory, records } = await written(`flip-${size}`, groups, bytes);
      const tally = { refused: 0, served: 0 };
      for (const file of filesOf(directory)) {
        const original = readFileSync(join(directory, file));
        for (let at = 0; at < original.length; at += stride) {
          if (isPadding(file, at)) continue;
          const damaged = Buffer.from(original);
          damaged[at]! ^= 1 << (at % 8);
          await start(directory, file, damaged, records, tally, `${file}, byte ${at}`);
        }
      }
      expect(tally.refused).to.be.above(size === 'small' ? 1_000 : 50);
    });

    it(`${size} store: a file truncated at any length is refused, or nothing is missing`, async () => {
      const { directory, records } = await written(`cut-${size}`, groups, bytes);
      const tally = { refused: 0, served: 0 };
      for (const file of filesOf(directory)) {
        const original = readFileSync(join(directory, file));
        for (let length = 0; length < original.length; length += stride) {
          if (isPadding(file, length)) continue;
          await start(directory, file, original.subarray(0, length), records, tally, `${file}, ${length} bytes`);
        }
      }
      expect(tally.refused).to.be.above(size === 'small' ? 1_000 : 50);
    });
  }
});
