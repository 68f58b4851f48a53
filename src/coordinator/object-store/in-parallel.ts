/** Runs an operation for each item of a list, a limited number of them at the same time. */

/** Rejects with the first error, after the operations in flight have settled; no further one begins then. */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  operation: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && failures.length === 0; next = left.next()) {
      await operation(next.value).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
}
