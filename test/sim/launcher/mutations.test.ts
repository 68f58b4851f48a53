/** Injected bugs of the launcher: the simulation must find each of them. */
import { expect } from 'chai';
import { allocationMachine } from '../../../machines/allocation/allocation.ts';
import { Violation } from '../acknowledged.ts';
import { playLauncher } from './scenario.ts';
import type { LauncherBug } from './site.ts';

/** The number of seeds within which a bug must be found. */
const SEEDS = 300;

type Guards = Record<string, unknown>;

/** Replaces a guard of the machine; returns a function that restores it. */
function guard(name: string, replacement: unknown): () => void {
  const guards = allocationMachine.implementations.guards as Guards;
  const original = guards[name];
  guards[name] = replacement;
  return () => {
    guards[name] = original;
  };
}

interface Mutation {
  name: string;
  bug?: LauncherBug;
  patch?: () => () => void;
  says: RegExp;
}

const recordOf = (value: string | null): { value?: string } =>
  value === null ? {} : (JSON.parse(value) as { value?: string });

const MUTATIONS: Mutation[] = [
  {
    name: 'a submission without an answer is given up before it has settled',
    patch: () => guard('isSettled', () => true),
    says: /allocations (live|are queued), and the limit is/,
  },
  {
    name: 'a submission settles from its beginning and not from its end',
    patch: () =>
      guard(
        'isSettled',
        ({ context: c, event }: { context: { submittedAtMs: number; settleMs: number }; event: { now: number } }) =>
          event.now >= c.submittedAtMs + c.settleMs,
      ),
    says: /allocations (live|are queued), and the limit is/,
  },
  {
    name: 'an engine that gives no answer has no allocations',
    bug: { silenceIsEmpty: true },
    says: /allocations (live|are queued), and the limit is|core hours are used/,
  },
  {
    name: 'a submission is called before its intent is on disk',
    bug: { written: (changes) => [...changes].filter(([, value]) => recordOf(value).value !== 'Submitting') },
    says: /allocations (live|are queued), and the limit is|core hours are used/,
  },
  {
    name: 'tokens are not revoked',
    bug: { keepsTokens: true },
    says: /tokens/,
  },
];

describe('sim/launcher: injected bugs', () => {
  for (const { name, bug, patch, says } of MUTATIONS) {
    it(`finds: ${name}`, async function () {
      this.timeout(0);
      const restore = patch?.();
      try {
        let found = '';
        for (let seed = 1; seed <= SEEDS && found === ''; seed += 1) {
          try {
            await playLauncher(seed, bug);
          } catch (error) {
            if (!(error instanceof Violation)) throw error;
            found = error.message;
          }
        }
        expect(found, `not found in ${SEEDS} seeds`).to.match(says);
      } finally {
        restore?.();
      }
    });
  }
});
