/** Objects of options without the members that are undefined, as `exactOptionalPropertyTypes` wants them. */

/** The members that have a value: an option that is absent is not undefined. */
export const given = <T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
