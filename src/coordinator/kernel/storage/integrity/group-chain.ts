/**
 * The chain of group commits: each group has the next number and the hash of the group before it, in a record of its own.
 * A missing, altered or foreign group breaks the chain.
 */
import { valueText } from '../leveldb/binary-values.ts';
import { hash as digest } from 'node:crypto';
import type { Operation } from '../engine.ts';
import { keys } from '../keys.ts';
import type { WriteBatch } from '../leveldb/write-batch.ts';
import { checksum, checksumOf, unseal } from './checksum.ts';

export interface GroupRecord {
  /** 1 for the first group of a store. */
  number: number;
  /** The hash of the group before it; empty for the first one. */
  before: string;
  /** Hash of `before`, the number and the checksums of all records of the group. */
  hash: string;
}

export const GROUP_KEY = keys.meta('group');
/** The format version; stored without a checksum, so that every version of the program can read it. */
export const FORMAT_KEY = keys.meta('format');

const HASH_LENGTH = 16;

/** The record of the group after `last`. `sums` has the `operationSum` of each of its operations, in order. */
export function nextGroup(last: GroupRecord | undefined, sums: string): GroupRecord {
  const number = (last?.number ?? 0) + 1;
  const before = last?.hash ?? '';
  return { number, before, hash: hashOf(number, before, sums) };
}

const hashOf = (number: number, before: string, sums: string): string =>
  digest('sha256', `${number} ${before}\n${sums}`, 'hex').slice(0, HASH_LENGTH);

/** The checksum of a sealed record, or of a deletion. */
export const operationSum = ([key, sealed]: Operation): string =>
  sealed === null ? deletionSum(key) : checksumOf(sealed);

export const deletionSum = (key: string): string => `-${checksum(key, '')}`;

const sumsOf = (operations: readonly Operation[]): string => operations.map(operationSum).join('');

export const encodeGroup = ({ number, before, hash }: GroupRecord): string => `${number} ${before} ${hash}`;

/** undefined when the text is not a group record. */
export function decodeGroup(text: string): GroupRecord | undefined {
  const [, number, before = '', hash = ''] = /^(\d+) ([0-9a-f]*) ([0-9a-f]{16})$/.exec(text) ?? [];
  return number === undefined ? undefined : { number: Number(number), before, hash };
}

/** Checks the groups in the write-ahead logs, one write at a time. */
export class ChainCheck {
  /** Hashes by number, of the groups seen. */
  readonly hashes = new Map<number, string>();
  last: GroupRecord | undefined;

  /** The fault of a write; undefined when it follows the writes before it. */
  add({ changes }: WriteBatch): string | undefined {
    const operations = changes.map(({ key: bytes, value }): Operation => {
      const name = bytes.toString();
      return [name, value === null ? null : valueText(name, value)];
    });
    const [key, sealed] = operations.at(-1) ?? ['', null];
    if (key !== GROUP_KEY || sealed === null) {
      // Writes of format 1 and of its migration come before the first group.
      return this.last === undefined ? undefined : 'it has no group record';
    }
    const group = decodeGroup(unseal(key, sealed) ?? '');
    if (group === undefined) return 'its group record is damaged';
    const damaged = operations.find(
      ([name, it]) => it !== null && name !== FORMAT_KEY && unseal(name, it) === undefined,
    );
    if (damaged !== undefined) return `the checksum of ${JSON.stringify(damaged[0])} does not match`;
    if (hashOf(group.number, group.before, sumsOf(operations.slice(0, -1))) !== group.hash)
      return 'its hash does not match';
    const { last } = this;
    if (last !== undefined && (group.number !== last.number + 1 || group.before !== last.hash)) {
      return `group ${group.number} does not follow group ${last.number}`;
    }
    this.last = group;
    this.hashes.set(group.number, group.hash);
    return undefined;
  }
}
