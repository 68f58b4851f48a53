/** Names in an order that is the same on every machine. */

/** The names by UTF-16 code unit and not by locale. */
export const sortedNames = (names: Iterable<string>): string[] => [...names].sort();
