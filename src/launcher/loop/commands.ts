/** Applies the commands of an operator: pause and resume queues, stop allocations. No I/O. */
import type { Clock } from '../../base/clock.ts';
import type { LauncherConfig } from '../settings.ts';
import type { Allocations } from '../state/allocations.ts';
import { afterPause, afterResume, type QueueState } from '../state/queue-state.ts';
import { runnerNameOf } from './observe.ts';
import type { LauncherLog, OperatorCommand } from './ports.ts';

interface CommandParts {
  allocations: Allocations;
  queues: {
    queueState(name: string): QueueState;
    setQueueState(name: string, state: QueueState): void;
    forgetSettings(name: string): void;
  };
  config: LauncherConfig;
  clock: Pick<Clock, 'now'>;
  log: LauncherLog;
}

export function applyCommand(
  command: OperatorCommand,
  { allocations, queues, config, clock, log }: CommandParts,
): void {
  const now = clock.now();
  if (command.type === 'stop') {
    const { queue, allocation, immediately, reason } = command;
    for (const { context } of allocations.live()) {
      const isMeant = allocation === undefined || allocation === context.id || allocation === runnerNameOf(context);
      if (!isMeant || (queue !== undefined && queue !== context.queue)) continue;
      allocations.send(context.id, { type: 'STOP', reason, isFailure: false, immediately, now });
      log('info', `${runnerNameOf(context)} is stopped${immediately ? ' now' : ''}: ${reason}`);
    }
    return;
  }
  for (const { name } of config.queues) {
    if (command.queue !== undefined && command.queue !== name) continue;
    const state = queues.queueState(name);
    if (command.type === 'resume') queues.forgetSettings(name);
    queues.setQueueState(name, command.type === 'pause' ? afterPause(state, command.reason, now) : afterResume(state));
    log('info', `${name} is ${command.type === 'pause' ? `paused: ${command.reason}` : 'resumed'}`);
  }
}
