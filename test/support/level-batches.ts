/** The batches that are written to LevelDB while a test looks. */
import { Level } from 'level';

export interface WrittenBatch {
  /** `put key` and `del key`. */
  operations: string[];
  sync: boolean | undefined;
}

interface Chained {
  put(key: string, value: string): unknown;
  del(key: string): unknown;
  write(options?: { sync?: boolean }): Promise<void>;
}

/** Calls `act` and returns the batches of all stores meanwhile, in their order. */
export async function batchesWhile(act: (written: readonly WrittenBatch[]) => Promise<void>): Promise<WrittenBatch[]> {
  const prototype = Level.prototype as unknown as { batch: () => Chained };
  const original = prototype.batch;
  const written: WrittenBatch[] = [];
  prototype.batch = function (this: unknown) {
    const batch = original.call(this);
    const operations: string[] = [];
    const [put, del, write] = [batch.put.bind(batch), batch.del.bind(batch), batch.write.bind(batch)];
    return Object.assign(batch, {
      put(key: string, value: string) {
        operations.push(`put ${key}`);
        return put(key, value);
      },
      del(key: string) {
        operations.push(`del ${key}`);
        return del(key);
      },
      write(options?: { sync?: boolean }) {
        written.push({ operations, sync: options?.sync });
        return write(options);
      },
    });
  };
  try {
    await act(written);
  } finally {
    prototype.batch = original;
  }
  return written;
}
