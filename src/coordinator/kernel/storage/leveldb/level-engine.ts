/** LevelDB as the engine of a store: opens it, and translates its interface. */
import { Level } from 'level';
import { BytePauses } from '../../../../base/async/byte-pauses.ts';
import { Gate } from '../../../../base/async/gate.ts';
import type { Engine, EngineView, Operation } from '../engine.ts';
import type { KeyRange } from '../keys.ts';
import { hasBinary, isBinary, toBytes, toText, valueText } from './binary-values.ts';

const WRITE_BUFFER_BYTES = 32 * 1024 * 1024;
const CACHE_BYTES = 64 * 1024 * 1024;
/**
 * Bounds of a chunk of a view. Many readers have a chunk in memory each, which the collector of garbage copies until it is used up:
 * with ten times as much it took a fifth of the main thread.
 */
const [CHUNK_ENTRIES, CHUNK_BYTES] = [100, 128 * 1024];
/** The same of values that stay bytes, which no collector copies: each chunk is a message to another thread. */
const SEALED_BYTES = 512 * 1024;
/**
 * Chunks of views that are read at the same time. LevelDB reads and writes on the four threads of Node's pool, which work in the
 * order of asking: many readers would hold all of them, and each write would wait for several chunks.
 */
const READS_AT_ONCE = 2;

/** @throws the error of LevelDB; `cause.code` is LEVEL_LOCKED when another process has it open */
export async function openLevelEngine(directory: string): Promise<LevelEngine> {
  const level = new Level<string, string>(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'utf8',
    writeBufferSize: WRITE_BUFFER_BYTES,
    cacheSize: CACHE_BYTES,
  });
  await level.open();
  return new LevelEngine(level);
}

const BYTES = { valueEncoding: 'buffer' } as const;

interface GetOptions {
  snapshot?: ReturnType<Level['snapshot']>;
}
function getFrom(level: Level<string, string>, key: string, options: GetOptions = {}): string | undefined {
  if (!isBinary(key)) return level.getSync<string, string>(key, options);
  const bytes = level.getSync<string, Buffer>(key, { ...options, ...BYTES });
  return bytes === undefined ? undefined : toText(bytes);
}

type IteratorOptions = NonNullable<Parameters<Level['iterator']>[0]>;
/** An iterator whose values are bytes, as the texts that the store knows. */
function binaryIterator(level: Level<string, string>, options: IteratorOptions) {
  const iterator = level.iterator<string, Buffer>({ ...options, ...BYTES } as never);
  return {
    nextv: async (size: number): Promise<[string, string][]> =>
      (await iterator.nextv(size)).map(([key, bytes]) => [key, valueText(key, bytes)]),
    close: () => iterator.close(),
  };
}

/** The chunks of an iterator, which is closed after the last one. */
async function* chunksOf<E>(
  open: () => { nextv(size: number): Promise<E[]>; close(): Promise<void> },
  pass: (read: () => Promise<E[]>) => Promise<E[]>,
  chunkSize: number,
): AsyncGenerator<E[]> {
  const iterator = open();
  const read = (): Promise<E[]> => pass(() => iterator.nextv(chunkSize));
  let ahead: Promise<E[]> | undefined;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const chunk = await (ahead ?? read());
      if (chunk.length === 0) return;
      // A page is read whole with its first chunk; a longer reader has the next one read while it uses this one.
      if (!isFirst) ahead = read();
      // An error is thrown with the chunk that it prevents.
      ahead?.catch(() => {});
      yield chunk;
    }
  } finally {
    await iterator.close();
  }
}

export class LevelEngine implements Engine {
  readonly #level: Level<string, string>;
  readonly #reads = new Gate(READS_AT_ONCE);

  constructor(level: Level<string, string>) {
    this.#level = level;
  }

  get(key: string): string | undefined {
    return getFrom(this.#level, key);
  }

  async write(operations: readonly Operation[], { sync }: { sync: boolean }): Promise<void> {
    const batch = this.#level.batch();
    const pauses = new BytePauses();
    for (const [key, value] of operations) {
      const later = pauses.before(value?.length ?? 0);
      if (later !== undefined) await later;
      if (value === null) batch.del(key);
      else if (isBinary(key)) batch.put<string, Buffer>(key, toBytes(value), BYTES);
      else batch.put(key, value);
    }
    await batch.write({ sync });
  }

  snapshot(): EngineView {
    const level = this.#level;
    const reads = this.#reads;
    const snapshot = level.snapshot();
    return {
      get: (key) => getFrom(level, key, { snapshot }),
      entries(range, { chunkSize = CHUNK_ENTRIES, reverse = false } = {}) {
        const options = { ...range, reverse, snapshot, highWaterMarkBytes: CHUNK_BYTES };
        const open = () => (hasBinary(range) ? binaryIterator(level, options) : level.iterator(options));
        return chunksOf<[string, string]>(open, (read) => reads.pass(read), chunkSize);
      },
      sealed(range, { chunkSize = CHUNK_ENTRIES } = {}) {
        const options = { ...range, snapshot, highWaterMarkBytes: SEALED_BYTES, ...BYTES };
        const open = () => level.iterator<string, Buffer>(options as never);
        return chunksOf<[string, Buffer]>(open, (read) => reads.pass(read), chunkSize);
      },
      close: () => snapshot.close(),
    };
  }

  async compact({ gte, lt }: KeyRange): Promise<void> {
    await (this.#level as unknown as { compactRange(start: string, end: string): Promise<void> }).compactRange(gte, lt);
  }

  async close(): Promise<void> {
    await this.#level.close();
  }
}
