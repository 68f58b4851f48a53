/** The rows that a condition selects, in the order of a request: run ids only, so that a page costs what its rows cost. */
import type { Column } from '../../../../analysis/export/columns.ts';
import { RowOrder } from '../../../../analysis/export/order.ts';
import { SimbatchError } from '../../../../domain/errors.ts';
import { type Row, rowBlocks } from './members.ts';
import type { TablePlan } from './plan.ts';
import { kindsFor, RowWriter } from './row-writer.ts';

/** Rows that are tested at once. */
const TESTED = 500;

/** In the order of the request. `members[i]` is the place of the member that has the run `runs[i]`. */
export interface Selection {
  members: Uint16Array;
  runs: Uint32Array;
  /** All runs, selected or not. */
  of: number;
}

/** The rows of a block that the condition of a plan selects; all without one. */
export function rowFilter({ condition }: TablePlan): (rows: readonly Row[]) => readonly Row[] {
  if (condition === undefined) return (rows) => rows;
  const writer = new RowWriter(condition.columns, TESTED);
  const tested = (rows: readonly Row[]): Row[] => {
    writer.chunk.clear();
    for (const row of rows) writer.write(row);
    const isSelected = condition.select(writer.chunk);
    return rows.filter((_, at) => isSelected[at] === 1);
  };
  return (rows) => {
    if (rows.length <= TESTED) return tested(rows);
    const selected: Row[] = [];
    for (let at = 0; at < rows.length; at += TESTED) selected.push(...tested(rows.slice(at, at + TESTED)));
    return selected;
  };
}

/** Rows whose places are held for a page or an order. */
const MAX_SELECTED = 20_000_000;

function tooMany(rows: number): SimbatchError {
  return new SimbatchError(
    'answer-too-large',
    `the rows of the table are not put in order: there are ${String(rows)} or more, and the limit is ${String(MAX_SELECTED)}; select fewer with \`where\`, or read the whole table without \`sort\` and \`limit\``,
  );
}

/**
 * Reads all rows once. Memory: 6 bytes a selected row, and what `RowOrder` needs.
 * @throws SimbatchError `answer-too-large`
 */
export async function selectRows(plan: TablePlan): Promise<Selection> {
  const { members, condition, sort } = plan;
  const rows = Math.max(...members.map((it) => it.selection.count));
  if (condition === undefined && rows > MAX_SELECTED) throw tooMany(rows);
  const keyColumns = sort.map((it) => it.column);
  const used = [...new Set<Column>([...(condition?.columns ?? []), ...keyColumns])];
  const select = rowFilter(plan);
  const order = new RowOrder(sort, plan.comparesAsNumbers);
  const keys = new RowWriter(keyColumns, 1);
  const refs = new Refs();
  let of = 0;
  for await (const block of rowBlocks(members, kindsFor(used))) {
    of += block.length;
    for (const row of select(block)) {
      if (refs.count === MAX_SELECTED) throw tooMany(refs.count);
      refs.add(row);
      if (sort.length === 0) continue;
      keys.chunk.clear();
      keys.write(row);
      order.add(keys.chunk.cells, 0);
    }
  }
  return { ...(sort.length === 0 ? refs.all() : refs.inOrder(order.sorted())), of };
}

/** Growing lists of members and runs. */
class Refs {
  #members = new Uint16Array(1024);
  #runs = new Uint32Array(1024);
  #rows = 0;

  get count(): number {
    return this.#rows;
  }

  add({ member, run }: Row): void {
    if (this.#rows === this.#runs.length) {
      const [members, runs] = [new Uint16Array(this.#rows * 2), new Uint32Array(this.#rows * 2)];
      members.set(this.#members);
      runs.set(this.#runs);
      [this.#members, this.#runs] = [members, runs];
    }
    this.#members[this.#rows] = member.place;
    this.#runs[this.#rows++] = run.runId;
  }

  all(): Pick<Selection, 'members' | 'runs'> {
    return { members: this.#members.slice(0, this.#rows), runs: this.#runs.slice(0, this.#rows) };
  }

  inOrder(order: Uint32Array): Pick<Selection, 'members' | 'runs'> {
    return {
      members: Uint16Array.from(order, (row) => this.#members[row]!),
      runs: Uint32Array.from(order, (row) => this.#runs[row]!),
    };
  }
}
