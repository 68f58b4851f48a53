/** Injected bugs of the rounds of adaptive studies; the seeded worlds find them. */
import type { InjectedBug } from './injected-bug.ts';

const APPEND = 'src/coordinator/rounds/append.js';
const STORE = 'src/coordinator/rounds/store-round.js';
const worlds = { test: 'sim/simulation.test.js', title: 'keeps its promises in' };

/** The turn, with its writes of rows put aside. */
const WITHOUT_ROWS =
  "new Proxy(turn, { get: (it, name) => name === 'put' ? (key, value) => key.startsWith('!rows!') ? void later.push([key, value]) : it.put(key, value) : typeof it[name] === 'function' ? it[name].bind(it) : it[name] })";

export const ROUND_BUGS: readonly InjectedBug[] = [
  {
    name: 'an append is answered ahead of its commit, and lost with a crash',
    file: APPEND,
    find: "await turns.run('append-round', (turn) => append(turn, batchId, request, packed));",
    replace: "turns.runNow('append-round', (turn) => append(turn, batchId, request, packed)).value;",
    ...worlds,
  },
  {
    name: 'a repeated append is stored as a round of its own',
    file: APPEND,
    find: 'if (known !== undefined)\n        return known;',
    replace: '',
    ...worlds,
  },
  {
    name: 'a round is split over two commits',
    file: APPEND,
    find: "const outcome = await turns.run('append-round', (turn) => append(turn, batchId, request, packed));",
    replace: `const later = []; const outcome = await turns.run('append-round', (turn) => append(${WITHOUT_ROWS}, batchId, request, packed)); if (later.length > 0) await turns.run('append-rows', (turn) => later.forEach((it) => turn.put(...it)));`,
    ...worlds,
  },
  {
    name: 'the keys of rounds are forgotten over a restart',
    file: STORE,
    find: "turn.put(keys['round-key'](batchId, key), String(rounds));",
    replace: '{}',
    ...worlds,
  },
];
