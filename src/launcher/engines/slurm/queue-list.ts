/** Reads the answer of squeue. Pure. */
import { oneLine, type EndKind, type EngineAllocation, type EngineState } from '../../engine.ts';
import { readComment } from './script.ts';

/** Job id, state, start, end, reason, comment. The comment is the last: the others have no `|`. */
export const SQUEUE_FORMAT = '%i|%T|%S|%e|%r|%k';
/** With this format of times, squeue writes seconds since 1970. */
export const SQUEUE_TIMES = '%s';

const QUEUED = new Set([
  'PENDING',
  'CONFIGURING',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'RESV_DEL_HOLD',
  'SPECIAL_EXIT',
]);
const ENDED: ReadonlyMap<string, EndKind> = new Map<string, EndKind>([
  ['COMPLETED', 'completed'],
  ['CANCELLED', 'cancelled'],
  ['REVOKED', 'cancelled'],
  ['FAILED', 'failed'],
  ['BOOT_FAIL', 'node-failure'],
  ['OUT_OF_MEMORY', 'out-of-memory'],
  ['NODE_FAIL', 'node-failure'],
  ['PREEMPTED', 'preempted'],
  ['TIMEOUT', 'timeout'],
  ['DEADLINE', 'timeout'],
]);

/**
 * The allocations of this launcher. A state that this program does not know counts as running: nothing ends because of it.
 * @param limited queues whose allocations have a memory limit of their own; the others run out of the memory of their node.
 */
export function readQueue(launcher: string, text: string, limited: ReadonlySet<string>): EngineAllocation[] {
  return text.split('\n').flatMap((row) => {
    const [handle = '', state = '', start = '', end = '', reason = '', ...comment] = row.trim().split('|');
    const named = readComment(launcher, comment.join('|'));
    if (named === undefined) return [];
    const isOfNode = state === 'OUT_OF_MEMORY' && !limited.has(named.queue);
    const found = allocationOf({ ...named, handle }, { state, start, end, reason });
    return [isOfNode ? { ...found, end: { kind: 'node-failure' } } : found];
  });
}

function allocationOf(
  named: Pick<EngineAllocation, 'id' | 'queue' | 'handle'>,
  { state, start, end, reason }: { state: string; start: string; end: string; reason: string },
): EngineAllocation {
  const kind = ENDED.get(state);
  const isQueued = QUEUED.has(state);
  const known: EngineAllocation = {
    ...named,
    state: kind === undefined ? stateOf(state) : 'ended',
    ...(kind === undefined ? {} : { end: { kind } }),
  };
  if (reason !== '' && reason !== 'None') known.reason = oneLine(`${state}: ${reason}`);
  else if (kind !== undefined && kind !== 'completed') known.reason = state;
  // Both are estimates while a job is queued.
  const [startedAtMs, endsAtMs] = [start, end].map((it) => (/^\d+$/.test(it) ? Number(it) * 1_000 : undefined));
  if (!isQueued && startedAtMs !== undefined) known.startedAtMs = startedAtMs;
  if (!isQueued && endsAtMs !== undefined) known.endsAtMs = endsAtMs;
  return known;
}

function stateOf(state: string): EngineState {
  if (QUEUED.has(state)) return 'queued';
  return state === 'COMPLETING' ? 'stopping' : 'running';
}
