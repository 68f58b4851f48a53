/** The runner machine: its transition table as text, its graph, its deadlines, and its consistency under any events. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { createActor, getInitialSnapshot, getNextSnapshot } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import type { Fact, RegisterEvent, RunnerEvent } from '../../machines/protocol.ts';
import { reviveRunner, runnerDeadline } from '../../machines/runner-context.ts';
import { runnerMachine, type RunnerSnapshot } from '../../machines/runner.ts';
import { RUNNER_STATUSES } from '../../src/contract/enums.ts';
import { expectTable, type Exercise } from '../support/transition-table.ts';
import { CHANGES, HELD, NOW, RUNNER_EVENTS, runnerIn } from './runner.fixture.ts';
import { times } from '../support/properties.ts';

function fact(it: Fact): string {
  const named = 'held' in it ? it.held : 'lost' in it ? it.lost : undefined;
  const held = named === undefined ? '' : ` ${named.map((ref) => ref.job_id).join(' ') || 'nothing'}`;
  return `${it.type.replace('runner.', '')}${held}`;
}

const held = [HELD];
const missing = [{ ...HELD, missingSinceMs: NOW }];

const exercise: Exercise = {
  machine: runnerMachine,
  fact,
  fields: [
    'instance',
    'held',
    'drained',
    'drainReason',
    'completed',
    'failed',
    'heardAtMs',
    'lastHeartbeatMs',
    'signedOffAtMs',
    'slotsLost',
  ],
  events: RUNNER_EVENTS,
  states: {
    Idle: runnerIn('Idle'),
    Busy: runnerIn('Busy', { held }),
    Maintenance: runnerIn('Maintenance', { drained: true }),
    Offline: runnerIn('Offline'),
  },
};

/** The same states with held jobs or drained, and the events that this affects. */
const ENDS = ['LEASE_ENDED [1 ms early]', 'LEASE_ENDED [in time]'];
const withAnEnd: Exercise = {
  ...exercise,
  events: Object.fromEntries(Object.entries(RUNNER_EVENTS).filter(([name]) => ENDS.includes(name))),
  states: {
    'Offline, its machine ends with its lease': runnerIn('Offline', { held, endsAtMs: NOW + 60_000 }),
    'Offline, its machine ends later': runnerIn('Offline', { held, endsAtMs: NOW + 60_001 }),
  },
};
const REPORTS = ['started', 'failed', 'released', 'timed out', 'cancelled'].map((it) => `JOBS_CHANGED [${it}]`);
const holding: Exercise = {
  ...exercise,
  events: Object.fromEntries(Object.entries(RUNNER_EVENTS).filter(([name]) => !REPORTS.includes(name))),
  states: {
    'Busy, j1 missing': runnerIn('Busy', { held: missing }),
    'Maintenance, holds j1': runnerIn('Maintenance', { drained: true, held: missing }),
    'Offline, holds j1': runnerIn('Offline', { held }),
    'Offline, drained': runnerIn('Offline', { drained: true, drainReason: 'a disk' }),
    'Offline, signed off': runnerIn('Offline', { signedOffAtMs: NOW - 1 }),
  },
};

describe('machines/runner', () => {
  it('remembers the runs that its lease has ended, in an allocation alone, until its next contact', () => {
    const lease = RUNNER_EVENTS['LEASE_ENDED [in time]']!;
    const end = (kind: string): RunnerEvent => RUNNER_EVENTS[`ALLOCATION_ENDED [${kind}]`]!;
    const after = (snapshot: RunnerSnapshot, event: RunnerEvent): RunnerSnapshot =>
      getNextSnapshot(runnerMachine, snapshot, event);
    expect(after(runnerIn('Offline', { held }), lease).context.lost).to.equal(undefined);
    const silent = after(runnerIn('Offline', { held, allocation: 'slurm/main/a1' }), lease);
    const lost = [{ job_id: 'j1', attempt: 1 }];
    expect(silent.context.lost).to.deep.equal(lost);
    const isolated = runnerMachine.resolveState({ value: 'Offline', context: { ...silent.context, held: [] } });
    for (const kind of ['unknown', 'gone']) expect(isolated.can(end(kind)), kind).to.equal(false);
    for (const kind of ['preempted', 'failed'])
      expect(after(isolated, end(kind)).context.lost, kind).to.equal(undefined);
    for (const name of ['REGISTER [same]', 'REGISTER [new]', 'HEARTBEAT [holds nothing]'])
      expect(after(isolated, RUNNER_EVENTS[name]!).context.lost, name).to.equal(undefined);
    const emitted: Fact[] = [];
    const actor = createActor(runnerMachine, { snapshot: isolated, input: { runnerId: 'r1', now: NOW } });
    actor.on('*', (it) => emitted.push(it));
    actor.start();
    actor.send(end('preempted'));
    expect(emitted.map((it) => [it.type, 'lost' in it ? it.lost : undefined])).to.deep.equal([
      ['runner.excused', lost],
    ]);
  });

  it('takes exactly these events', () => {
    expectTable(
      exercise,
      `
      Idle        | REGISTER [same]                     | Idle        | lost nothing, registered | heardAtMs changed, lastHeartbeatMs changed
      Idle        | REGISTER [new, replaces]            | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Idle        | REGISTER [new, replaces, holding]   | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Idle        | HEARTBEAT                           | Idle        | -                        | heardAtMs changed, lastHeartbeatMs changed
      Idle        | HEARTBEAT [2 slots lost]            | Idle        | -                        | heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Idle        | HEARTBEAT [holds nothing]           | Idle        | -                        | heardAtMs changed, lastHeartbeatMs changed
      Idle        | JOBS_CHANGED [claimed]              | Busy        | -                        | held changed
      Idle        | JOBS_CHANGED [started]              | Idle        | -                        | -
      Idle        | JOBS_CHANGED [failed]               | Idle        | -                        | failed+1
      Idle        | JOBS_CHANGED [released]             | Idle        | -                        | -
      Idle        | JOBS_CHANGED [completed]            | Idle        | -                        | completed+1
      Idle        | JOBS_CHANGED [timed out]            | Idle        | -                        | failed+1
      Idle        | JOBS_CHANGED [cancelled]            | Idle        | -                        | -
      Idle        | DRAIN                               | Maintenance | drained                  | drained changed, drainReason set
      Idle        | RESUME                              | Idle        | -                        | -
      Idle        | RESUME [silent]                     | Idle        | -                        | -
      Idle        | SILENCE [in time]                   | Offline     | silent                   | -
      Idle        | SIGN_OFF                            | Offline     | signed-off nothing       | signedOffAtMs set
      Busy        | REGISTER [same]                     | Busy        | lost nothing, registered | held changed, heardAtMs changed, lastHeartbeatMs changed
      Busy        | REGISTER [new, replaces]            | Busy        | lost j1, registered      | instance changed, held changed, heardAtMs changed, lastHeartbeatMs changed
      Busy        | REGISTER [new, replaces, holding]   | Busy        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Busy        | HEARTBEAT                           | Busy        | -                        | heardAtMs changed, lastHeartbeatMs changed
      Busy        | HEARTBEAT [2 slots lost]            | Busy        | -                        | heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Busy        | HEARTBEAT [holds nothing]           | Busy        | -                        | held changed, heardAtMs changed, lastHeartbeatMs changed
      Busy        | JOBS_CHANGED [claimed]              | Busy        | -                        | held changed
      Busy        | JOBS_CHANGED [started]              | Busy        | -                        | -
      Busy        | JOBS_CHANGED [failed]               | Idle        | -                        | held changed, failed+1
      Busy        | JOBS_CHANGED [released]             | Idle        | -                        | held changed
      Busy        | JOBS_CHANGED [completed]            | Idle        | -                        | held changed, completed+1
      Busy        | JOBS_CHANGED [timed out]            | Idle        | -                        | held changed, failed+1
      Busy        | JOBS_CHANGED [cancelled]            | Idle        | -                        | held changed
      Busy        | DRAIN                               | Maintenance | drained                  | drained changed, drainReason set
      Busy        | RESUME                              | Busy        | -                        | -
      Busy        | RESUME [silent]                     | Busy        | -                        | -
      Busy        | SILENCE [in time]                   | Offline     | silent                   | -
      Busy        | ALLOCATION_ENDED [preempted, missed] | Offline     | silent, interrupted j1   | -
      Busy        | ALLOCATION_ENDED [out-of-memory, missed] | Offline     | silent, lost j1          | -
      Busy        | SIGN_OFF                            | Offline     | signed-off j1            | signedOffAtMs set
      Maintenance | REGISTER [same]                     | Maintenance | lost nothing, registered | heardAtMs changed, lastHeartbeatMs changed
      Maintenance | REGISTER [new, replaces]            | Maintenance | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Maintenance | REGISTER [new, replaces, holding]   | Maintenance | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Maintenance | HEARTBEAT                           | Maintenance | -                        | heardAtMs changed, lastHeartbeatMs changed
      Maintenance | HEARTBEAT [2 slots lost]            | Maintenance | -                        | heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Maintenance | HEARTBEAT [holds nothing]           | Maintenance | -                        | heardAtMs changed, lastHeartbeatMs changed
      Maintenance | JOBS_CHANGED [claimed]              | Maintenance | -                        | held changed
      Maintenance | JOBS_CHANGED [started]              | Maintenance | -                        | -
      Maintenance | JOBS_CHANGED [failed]               | Maintenance | -                        | failed+1
      Maintenance | JOBS_CHANGED [released]             | Maintenance | -                        | -
      Maintenance | JOBS_CHANGED [completed]            | Maintenance | -                        | completed+1
      Maintenance | JOBS_CHANGED [timed out]            | Maintenance | -                        | failed+1
      Maintenance | JOBS_CHANGED [cancelled]            | Maintenance | -                        | -
      Maintenance | DRAIN                               | Maintenance | -                        | drainReason set
      Maintenance | RESUME                              | Idle        | resumed                  | drained changed
      Maintenance | RESUME [silent]                     | Offline     | resumed                  | drained changed
      Maintenance | SILENCE [in time]                   | Offline     | silent                   | -
      Maintenance | SIGN_OFF                            | Offline     | signed-off nothing       | signedOffAtMs set
      Offline     | REGISTER [same]                     | Idle        | lost nothing, registered | heardAtMs changed, lastHeartbeatMs changed
      Offline     | REGISTER [new]                      | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline     | REGISTER [new, replaces]            | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline     | REGISTER [new, replaces, holding]   | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline     | REGISTER [new, replaces a stranger] | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline     | HEARTBEAT                           | Idle        | online                   | heardAtMs changed, lastHeartbeatMs changed
      Offline     | HEARTBEAT [2 slots lost]            | Idle        | online                   | heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Offline     | HEARTBEAT [holds nothing]           | Idle        | online                   | heardAtMs changed, lastHeartbeatMs changed
      Offline     | JOBS_CHANGED [claimed]              | Offline     | -                        | held changed
      Offline     | JOBS_CHANGED [started]              | Offline     | -                        | -
      Offline     | JOBS_CHANGED [failed]               | Offline     | -                        | failed+1
      Offline     | JOBS_CHANGED [released]             | Offline     | -                        | -
      Offline     | JOBS_CHANGED [completed]            | Offline     | -                        | completed+1
      Offline     | JOBS_CHANGED [timed out]            | Offline     | -                        | failed+1
      Offline     | JOBS_CHANGED [cancelled]            | Offline     | -                        | -
      Offline     | DRAIN                               | Offline     | drained                  | drained changed, drainReason set
      Offline     | RESUME                              | Offline     | resumed                  | -
      Offline     | RESUME [silent]                     | Offline     | resumed                  | -
      Offline     | LEASE_ENDED [in time]               | Offline     | lost nothing             | -
      Offline     | SIGN_OFF                            | Offline     | signed-off nothing       | signedOffAtMs set
      `,
    );
  });

  it('counts no loss of a runner that fell silent at the declared end of its machine', () => {
    expectTable(
      withAnEnd,
      `
      Offline, its machine ends with its lease | LEASE_ENDED [in time] | Offline | interrupted j1 | -
      Offline, its machine ends later          | LEASE_ENDED [in time] | Offline | lost j1        | -
      `,
    );
  });

  it('says how the machine ended', () => {
    const says = (kind: 'preempted' | 'out-of-memory'): string => {
      const causes: string[] = [];
      const actor = createActor(runnerMachine, {
        snapshot: runnerIn('Offline', { held, allocation: 'slurm/main/a1' }),
        input: { runnerId: 'r1', now: NOW },
      });
      actor.on('*', (it) => causes.push('cause' in it ? it.cause : it.type));
      actor.start();
      actor.send({ type: 'ALLOCATION_ENDED', kind, reason: 'the engine says so', now: NOW });
      return causes.join();
    };
    expect(says('preempted')).to.equal('its allocation slurm/main/a1 has ended: the engine says so');
    expect(says('out-of-memory')).to.equal('was ended: its allocation slurm/main/a1 has ended: the engine says so');
  });

  it('takes exactly these events when it holds jobs or is drained', () => {
    expectTable(
      holding,
      `
      Busy, j1 missing      | REGISTER [same]                     | Busy        | lost nothing, registered | heardAtMs changed, lastHeartbeatMs changed
      Busy, j1 missing      | REGISTER [new, replaces]            | Busy        | lost j1, registered      | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Busy, j1 missing      | REGISTER [new, replaces, holding]   | Busy        | lost nothing, registered | instance changed, held changed, heardAtMs changed, lastHeartbeatMs changed
      Busy, j1 missing      | HEARTBEAT                           | Busy        | -                        | held changed, heardAtMs changed, lastHeartbeatMs changed
      Busy, j1 missing      | HEARTBEAT [2 slots lost]            | Busy        | -                        | held changed, heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Busy, j1 missing      | HEARTBEAT [holds nothing]           | Busy        | -                        | heardAtMs changed, lastHeartbeatMs changed
      Busy, j1 missing      | JOBS_CHANGED [claimed]              | Busy        | -                        | held changed
      Busy, j1 missing      | JOBS_CHANGED [completed]            | Idle        | -                        | held changed, completed+1
      Busy, j1 missing      | DRAIN                               | Maintenance | drained                  | drained changed, drainReason set
      Busy, j1 missing      | RESUME                              | Busy        | -                        | -
      Busy, j1 missing      | RESUME [silent]                     | Busy        | -                        | -
      Busy, j1 missing      | SILENCE [in time]                   | Offline     | silent                   | -
      Busy, j1 missing      | MISSING [in time]                   | Busy        | lost j1                  | -
      Busy, j1 missing      | ALLOCATION_ENDED [preempted, missed] | Offline     | silent, interrupted j1   | -
      Busy, j1 missing      | ALLOCATION_ENDED [out-of-memory, missed] | Offline     | silent, lost j1          | -
      Busy, j1 missing      | SIGN_OFF                            | Offline     | signed-off j1            | signedOffAtMs set
      Maintenance, holds j1 | REGISTER [same]                     | Maintenance | lost nothing, registered | heardAtMs changed, lastHeartbeatMs changed
      Maintenance, holds j1 | REGISTER [new, replaces]            | Maintenance | lost j1, registered      | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Maintenance, holds j1 | REGISTER [new, replaces, holding]   | Maintenance | lost nothing, registered | instance changed, held changed, heardAtMs changed, lastHeartbeatMs changed
      Maintenance, holds j1 | HEARTBEAT                           | Maintenance | -                        | held changed, heardAtMs changed, lastHeartbeatMs changed
      Maintenance, holds j1 | HEARTBEAT [2 slots lost]            | Maintenance | -                        | held changed, heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Maintenance, holds j1 | HEARTBEAT [holds nothing]           | Maintenance | -                        | heardAtMs changed, lastHeartbeatMs changed
      Maintenance, holds j1 | JOBS_CHANGED [claimed]              | Maintenance | -                        | held changed
      Maintenance, holds j1 | JOBS_CHANGED [completed]            | Maintenance | -                        | held changed, completed+1
      Maintenance, holds j1 | DRAIN                               | Maintenance | -                        | drainReason set
      Maintenance, holds j1 | RESUME                              | Busy        | resumed                  | drained changed
      Maintenance, holds j1 | RESUME [silent]                     | Offline     | resumed                  | drained changed
      Maintenance, holds j1 | SILENCE [in time]                   | Offline     | silent                   | -
      Maintenance, holds j1 | MISSING [in time]                   | Maintenance | lost j1                  | -
      Maintenance, holds j1 | ALLOCATION_ENDED [preempted, missed] | Offline     | silent, interrupted j1   | -
      Maintenance, holds j1 | ALLOCATION_ENDED [out-of-memory, missed] | Offline     | silent, lost j1          | -
      Maintenance, holds j1 | SIGN_OFF                            | Offline     | signed-off j1            | signedOffAtMs set
      Offline, holds j1     | REGISTER [same]                     | Busy        | lost nothing, registered | held changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, holds j1     | REGISTER [new]                      | Busy        | lost j1, registered      | instance changed, held changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, holds j1     | REGISTER [new, replaces]            | Busy        | lost j1, registered      | instance changed, held changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, holds j1     | REGISTER [new, replaces, holding]   | Busy        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, holds j1     | REGISTER [new, replaces a stranger] | Busy        | lost j1, registered      | instance changed, held changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, holds j1     | HEARTBEAT                           | Busy        | online                   | heardAtMs changed, lastHeartbeatMs changed
      Offline, holds j1     | HEARTBEAT [2 slots lost]            | Busy        | online                   | heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Offline, holds j1     | HEARTBEAT [holds nothing]           | Busy        | online                   | held changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, holds j1     | JOBS_CHANGED [claimed]              | Offline     | -                        | held changed
      Offline, holds j1     | JOBS_CHANGED [completed]            | Offline     | -                        | held changed, completed+1
      Offline, holds j1     | DRAIN                               | Offline     | drained                  | drained changed, drainReason set
      Offline, holds j1     | RESUME                              | Offline     | resumed                  | -
      Offline, holds j1     | RESUME [silent]                     | Offline     | resumed                  | -
      Offline, holds j1     | LEASE_ENDED [in time]               | Offline     | lost j1                  | -
      Offline, holds j1     | ALLOCATION_ENDED [completed]        | Offline     | interrupted j1           | -
      Offline, holds j1     | ALLOCATION_ENDED [failed]           | Offline     | lost j1                  | -
      Offline, holds j1     | ALLOCATION_ENDED [timeout]          | Offline     | interrupted j1           | -
      Offline, holds j1     | ALLOCATION_ENDED [preempted]        | Offline     | interrupted j1           | -
      Offline, holds j1     | ALLOCATION_ENDED [evicted]          | Offline     | interrupted j1           | -
      Offline, holds j1     | ALLOCATION_ENDED [node-failure]     | Offline     | interrupted j1           | -
      Offline, holds j1     | ALLOCATION_ENDED [out-of-memory]    | Offline     | lost j1                  | -
      Offline, holds j1     | ALLOCATION_ENDED [cancelled]        | Offline     | interrupted j1           | -
      Offline, holds j1     | ALLOCATION_ENDED [preempted, missed] | Offline     | interrupted j1           | -
      Offline, holds j1     | ALLOCATION_ENDED [out-of-memory, missed] | Offline     | lost j1                  | -
      Offline, holds j1     | SIGN_OFF                            | Offline     | signed-off j1            | signedOffAtMs set
      Offline, drained      | REGISTER [same]                     | Maintenance | lost nothing, registered | heardAtMs changed, lastHeartbeatMs changed
      Offline, drained      | REGISTER [new]                      | Maintenance | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, drained      | REGISTER [new, replaces]            | Maintenance | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, drained      | REGISTER [new, replaces, holding]   | Maintenance | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, drained      | REGISTER [new, replaces a stranger] | Maintenance | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed
      Offline, drained      | HEARTBEAT                           | Maintenance | online                   | heardAtMs changed, lastHeartbeatMs changed
      Offline, drained      | HEARTBEAT [2 slots lost]            | Maintenance | online                   | heardAtMs changed, lastHeartbeatMs changed, slotsLost set
      Offline, drained      | HEARTBEAT [holds nothing]           | Maintenance | online                   | heardAtMs changed, lastHeartbeatMs changed
      Offline, drained      | JOBS_CHANGED [claimed]              | Offline     | -                        | held changed
      Offline, drained      | JOBS_CHANGED [completed]            | Offline     | -                        | completed+1
      Offline, drained      | DRAIN                               | Offline     | drained                  | drainReason changed
      Offline, drained      | RESUME                              | Offline     | resumed                  | drained changed, drainReason cleared
      Offline, drained      | RESUME [silent]                     | Offline     | resumed                  | drained changed, drainReason cleared
      Offline, drained      | LEASE_ENDED [in time]               | Offline     | lost nothing             | -
      Offline, drained      | SIGN_OFF                            | Offline     | signed-off nothing       | signedOffAtMs set
      Offline, signed off   | REGISTER [same]                     | Idle        | lost nothing, registered | heardAtMs changed, lastHeartbeatMs changed, signedOffAtMs cleared
      Offline, signed off   | REGISTER [new]                      | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed, signedOffAtMs cleared
      Offline, signed off   | REGISTER [new, replaces]            | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed, signedOffAtMs cleared
      Offline, signed off   | REGISTER [new, replaces, holding]   | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed, signedOffAtMs cleared
      Offline, signed off   | REGISTER [new, replaces a stranger] | Idle        | lost nothing, registered | instance changed, heardAtMs changed, lastHeartbeatMs changed, signedOffAtMs cleared
      Offline, signed off   | JOBS_CHANGED [claimed]              | Offline     | -                        | held changed
      Offline, signed off   | JOBS_CHANGED [completed]            | Offline     | -                        | completed+1
      Offline, signed off   | DRAIN                               | Offline     | drained                  | drained changed, drainReason set
      Offline, signed off   | RESUME                              | Offline     | resumed                  | -
      Offline, signed off   | RESUME [silent]                     | Offline     | resumed                  | -
      Offline, signed off   | LEASE_ENDED [in time]               | Offline     | lost nothing             | -
      Offline, signed off   | SIGN_OFF                            | Offline     | signed-off nothing       | -
      `,
    );
  });

  it('resumes by itself when the time of its drain or quarantine is over, and is quarantined only while it takes work', () => {
    const untilMs = NOW + 10_000;
    const timed = { drained: true, drainReason: 'a disk', drainedUntilMs: untilMs };
    const quarantine = { ...timed, quarantined: true as const };
    expectTable(
      {
        ...exercise,
        fields: ['drained', 'drainReason', 'drainedUntilMs', 'quarantined', 'countedSinceMs', 'held'],
        events: {
          'DRAIN [until]': { type: 'DRAIN', reason: 'a new disk', untilMs: untilMs + 1, now: NOW } as RunnerEvent,
          DRAIN: RUNNER_EVENTS['DRAIN'] as RunnerEvent,
          QUARANTINE: { type: 'QUARANTINE', reason: 'fails', untilMs, now: NOW } as RunnerEvent,
          'DRAIN_ENDED [1 ms early]': { type: 'DRAIN_ENDED', now: untilMs - 1 } as RunnerEvent,
          'DRAIN_ENDED [in time]': { type: 'DRAIN_ENDED', now: untilMs } as RunnerEvent,
          'DRAIN_ENDED [silent]': { type: 'DRAIN_ENDED', now: NOW + 15_000 } as RunnerEvent,
        },
        states: {
          Idle: runnerIn('Idle'),
          Busy: runnerIn('Busy', { held }),
          Timed: runnerIn('Maintenance', timed),
          'Timed, holds j1': runnerIn('Maintenance', { ...timed, held }),
          'Timed, Offline': runnerIn('Offline', timed),
          Quarantined: runnerIn('Maintenance', quarantine),
          Drained: runnerIn('Maintenance', { drained: true }),
          'Drained after': runnerIn('Maintenance', { ...timed, countedSinceMs: NOW - 1 }),
        },
      },
      `
      Idle            | DRAIN [until]         | Maintenance | drained     | drained changed, drainReason set, drainedUntilMs set
      Idle            | DRAIN                 | Maintenance | drained     | drained changed, drainReason set
      Idle            | QUARANTINE            | Maintenance | quarantined | drained changed, drainReason set, drainedUntilMs set, quarantined set
      Busy            | DRAIN [until]         | Maintenance | drained     | drained changed, drainReason set, drainedUntilMs set
      Busy            | DRAIN                 | Maintenance | drained     | drained changed, drainReason set
      Busy            | QUARANTINE            | Maintenance | quarantined | drained changed, drainReason set, drainedUntilMs set, quarantined set
      Timed           | DRAIN [until]         | Maintenance | -           | drainReason changed, drainedUntilMs+1
      Timed           | DRAIN                 | Maintenance | -           | drainReason changed, drainedUntilMs cleared
      Timed           | DRAIN_ENDED [in time] | Idle        | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared
      Timed           | DRAIN_ENDED [silent]  | Offline     | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared
      Timed, holds j1 | DRAIN [until]         | Maintenance | -           | drainReason changed, drainedUntilMs+1
      Timed, holds j1 | DRAIN                 | Maintenance | -           | drainReason changed, drainedUntilMs cleared
      Timed, holds j1 | DRAIN_ENDED [in time] | Busy        | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared
      Timed, holds j1 | DRAIN_ENDED [silent]  | Offline     | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared
      Timed, Offline  | DRAIN [until]         | Offline     | drained     | drainReason changed, drainedUntilMs+1
      Timed, Offline  | DRAIN                 | Offline     | drained     | drainReason changed, drainedUntilMs cleared
      Timed, Offline  | DRAIN_ENDED [in time] | Offline     | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared
      Timed, Offline  | DRAIN_ENDED [silent]  | Offline     | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared
      Quarantined     | DRAIN [until]         | Maintenance | -           | drainReason changed, drainedUntilMs+1, quarantined cleared, countedSinceMs set
      Quarantined     | DRAIN                 | Maintenance | -           | drainReason changed, drainedUntilMs cleared, quarantined cleared, countedSinceMs set
      Quarantined     | DRAIN_ENDED [in time] | Idle        | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared, quarantined cleared, countedSinceMs set
      Quarantined     | DRAIN_ENDED [silent]  | Offline     | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared, quarantined cleared, countedSinceMs set
      Drained         | DRAIN [until]         | Maintenance | -           | drainReason set, drainedUntilMs set
      Drained         | DRAIN                 | Maintenance | -           | drainReason set
      Drained after   | DRAIN [until]         | Maintenance | -           | drainReason changed, drainedUntilMs+1
      Drained after   | DRAIN                 | Maintenance | -           | drainReason changed, drainedUntilMs cleared
      Drained after   | DRAIN_ENDED [in time] | Idle        | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared, countedSinceMs changed
      Drained after   | DRAIN_ENDED [silent]  | Offline     | resumed     | drained changed, drainReason cleared, drainedUntilMs cleared, countedSinceMs changed
      `,
    );
    const deadlineOf = (changes: object) =>
      runnerDeadline('Maintenance', { ...runnerIn('Maintenance').context, ...changes });
    expect(deadlineOf(timed)).to.deep.equal({ kind: 'drain', atMs: untilMs });
    expect(deadlineOf({ ...timed, drainedUntilMs: NOW + 15_001 })).to.deep.equal({
      kind: 'silence',
      atMs: NOW + 15_000,
    });
    expect(runnerDeadline('Offline', { ...runnerIn('Offline').context, ...timed })).to.deep.equal({
      kind: 'drain',
      atMs: untilMs,
    });
  });

  it('is Offline until its first REGISTER', () => {
    const fresh = getInitialSnapshot(runnerMachine, { runnerId: 'r1', now: NOW });
    expect(fresh.value).to.equal('Offline');
    const { value, context } = after(fresh, RUNNER_EVENTS['REGISTER [new]'] as RunnerEvent);
    expect(value).to.equal('Idle');
    expect(context).to.include({ instance: 'i2', registeredAtMs: NOW, lastHeartbeatMs: NOW + 1000 });
  });

  it('reaches every state, and none is final', () => {
    const paths = getShortestPaths(runnerMachine, {
      input: { runnerId: 'r1', now: NOW },
      events: Object.values(RUNNER_EVENTS),
      serializeState: ({ value, context: c }) =>
        JSON.stringify([value, c.instance, c.drained, c.held.map((it) => [it.jobId, it.missingSinceMs !== undefined])]),
      limit: 20_000,
    });
    expect([...new Set(paths.map(({ state }) => state.value))].toSorted()).to.deep.equal(
      [...RUNNER_STATUSES].toSorted(),
    );
    for (const { state } of paths) expect(state.status).to.equal('active');
  });

  it('holds a claimed attempt until its end, in any order of changes', () => {
    let runner = runnerIn('Idle');
    const jobs = (...changes: (typeof CHANGES)[keyof typeof CHANGES][]): void => {
      runner = after(runner, { type: 'JOBS_CHANGED', changes, now: NOW });
    };
    jobs(CHANGES.claimed);
    expect(runner.context.held).to.deep.equal([{ jobId: 'j2', attempt: 1, cpuMilli: 500, memoryBytes: 10 }]);
    jobs({ ...CHANGES.completed, jobId: 'j2' }, { ...CHANGES.claimed, attempt: 2 });
    expect(runner.value).to.equal('Busy');
    expect(runner.context.held.map((it) => it.attempt)).to.deep.equal([2]);
    jobs({ ...CHANGES.timedOut, jobId: 'j2' });
    expect(runner.value).to.equal('Idle');
    expect(runner.context).to.include({ completed: 1, failed: 1 });
  });

  it('counts an attempt as missing from the first heartbeat that does not name it', () => {
    let runner = runnerIn('Busy', { held });
    const beat = (now: number, attempt?: number): void => {
      const named = attempt === undefined ? [] : [{ job_id: 'j1', attempt }];
      runner = after(runner, { type: 'HEARTBEAT', instance: 'i1', holding: named, now });
    };
    const since = (): number | undefined => runner.context.held[0]?.missingSinceMs;
    beat(NOW, 1);
    expect(since()).to.equal(undefined);
    beat(NOW + 5000);
    expect(since()).to.equal(NOW + 5000);
    // Another attempt of the same job is not the held one.
    beat(NOW + 10_000, 2);
    expect(since()).to.equal(NOW + 5000);
    beat(NOW + 15_000, 1);
    expect(since()).to.equal(undefined);
    runner = after(runner, { type: 'HEARTBEAT', instance: 'i1', holding: undefined, now: NOW + 20_000 });
    expect(since(), 'a heartbeat without `holding`').to.equal(undefined);
  });

  it('takes the number of lost slots from each heartbeat and each registration; none is absent', () => {
    let runner = runnerIn('Idle');
    const beat = (slotsLost?: number): void => {
      runner = after(runner, { type: 'HEARTBEAT', instance: 'i1', holding: [], slotsLost, now: NOW });
    };
    const register = (instance: string, slotsLost?: number): void => {
      runner = after(runner, {
        ...(RUNNER_EVENTS['REGISTER [same]'] as RegisterEvent),
        instance,
        replaces: 'i1',
        slotsLost,
      });
    };
    const table: [string, () => void, number | undefined][] = [
      ['a heartbeat reports 2', () => beat(2), 2],
      ['a heartbeat without a number', () => beat(), undefined],
      ['a heartbeat reports 2 again', () => beat(2), 2],
      ['the same process registers with 1', () => register('i1', 1), 1],
      ['a heartbeat reports 0', () => beat(0), undefined],
      ['a heartbeat reports 3', () => beat(3), 3],
      ['a new process registers', () => register('i2'), undefined],
    ];
    for (const [name, step, expected] of table) {
      step();
      expect(runner.context.slotsLost, name).to.equal(expected);
    }
  });

  it('has one deadline', () => {
    const slow = { heartbeatIntervalSecs: 60 };
    const gone = (ms: number) => [HELD, { ...HELD, jobId: 'j2', missingSinceMs: NOW + ms }];
    const table: [string, RunnerSnapshot, string | undefined][] = [
      ['Idle', runnerIn('Idle'), 'silence +15000'],
      ['Busy', runnerIn('Busy', { held }), 'silence +15000'],
      ['Maintenance', runnerIn('Maintenance'), 'silence +15000'],
      ['with heartbeats every 60 s', runnerIn('Idle', slow), 'silence +180000'],
      ['missing, silence sooner', runnerIn('Busy', { held: gone(0) }), 'silence +15000'],
      ['missing sooner', runnerIn('Busy', { held: gone(-50_000) }), 'missing +10000'],
      ['Offline, holds nothing', runnerIn('Offline'), undefined],
      ['Offline, holds a job', runnerIn('Offline', { held }), 'lease +60000'],
      ['Offline, heartbeats every 60 s', runnerIn('Offline', { held, ...slow }), 'lease +180000'],
    ];
    for (const [name, { value, context }, expected] of table) {
      const deadline = runnerDeadline(value, context);
      const text = deadline === undefined ? undefined : `${deadline.kind} +${deadline.atMs - NOW}`;
      expect(text, name).to.equal(expected);
    }
  });

  it('counts silence and missing attempts from the restart of the coordinator', () => {
    for (const heardAtMs of [NOW - 1_000_000, NOW, NOW + 3_600_000]) {
      const { context } = runnerIn('Busy', { heardAtMs, held: [HELD, { ...HELD, missingSinceMs: 1 }] });
      const revived = reviveRunner(context, NOW);
      expect(revived.heardAtMs).to.equal(NOW);
      expect(revived.lastHeartbeatMs, 'what is shown stays').to.equal(context.lastHeartbeatMs);
      expect(revived.held).to.deep.equal([HELD, { ...HELD, missingSinceMs: NOW }]);
    }
  });

  it('never throws and stays consistent under any sequence of events', () => {
    const events = fc.array(fc.constantFrom(...Object.values(RUNNER_EVENTS)), { maxLength: 60 });
    fc.assert(
      fc.property(events, fc.array(fc.nat(30_000), { maxLength: 60 }), (received, gaps) => {
        let runner: RunnerSnapshot = getInitialSnapshot(runnerMachine, { runnerId: 'r1', now: NOW });
        let now = NOW;
        for (const [at, event] of received.entries()) {
          now += gaps[at] ?? 0;
          const next = after(runner, { ...event, now });
          if (!runner.can({ ...event, now })) expect(next.context).to.deep.equal(runner.context);
          const { value, context: c } = next;
          if (value === 'Idle') expect(c.held).to.deep.equal([]);
          if (value === 'Busy') expect(c.held).to.not.deep.equal([]);
          if (value !== 'Offline') expect(value === 'Maintenance', 'Maintenance is drained').to.equal(c.drained);
          if (c.drainReason !== undefined) expect(c.drained).to.equal(true);
          runner = next;
        }
      }),
      { numRuns: times(300) },
    );
  });
});

const after = (runner: RunnerSnapshot, event: RunnerEvent): RunnerSnapshot =>
  getNextSnapshot(runnerMachine, runner, event);
