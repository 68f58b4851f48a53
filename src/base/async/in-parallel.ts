/** Runs an operation for each item of a list, a limited number of them at the same time. */

/**
 * The results in the order of the items. Rejects with the first error, after the operations in flight have settled; no further one
 * begins then.
 */
export async function inParallel<T, R>(
  items: Iterable<T>,
  atOnce: number,
  operation: (item: T) => Promise<R>,
): Promise<R[]> {
  const left = [...items].entries();
  const results: R[] = [];
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && failures.length === 0; next = left.next()) {
      const [index, item] = next.value;
      try {
        results[index] = await operation(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
  return results;
}
