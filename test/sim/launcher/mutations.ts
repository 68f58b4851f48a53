/** Injected bugs of the launcher: the simulation must find each of them. */
import { allocationMachine } from '../../../machines/allocation/allocation.ts';
import { runnerMachine } from '../../../machines/runner.ts';
import { replaced, type SoughtBug } from '../finds.ts';
import type { LauncherBug } from './site.ts';

/** Replaces a guard of the machine. */
const guard = (name: string, replacement: unknown): (() => void) =>
  replaced(allocationMachine.implementations.guards, name, replacement);

/** The number of seeds within which a bug must be found. */
export const SEEDS = 300;

const EXCEEDS = 'allocations (live|are queued), and the limit is';
const GIVEN_UP = 'was given up as never submitted';

export interface LauncherMutation extends SoughtBug {
  bug?: LauncherBug;
}

const recordOf = (value: string | null): { value?: string } =>
  value === null ? {} : (JSON.parse(value) as { value?: string });

export const LAUNCHER_MUTATIONS: readonly LauncherMutation[] = [
  {
    name: 'a submission without an answer is given up before it has settled',
    patch: () => guard('isSettled', () => true),
    says: new RegExp(`${EXCEEDS}|${GIVEN_UP}`),
  },
  {
    name: 'a submission settles from its beginning and not from its end',
    patch: () =>
      guard(
        'isSettled',
        ({ context: c, event }: { context: { submittedAtMs: number; settleMs: number }; event: { now: number } }) =>
          event.now >= c.submittedAtMs + c.settleMs,
      ),
    says: new RegExp(`${EXCEEDS}|${GIVEN_UP}`),
  },
  {
    name: 'an engine that gives no answer has no allocations',
    bug: { silenceIsEmpty: true },
    says: new RegExp(`${EXCEEDS}|${GIVEN_UP}|core hours are used`),
  },
  {
    name: 'a submission is called before its intent is on disk',
    bug: { written: (changes) => [...changes].filter(([, value]) => recordOf(value).value !== 'Submitting') },
    says: new RegExp(`${EXCEEDS}|${GIVEN_UP}|core hours are used`),
  },
  {
    name: 'an allocation that the cluster takes away counts as a loss',
    patch: () => {
      const { guards } = runnerMachine.implementations;
      const restores = [
        replaced(guards, 'isMachineGone', () => false),
        replaced(guards, 'hasFailedWithMachine', () => true),
      ];
      return () => {
        for (const restore of restores) restore();
      };
    },
    says: /counts as a loss: runner .* was ended: its allocation .* has ended|counts after 10 reports that .* was taken away/,
  },
  {
    name: 'a report that comes after the lease takes no loss back',
    patch: () => replaced(runnerMachine.implementations.guards, 'isMachineGoneLate', () => false),
    says: /counts after 10 reports that .* was taken away/,
  },
  {
    name: 'tokens are not revoked',
    bug: { keepsTokens: true },
    says: /tokens/,
  },
];
