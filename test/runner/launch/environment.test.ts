/** The allow lists of a simulation's environment: patterns, both lists, and their place in the documentation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { environmentFault, INHERITED, inheritedEnvironment } from '../../../src/runner/launch/environment.ts';
import { ALLOWED, matchesAny } from '../../../src/domain/runner-settings.ts';

describe('runner: the environment of a simulation', () => {
  const matches: [name: string, patterns: string[], matched: boolean][] = [
    ['PATH', ['PATH'], true],
    ['PATHS', ['PATH'], false],
    ['LC_ALL', ['LC_*'], true],
    ['LC', ['LC_*'], false],
    ['X', ['*'], true],
    ['path', ['PATH'], false],
    ['X', [], false],
  ];
  for (const [name, patterns, matched] of matches) {
    it(`${name} ${matched ? 'matches' : 'does not match'} [${patterns.join(', ')}]`, () => {
      expect(matchesAny(name, patterns)).to.equal(matched);
    });
  }

  it('inherits the default variables and those that are named, never one of the runner', () => {
    const env = { PATH: '/bin', LC_ALL: 'C', AWS_SECRET: 's', EXTRA: 'x', SVC_TOKEN: 't', UNSET: undefined };
    expect(inheritedEnvironment(env)).to.deep.equal({ PATH: '/bin', LC_ALL: 'C' });
    expect(inheritedEnvironment(env, ['EXTRA'])).to.deep.equal({ PATH: '/bin', LC_ALL: 'C', EXTRA: 'x' });
    expect(inheritedEnvironment(env, ['*'])).to.not.have.property('SVC_TOKEN');
  });

  const dangerous = [
    'PATH',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'PYTHONSTARTUP',
    'PYTHONPATH',
    'PYTHONWARNINGS',
    'BROWSER',
  ]
    .concat(['NODE_OPTIONS', 'BASH_ENV', 'ENV', 'IFS', 'PERL5OPT', 'RUBYOPT', 'GCONV_PATH', 'OMP_TOOL_LIBRARIES'])
    .concat(['DYLD_INSERT_LIBRARIES', 'GIT_SSH_COMMAND', 'HOME', 'SVC_OUTPUT_DIR', 'JAVA_TOOL_OPTIONS']);
  for (const name of dangerous) {
    it(`a study may not set ${name}`, () => {
      expect(environmentFault({ [name]: 'x' }, [])).to.match(new RegExp(`^container\\.environment sets "${name}": `));
    });
  }

  it('a study may set names of its own, and what the operator allows', () => {
    expect(environmentFault({ SIM_MODE: 'fast', OMP_NUM_THREADS: '1', TZ: 'UTC' }, [])).to.equal(undefined);
    expect(environmentFault(null, [])).to.equal(undefined);
    expect(environmentFault({ FUEL: '1', BIG_A: '2' }, ['FUEL', 'BIG_*'])).to.equal(undefined);
    expect(environmentFault({ SVC_TOKEN: '1' }, ['*'])).to.include('reserved');
  });

  it('docs/runner.md lists every name of both lists', () => {
    const page = readFileSync(join(packageRoot, 'docs/runner.md'), 'utf8');
    expect([...ALLOWED, ...INHERITED].filter((name) => !page.includes(`\`${name}\``))).to.deep.equal([]);
  });
});
