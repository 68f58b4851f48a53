/** The test that a simulation finds an injected bug within a number of seeds. */
import { expect } from 'chai';
import { Violation } from './acknowledged.ts';

export interface SoughtBug {
  name: string;
  /** Modifies the program; returns a function that restores it. */
  patch?: () => () => void;
  /** The violation that the simulation must report. */
  says: RegExp;
}

/** Replaces a member of an object; returns a function that restores it. */
export function replaced(target: object, name: string, replacement: unknown): () => void {
  const patchable = target as Record<string, unknown>;
  if (!(name in target)) throw new Error(`there is no ${name} to replace`);
  const original = patchable[name];
  patchable[name] = replacement;
  return () => {
    patchable[name] = original;
  };
}

/** A record with one member changed. */
export const altered = (record: string, change: (it: Record<string, unknown>) => Record<string, unknown>): string =>
  JSON.stringify(change(JSON.parse(record) as Record<string, unknown>));

/** Registers the test; an error that is not a violation fails it. */
export function itFinds(
  { name, patch, says }: SoughtBug,
  seeds: number,
  play: (seed: number) => Promise<unknown>,
): void {
  it(`finds: ${name}`, async function () {
    this.timeout(0);
    const restore = patch?.();
    let found: unknown;
    try {
      for (let seed = 1; seed <= seeds && found === undefined; seed += 1) {
        await play(seed).catch((error: unknown) => (found = error));
      }
    } finally {
      restore?.();
    }
    expect(found, `not found in ${String(seeds)} seeds`).to.be.instanceOf(Violation);
    expect((found as Error).message).to.match(says);
  });
}
