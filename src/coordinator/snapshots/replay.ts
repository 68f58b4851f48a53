/**
 * Replays a snapshot: sends its events through the machines again and compares the effects with the recorded ones. An export
 * has no events; those of its jobs are derived from their histories, and its counters are recounted.
 */
import type { Fact } from '../../../machines/protocol.ts';
import type {
  RecordedMessage,
  RecordedTurn,
  Scenario,
  Snapshot,
  SnapshotRecord,
  StoredState,
  Study,
} from './format.ts';
import { splitKey } from './format.ts';
import { DivergenceLog, type ReplayReport } from './divergence.ts';
import { ConsistencyCheck } from './consistency-check.ts';
import { ActorPlayer } from '../../../machines/actor-player.ts';
import { KINDS } from '../../../machines/kinds.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { unusable } from './read.ts';

/**
 * Replays a snapshot.
 * @throws SimbatchError `snapshot-unusable` when it cannot be read to its end
 */
export async function replaySnapshot(snapshot: Snapshot): Promise<ReplayReport> {
  const findings = new DivergenceLog();
  switch (snapshot.kind) {
    case 'scenario':
      replayScenario(snapshot, findings);
      break;
    case 'study': {
      const stage = new Stage(findings);
      for (const turn of snapshot.turns) stage.play(turn);
      await checkRecords(snapshot.records, findings, (record) => stage.compareEnd(record));
      stage.finish();
      break;
    }
    case 'export':
      await checkRecords(snapshot.records, findings);
      break;
  }
  return findings.report;
}

async function checkRecords(
  records: AsyncIterable<SnapshotRecord>,
  findings: DivergenceLog,
  also: (record: SnapshotRecord) => void = () => {},
): Promise<void> {
  const check = new ConsistencyCheck(findings);
  for await (const record of records) {
    check.add(record);
    also(record);
  }
  check.finish();
}

/** A machine may throw on hostile input: then the file is unusable. */
function guarded<T>(where: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw unusable(`${where} cannot be played: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

function replayScenario(scenario: Scenario, findings: DivergenceLog): void {
  findings.report.actors = 1;
  const player = guarded('its start', () => ActorPlayer.begin(scenario.machine, scenario.input));
  findings.compare('the start', '', scenario.start, player.stored);
  findings.compare('the start', 'facts', scenario.startFacts ?? [], player.takeFacts());
  for (const [at, step] of scenario.steps.entries()) {
    const where = `step ${at + 1}`;
    findings.report.events += 1;
    if ('restart' in step) {
      const { changed } = guarded(where, () => player.restart(step.restart));
      findings.compare(`${where} (restart)`, 'changed', step.changed ?? {}, changed ?? {});
      continue;
    }
    const { event, ...recorded } = step;
    const now = guarded(where, () => player.send(event));
    const named = `${where} (${event.type})`;
    if (now === 'refused' || 'refused' in recorded) {
      if ((now === 'refused') !== 'refused' in recorded)
        findings.add(
          named,
          `the event is ${now === 'refused' ? 'accepted in the record and refused' : 'refused in the record and accepted'} now`,
        );
      continue;
    }
    findings.compare(named, '', recorded, now);
  }
  findings.compare('the end', '', scenario.end, player.stored);
}

/** The actors of a recorded study, with the stored state of each. */
class Stage {
  readonly #findings: DivergenceLog;
  readonly #players = new Map<string, ActorPlayer>();
  /** The state after the last turn that sent the actor an event, as a store has it. */
  readonly #stored = new Map<string, StoredState>();
  #turn = 0;

  constructor(findings: DivergenceLog) {
    this.#findings = findings;
  }

  play(turn: Study['turns'][number]): void {
    this.#turn += 1;
    if ('restart' in turn) this.#restart(turn.at);
    else this.#playTurn(turn);
  }

  #playTurn(turn: RecordedTurn): void {
    const where = `turn ${this.#turn} (${turn.operation})`;
    const touched = new Set<string>();
    const facts: Fact[] = [];
    for (const message of turn.messages ?? []) {
      this.#findings.report.events += 1;
      facts.push(...guarded(where, () => this.#deliver(where, message)));
      touched.add(message.to);
    }
    this.#findings.compare(where, 'facts', turn.facts ?? [], facts);
    const states: Record<string, string> = {};
    for (const address of touched) {
      const player = this.#players.get(address);
      if (player === undefined) continue;
      this.#stored.set(address, player.stored);
      states[address] = player.state;
    }
    this.#findings.compare(where, '', turn.states ?? {}, states);
  }

  #deliver(where: string, message: RecordedMessage): Fact[] {
    const { to } = message;
    if ('create' in message) {
      const player = ActorPlayer.begin(kindOf(to), message.create);
      this.#players.set(to, player);
      return player.takeFacts();
    }
    const player = this.#playerAt(to);
    const result = player?.send(message.event);
    if (result === undefined) this.#findings.add(where, `${message.event.type} is for the unknown actor ${to}`);
    else if (result === 'refused') this.#findings.add(where, `${to} does not accept ${message.event.type} now`);
    else return result.facts ?? [];
    return [];
  }

  #playerAt(address: string): ActorPlayer | undefined {
    const known = this.#players.get(address);
    if (known !== undefined || kindOf(address) !== 'job') return known;
    const { id } = splitKey(address);
    const batch = this.#players.get(`batch/${batchIdOf(id)}`);
    if (batch === undefined) return undefined;
    const player = ActorPlayer.begin('job', jobInput(id, batch.stored));
    this.#players.set(address, player);
    return player;
  }

  #restart(now: number): void {
    for (const player of this.#players.values()) player.restart(now);
  }

  /** Compares an actor with its record at the end of the study. */
  compareEnd({ key, value }: SnapshotRecord): void {
    const { name } = splitKey(key);
    if (name !== 'batch' && name !== 'job' && name !== 'runner') return;
    const stored = this.#stored.get(key);
    if (stored === undefined) {
      this.#findings.add(key, 'it has a record, and no event created it');
      return;
    }
    this.#stored.delete(key);
    this.#findings.compare(key, '', value, name === 'job' ? withoutInput(stored) : stored);
  }

  finish(): void {
    this.#findings.report.actors = this.#players.size;
    for (const address of this.#stored.keys()) this.#findings.add(address, 'it was changed, and has no record');
  }
}

function kindOf(address: string): 'job' | 'batch' | 'runner' {
  const { name } = splitKey(address);
  if (name === 'job' || name === 'batch' || name === 'runner') return name;
  throw new Error(`"${address}" is the address of no actor`);
}

/** The members that a job shares with its batch are not stored with it. */
function withoutInput(stored: StoredState): StoredState {
  const unstored: readonly string[] = KINDS.job.unstored;
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !unstored.includes(name))) as StoredState;
}

function jobInput(jobId: string, batch: StoredState): Record<string, unknown> {
  const shared = KINDS.job.unstored.map((name) => [name, batch[name]]);
  return { ...Object.fromEntries(shared), jobId, runId: runIdOf(jobId) };
}
