/**
 * Transition tables as text: `state | event | target | facts | changes`, one row a line. Every pair of a state and an event is
 * tried against the machine; a pair without a row must be refused and change nothing.
 */
import { expect } from 'chai';
import { createActor, type AnyActorLogic, type AnyMachineSnapshot } from 'xstate';

export interface Exercise {
  machine: AnyActorLogic;
  /** Start snapshots, by their name in the table's first column. */
  states: Readonly<Record<string, AnyMachineSnapshot>>;
  /** Events, by their name in the table's second column: the type, and a variant in brackets. */
  events: Readonly<Record<string, { type: string }>>;
  /** Formats a fact for the fourth column. */
  fact(fact: never): string;
  /** The context members in the fifth column. */
  fields: readonly string[];
}

/** The outcome of one event in the form of the table; undefined when it was refused. */
function outcome(it: Exercise, from: AnyMachineSnapshot, event: { type: string }): string | undefined {
  const actor = createActor(it.machine, { snapshot: from });
  const facts: string[] = [];
  actor.on('*', (fact) => facts.push(it.fact(fact as never)));
  actor.subscribe({ error: () => {} });
  actor.start();
  const before = actor.getSnapshot() as AnyMachineSnapshot;
  const isLegal = before.can(event);
  actor.send(event);
  const after = actor.getSnapshot() as AnyMachineSnapshot;
  actor.stop();
  if (!isLegal) {
    expect(after.value, 'a refused event moved the machine').to.equal(from.value);
    expect(after.context, 'a refused event changed the context').to.deep.equal(before.context);
    expect(facts, 'a refused event emitted facts').to.deep.equal([]);
    return undefined;
  }
  const changes = it.fields.flatMap((field) => change(field, before.context[field], after.context[field]));
  return [String(after.value), facts.join(', ') || '-', changes.join(', ') || '-'].join(' | ');
}

/** `n+1` for a counter, `x set` and `x cleared` for optional members, `x changed` otherwise. */
function change(field: string, before: unknown, after: unknown): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (before === undefined) return [`${field} set`];
  if (after === undefined) return [`${field} cleared`];
  const isCount = typeof before === 'number' && typeof after === 'number' && Math.abs(after - before) < 100;
  return [isCount ? `${field}${after > before ? '+' : ''}${after - before}` : `${field} changed`];
}

/** The rows of the machine, in the form of the table. */
export function actualRows(it: Exercise): string[] {
  const rows: string[] = [];
  for (const [state, snapshot] of Object.entries(it.states)) {
    for (const [name, event] of Object.entries(it.events)) {
      const row = outcome(it, snapshot, event);
      if (row !== undefined) rows.push(`${state} | ${name} | ${row}`);
    }
  }
  return rows;
}

const rowsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s*\|\s*/g, ' | '))
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Checks that every row holds, and that every pair without a row is refused. Lines that begin with `#` are comments. */
export function expectTable(it: Exercise, text: string): void {
  const expected = rowsOf(text);
  const known = new Set(expected.map((row) => row.split(' | ').slice(0, 2).join(' | ')));
  expect(known.size, 'a pair is listed twice').to.equal(expected.length);
  const actual = actualRows(it);
  const missing = expected.filter((row) => !actual.includes(row));
  const surplus = actual.filter((row) => !expected.includes(row));
  expect({ missing, surplus }, 'rows the machine lacks, and rows it has beyond the table').to.deep.equal({
    missing: [],
    surplus: [],
  });
}
