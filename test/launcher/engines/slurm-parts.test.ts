/** Tests of the pure parts of the Slurm engine: batch script, arguments of sbatch, answer of squeue, faults of its section. */
import { expect } from 'chai';
import { readQueue } from '../../../src/launcher/engines/slurm/queue-list.ts';
import { batchScript, sbatchArguments } from '../../../src/launcher/engines/slurm/script.ts';
import { sectionFaults, type SlurmSection } from '../../../src/launcher/engines/slurm/section.ts';
import { allocationRequest, queueConfig } from '../support.ts';

const PLACES = {
  launcher: 'lab',
  baseDirectory: '/home/ann/100%',
  ownProgram: ['/usr/bin/node', "/opt/o'neil/simbatch.js", 'runner'],
};
const queue = (section: SlurmSection = {}) => queueConfig({ engine: 'slurm', section });

describe('launcher/engines/slurm', () => {
  it('gives the job its size, its label and its wall time, and keeps the token out of the arguments', () => {
    const section = { partition: 'long', account: 'a1', extra: ['--exclude=node7'], term_before: '90s' };
    const args = sbatchArguments(PLACES, queue(section), allocationRequest({ token: 'sbt_secret', lifetimeSecs: 61 }));
    expect(args).to.include.members([
      '--comment=simbatch=lab/main/a1b2c3d4e5f6',
      '--no-requeue',
      '--cpus-per-task=4',
      '--mem=2048M',
      '--time=2',
      '--signal=B:TERM@90',
      '--output=/home/ann/100%%/simbatch-main-a1b2c3d4e5f6-%j.log',
      '--partition=long',
      '--account=a1',
      '--exclude=node7',
    ]);
    expect(args.join(' '))
      .to.match(/--export=\S*,SVC_TOKEN/)
      .and.not.contain('secret')
      .and.not.contain('gres');
  });

  it('asks for counted resources: devices by --gres or the argument of the section, others by that alone', () => {
    const asked = (section: SlurmSection, size: object): string[] => {
      const its = queue(section);
      return sbatchArguments(PLACES, { ...its, size: { ...its.size, ...size } }, allocationRequest({}));
    };
    expect(asked({}, { gpus: 2, resources: { comsol: 1 } }))
      .to.include('--gres=gpu:2')
      .and.not.include('--licenses=comsol:1');
    const per_unit = { gpu: '--gpus-per-node=a100:{n}', comsol: '--licenses=comsol:{n}' };
    expect(asked({ per_unit }, { gpus: 2, resources: { comsol: 3 } }))
      .to.include.members(['--gpus-per-node=a100:2', '--licenses=comsol:3'])
      .and.not.include('--gres=gpu:2');
    expect(asked({ per_unit }, {}).join(' ')).not.to.match(/a100|licenses/);
    expect(
      sectionFaults({ per_unit: { gpu: 'a100', comsol: '--licenses=comsol', matlab: '--nodes={n}' } }),
    ).to.deep.equal([
      { pointer: '/per_unit/gpu', detail: '"a100" is not an option of sbatch; write --name=value' },
      { pointer: '/per_unit/comsol', detail: 'must have {n}, the place of the amount' },
      { pointer: '/per_unit/matlab', detail: '--nodes is set by the launcher; remove it' },
    ]);
  });

  it('replaces the shell by the runner, with every argument quoted', () => {
    const script = batchScript(
      PLACES,
      queue({ setup: 'module load python\n' }),
      allocationRequest({ token: 'sbt_secret' }),
    );
    expect(script.split('\n')).to.deep.equal([
      '#!/bin/bash -l',
      'module load python',
      "export SVC_NOTE='it'\\''s'",
      `exec /usr/bin/node '/opt/o'\\''neil/simbatch.js' runner --runner-id main-a1b2c3d4e5f6 ` +
        '${SLURM_JOB_END_TIME:+--ends-at "$SLURM_JOB_END_TIME"}',
      '',
    ]);
  });

  it('reads its own jobs from squeue, and no others', () => {
    const rows = [
      '11|PENDING|1767225600|N/A|Resources|simbatch=lab/main/one',
      '12|RUNNING|1767225600|1767229200|None|simbatch=lab/main/two',
      '13|COMPLETING|1767225600|1767229200|None|simbatch=lab/wide/three',
      '14|FAILED|1767225600|1767225601|NonZeroExitCode|simbatch=lab/main/four',
      '15|NODE_FAIL|1767225600|1767225601|NodeDown|simbatch=lab/main/five',
      '16|NEW_STATE|1767225600|1767225601|None|simbatch=lab/main/six',
      '19|PREEMPTED|1767225600|1767225601|None|simbatch=lab/main/seven',
      '20|TIMEOUT|1767225600|1767225601|TimeLimit|simbatch=lab/main/eight',
      '21|OUT_OF_MEMORY|1767225600|1767225601|OutOfMemory|simbatch=lab/main/nine',
      '22|OUT_OF_MEMORY|1767225600|1767225601|OutOfMemory|simbatch=lab/whole/ten',
      '23|CANCELLED|1767225600|1767225601|None|simbatch=lab/main/eleven',
      '17|RUNNING|1767225600|1767225601|None|simbatch=other/main/x',
      '18|RUNNING|1767225600|1767225601|None|(null)',
      '',
    ];
    const times = { startedAtMs: 1767225600_000, endsAtMs: 1767229200_000 };
    const found = readQueue('lab', rows.join('\n'), new Set(['main']));
    expect(found.slice(0, 3)).to.deep.equal([
      { id: 'one', queue: 'main', handle: '11', state: 'queued', reason: 'PENDING: Resources' },
      { id: 'two', queue: 'main', handle: '12', state: 'running', ...times },
      { id: 'three', queue: 'wide', handle: '13', state: 'stopping', ...times },
    ]);
    expect(found.slice(3).map((it) => [it.id, it.state, it.end?.kind, it.reason])).to.deep.equal([
      ['four', 'ended', 'failed', 'FAILED: NonZeroExitCode'],
      ['five', 'ended', 'node-failure', 'NODE_FAIL: NodeDown'],
      ['six', 'running', undefined, undefined],
      ['seven', 'ended', 'preempted', 'PREEMPTED'],
      ['eight', 'ended', 'timeout', 'TIMEOUT: TimeLimit'],
      ['nine', 'ended', 'out-of-memory', 'OUT_OF_MEMORY: OutOfMemory'],
      // Without a memory limit of its own it was the memory of the node.
      ['ten', 'ended', 'node-failure', 'OUT_OF_MEMORY: OutOfMemory'],
      ['eleven', 'ended', 'cancelled', 'CANCELLED'],
    ]);
  });

  it('refuses options that would take the label or the environment from an allocation', () => {
    const faults = sectionFaults({
      extra: ['--comment=mine', '--array=1-9', '--export=ALL', 'node7', '-t5', '--qos=x'],
      term_before: 'soon',
    });
    expect(faults.map((it) => it.pointer)).to.deep.equal([
      '/extra/0',
      '/extra/1',
      '/extra/2',
      '/extra/3',
      '/extra/4',
      '/term_before',
    ]);
  });
});
