/** Checks of the numbers in a request for an analysis, each with the member, the value and a remedy. */

/** The fault of a number that must be between 0 and 1, neither included. */
export function shareFault(name: string, value: number): string | undefined {
  return value > 0 && value < 1 ? undefined : `${name} is ${value}: it must be between 0 and 1; give 0.95 for 95 %`;
}

/** @throws RangeError when the number is not between 0 and 1. */
export function requireShare(name: string, value: number): void {
  const fault = shareFault(name, value);
  if (fault !== undefined) throw new RangeError(fault);
}
