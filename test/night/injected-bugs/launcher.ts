/** Injected bugs of the launcher. */
import type { InjectedBug } from './injected-bug.ts';

export const LAUNCHER_BUGS: readonly InjectedBug[] = [
  {
    name: 'live allocations do not count towards the limits of core hours',
    file: 'src/launcher/decision/usage.js',
    find: 'isLive(it) ? c.cores * c.lifetimeMs : coreMsOf(c)',
    replace: 'isLive(it) ? 0 : coreMsOf(c)',
    test: 'launcher/decision/usage.test.js',
    title: 'counts live allocations with their whole lifetime, in every state',
  },
  {
    name: 'the whole of an ended allocation counts for the day',
    file: 'src/launcher/decision/usage.js',
    find: 'dayCoreMs += Math.min(used, Math.max(0, (c.endedAtMs ?? 0) - (now - DAY_MS)) * c.cores);',
    replace: 'dayCoreMs += used;',
    test: 'launcher/decision/usage.test.js',
    title: 'counts for the day the part of an ended allocation that is in the last 24 hours',
  },
  {
    name: 'a stopping allocation counts as capacity',
    file: 'src/launcher/decision/capacities.js',
    find: ' || it.context.stop !== undefined',
    replace: '',
    test: 'launcher/decision/wanted.test.js',
    title: 'does not count allocations that are stopped before their start',
  },
  {
    name: 'lost slots count as capacity',
    file: 'src/launcher/decision/capacities.js',
    find: 'usableSlots(c, lost)',
    replace: 'usableSlots(c, 0)',
    test: 'launcher/decision/wanted.test.js',
    title: 'does not count runners without a usable slot',
  },
  {
    name: 'the end of an allocation that is not ready is ignored',
    file: 'src/launcher/decision/capacities.js',
    find: 'return [newCapacity(queue, end)];',
    replace: 'return [newCapacity(queue, undefined)];',
    test: 'launcher/decision/wanted.test.js',
    title: 'does not count starting allocations that end too soon',
  },
];
