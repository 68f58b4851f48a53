/** The two names of each variable of the environment, over all variables that the sources name. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { isOwnVariable, shownNames, useContractNames } from '../../../src/base/text/variables.ts';
import { filesIn } from '../../conventions/files.ts';

const CLIENTS = ['.py', '.js', '.mjs', '.cjs']
  .flatMap((ending) => filesIn(['clients'], ending))
  .filter(({ path }) => !path.includes('/tests/'));
const SOURCES = [...filesIn(['src', 'bin']), ...filesIn(['bin'], '.mjs'), ...CLIENTS];

const named = (pattern: RegExp): string[] => [
  ...new Set(SOURCES.flatMap(({ text }) => [...text.matchAll(pattern)].map((it) => it[1] ?? ''))),
];

const { variable } = (await import(pathToFileURL(join(packageRoot, 'clients/node/parameters.js')).href)) as {
  variable: (name: string) => string | undefined;
};

/** The part of each name that both prefixes share. */
const NAMES = [...new Set([...named(/\bSVC_([A-Z0-9_]*[A-Z0-9])\b/g), ...named(/\bvariable\(['"]([A-Z_]+)['"]/g)])];

describe('base/text/variables', () => {
  it('finds the variables of the sources', () => {
    expect(NAMES).to.include.members([
      'ENDPOINT',
      'TOKEN',
      'PORT',
      'RUNNER_ID',
      'LAUNCHER_STATE',
      'RUN_CONFIG',
      'PARENT_DIR',
    ]);
    expect(NAMES.length).to.be.above(25);
  });

  for (const name of NAMES) {
    const [people, contract] = [`SIMBATCH_${name}`, `SVC_${name}`];
    it(`accepts ${people} beside ${contract}`, () => {
      const table: [given: Record<string, string>, read: Record<string, string>][] = [
        [{ [people]: 'a' }, { [contract]: 'a' }],
        [{ [contract]: 'a' }, { [contract]: 'a' }],
        [{ [people]: 'a', [contract]: 'a' }, { [contract]: 'a' }],
        [{ [people]: '', [contract]: 'a' }, { [contract]: 'a' }],
        [{ [people]: 'a', [contract]: '' }, { [contract]: 'a' }],
      ];
      for (const [given, read] of table) {
        const env = { ...given, PATH: '/bin' };
        expect(useContractNames(env)).to.equal(undefined);
        expect(env).to.deep.equal({ ...read, PATH: '/bin' });
        expect(inEnvironment(given, () => variable(name))).to.equal('a');
      }
      const wanted = `the environment is ambiguous: ${people} and ${contract} are two names of one setting and have different values; unset one of them`;
      const differing = { [people]: 'secret-1', [contract]: 'secret-2' };
      expect(useContractNames({ ...differing })).to.equal(wanted);
      expect(() => inEnvironment(differing, () => variable(name))).to.throw(wanted);
      expect([isOwnVariable(people), isOwnVariable(contract)]).to.deep.equal([true, true]);
    });
  }

  it('knows each variable with the prefix SIMBATCH_ that has no other name', () => {
    const others = named(/\b(SIMBATCH_[A-Z0-9_]*[A-Z0-9])\b/g).filter(
      (it) => !NAMES.includes(it.slice('SIMBATCH_'.length)),
    );
    // The name of a shell's here document, and the placeholder of documentation.
    const words = ['SIMBATCH_NAME', 'SIMBATCH_RUN'];
    expect(others.filter((it) => isOwnVariable(it) && !words.includes(it))).to.deep.equal([]);
    const env = { SIMBATCH_HOME: '/opt/simbatch', SIMBATCH_NODE: '/opt/node' };
    expect(useContractNames(env)).to.equal(undefined);
    expect(env).to.deep.equal({ SIMBATCH_HOME: '/opt/simbatch', SIMBATCH_NODE: '/opt/node' });
  });

  it('has one place in each client that reads them', () => {
    const readers = CLIENTS.filter(({ path }) => /^clients\/(python\/simbatch|node\/[^/]+$)/.test(path));
    const direct = /(environ|environment)(\.get\(|\[)["']SVC_|process\.env\.SVC_|os\.getenv/;
    expect(readers.filter(({ text }) => direct.test(text)).map(({ path }) => path)).to.deep.equal([]);
  });

  it('shows settings under the name for people, and variables of runs as the runner sets them', () => {
    expect(shownNames('from SVC_PORT or SVC_RUNNER_ID')).to.equal('from SIMBATCH_PORT or SIMBATCH_RUNNER_ID');
    expect(shownNames('SVC_OUTPUT_DIR and SVC_PARENT_DIR')).to.equal('SVC_OUTPUT_DIR and SVC_PARENT_DIR');
  });
});

function inEnvironment<T>(given: Record<string, string>, read: () => T): T {
  const before = process.env;
  process.env = { ...given };
  try {
    return read();
  } finally {
    process.env = before;
  }
}
