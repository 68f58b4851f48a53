/** Injected bugs of the rounds of adaptive studies; the seeded worlds find them. */
import type { InjectedBug } from './injected-bug.ts';

const APPEND = 'src/coordinator/rounds/append.js';
const STORE = 'src/coordinator/rounds/store-round.js';
const RARE = 'src/coordinator/rounds/rare-events.js';
const worlds = { test: 'sim/simulation.test.js', title: 'keeps its promises in' };

const rareWorlds = { test: 'sim/rare/rare.long.test.js', title: 'worlds with faults in every phase' };

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
  {
    name: 'the decision of a round of rare events is lost at a restart',
    file: RARE,
    find: 'restore() {',
    replace: 'restore() { return;',
    ...rareWorlds,
  },
  {
    name: 'a round of rare events is appended again after its commit',
    file: RARE,
    find: "await this.#parts.turns.run('append-rare-round', (turn) => append(turn, batchId, outcome));",
    replace:
      "for (const again of [0, 1]) await this.#parts.turns.run('append-rare-round', (turn) => append(turn, batchId, outcome.kind === 'round' ? { ...outcome, round: outcome.round + again } : outcome));",
    ...rareWorlds,
  },
  {
    name: 'runs that lost telemetry are taken as passing by studies of rare events',
    file: 'src/analysis/rare/answer/scores.js',
    find: 'code !== CLASS_CODES.ok || isTelemetryLost ||',
    replace: 'code !== CLASS_CODES.ok ||',
    ...rareWorlds,
  },
];
