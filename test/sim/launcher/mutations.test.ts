/** Injected bugs of the launcher: the simulation must find each of them. */
import { allocationMachine } from '../../../machines/allocation/allocation.ts';
import { itFinds, replaced, type SoughtBug } from '../finds.ts';
import { playLauncher } from './scenario.ts';
import type { LauncherBug } from './site.ts';

/** The number of seeds within which a bug must be found. */
const SEEDS = 300;

/** Replaces a guard of the machine. */
const guard = (name: string, replacement: unknown): (() => void) =>
  replaced(allocationMachine.implementations.guards, name, replacement);

interface Mutation extends SoughtBug {
  bug?: LauncherBug;
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
  for (const mutation of MUTATIONS) itFinds(mutation, SEEDS, (seed) => playLauncher(seed, mutation.bug));
});
