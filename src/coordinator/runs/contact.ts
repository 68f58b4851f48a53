/** The contact of a runner, by a heartbeat or a claim: it holds these attempts, and its machine is like this. */
import { isDeepStrictEqual } from 'node:util';
import type { ClaimRequest, HeartbeatRequest, MachineState, RunnerContext } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { runnerOrThrow, sameInstanceOrThrow } from '../kernel/records/lookup.ts';
import type { Turn } from '../kernel/turn/turn.ts';

/** A heartbeat may have travelled this long at least, in ms. */
const LEAST_TRAVEL_MS = 1_000;

/** The offset of a clock is that which the travel of the heartbeat cannot explain, to 0.1 s. */
function measuredMachine(machine: MachineState, now: number): RunnerContext['machine'] {
  const { clock_ms: clockMs, round_trip_ms: roundTripMs = 0, disk_free_bytes: diskFreeBytes } = machine;
  const disk = diskFreeBytes === undefined ? {} : { diskFreeBytes };
  if (clockMs === undefined) return disk;
  // A heartbeat that took t to arrive shows a clock that is later by t.
  const shown = clockMs - now;
  const offsetMs = shown > 0 ? shown : Math.min(0, shown + Math.max(LEAST_TRAVEL_MS, roundTripMs));
  return { ...disk, clockOffsetMs: Math.round(offsetMs / 100) * 100 + 0 };
}

/** Records a contact of the registered process. */
export function recordContact(
  turn: Turn,
  runnerId: string,
  {
    instance,
    holding,
    slots_lost: slotsLost,
    machine,
    leaving,
    engines,
  }: Pick<ClaimRequest, 'instance' | 'holding' | 'slots_lost' | 'engines'> &
    Pick<HeartbeatRequest, 'machine' | 'leaving'>,
): void {
  const runner = runnerOrThrow(turn, runnerId);
  sameInstanceOrThrow(runner, instance);
  const measured = machine === undefined ? {} : { machine: measuredMachine(machine, turn.now) };
  const changed = engines === undefined || isDeepStrictEqual(engines, runner.context.engines) ? {} : { engines };
  const event = {
    type: 'HEARTBEAT' as const,
    instance,
    holding,
    slotsLost,
    leaving,
    ...measured,
    ...changed,
    now: turn.now,
  };
  const after = turn.trySend('runner', runnerId, event);
  // The machine refuses a heartbeat of the registered process only after its sign-off.
  if (after === undefined) {
    throw new SimbatchError('signed-off', `runner "${runnerId}" has signed off; register it again (POST /runners)`);
  }
}
