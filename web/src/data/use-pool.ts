/** The runners of the pool, live. */
import type { DataMessage, PoolData, Runner, SitePool } from '../../../src/contract/types.ts';
import { useTopic, type Live } from './live.ts';

export interface Pool {
  runners: Map<string, Runner>;
  /** The resources that the coordinator holds for all runners. */
  siteResources: readonly SitePool[];
  /** The coordinator's clock minus this browser's, in ms. */
  clockOffsetMs: number;
}

function merge(before: Pool | undefined, message: DataMessage<PoolData>): Pool {
  const { runners, forgotten = [], site_resources: siteResources = [], now } = message.data;
  const all = message.type === 'snapshot' ? new Map<string, Runner>() : new Map(before?.runners);
  for (const id of forgotten) all.delete(id);
  for (const it of runners) all.set(it.id, it);
  return { runners: all, siteResources, clockOffsetMs: now - Date.now() };
}

export const usePool = (): Live<Pool> => useTopic('pool', merge);
