/** The request of an allocation: the folder of output and state where the operator names none. */
import { expect } from 'chai';
import type { LauncherConfig } from '../../src/launcher/settings.ts';
import { requestOf } from '../../src/launcher/request.ts';
import { queueConfig } from './support.ts';

describe('launcher/request', () => {
  const config = { runnerEndpoint: 'http://127.0.0.1:1' } as LauncherConfig;
  const planned = { id: 'a1', token: undefined, need: undefined, isKept: false };
  const rootsOf = (args: readonly string[], environment: Record<string, string> = {}): (string | undefined)[] => {
    const queue = queueConfig({ section: {}, runner: { program: undefined, args, environment, slots: undefined } });
    const given = requestOf(config, queue, planned).runner.args;
    return given.flatMap((it, at) => (it === '--output-root' ? [given[at + 1]] : []));
  };

  it('puts output and state on the local disk of the node', () => {
    expect(rootsOf([])).to.deep.equal(['$TMPDIR/simbatch-$USER']);
    expect(rootsOf(['--entrypoint', '/sim.py'])).to.deep.equal(['$TMPDIR/simbatch-$USER']);
  });

  it('leaves the folder to an operator who names it, or a file that may name it', () => {
    expect(rootsOf(['--output-root', '/scratch/out'])).to.deep.equal(['/scratch/out']);
    expect(rootsOf(['--output-root=/scratch/out'])).to.deep.equal([]);
    expect(rootsOf(['--config', 'runner.yaml'])).to.deep.equal([]);
    for (const prefix of ['SVC', 'SIMBATCH'])
      expect(rootsOf([], { [`${prefix}_RUNNER_OUTPUT_ROOT`]: '/scratch/out' })).to.deep.equal([]);
  });
});
