/** Positions of pages within a table. */
import type { Member } from './members.ts';

/** Where a page begins: at the first row from a run on, or in a sorted table after `offset` rows. */
export interface PageStart {
  replicate: number;
  runId: number;
  offset: number;
  /** The version of the studies when the first page of a sorted table was read; absent otherwise. */
  version: string | undefined;
}

/** The position after a run. */
export const runPosition = ({ replicate }: Member, runId: number): string => `${replicate}.${runId}`;

export const sortedPosition = (offset: number, version: string): string => `${offset}:${version}`;

/** Positions come from cursors with a check sum: they are as they were written. */
export function readPosition(position: string | undefined): PageStart {
  if (position === undefined) return { replicate: 0, runId: 0, offset: 0, version: undefined };
  const [offset, version] = position.split(':');
  if (version !== undefined) return { replicate: 0, runId: 0, offset: Number(offset), version };
  const [replicate, runId] = position.split('.').map(Number);
  return { replicate: replicate!, runId: runId! + 1, offset: 0, version: undefined };
}

/** The number of rows of a table: runs of different replicates are different ones, those of one replicate are counted once. */
export function countRows(members: readonly Member[]): number {
  const groups = new Map<number, Member[]>();
  for (const it of members) groups.set(it.replicate, [...(groups.get(it.replicate) ?? []), it]);
  let count = 0;
  for (const group of groups.values()) {
    for (const [at, { selection }] of group.entries()) {
      if (at === 0) count += selection.count;
      else for (const runId of selection.runIds()) if (isFirst(group, at, runId)) count++;
    }
  }
  return count;
}

const isFirst = (group: readonly Member[], at: number, runId: number): boolean =>
  group.findIndex(({ selection }) => selection.indexOf(runId) !== undefined) === at;
