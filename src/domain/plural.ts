/** Counts of things in words. */

/** `1 run`, `2 runs`; `many` where the plural is not the noun with an `s`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}
