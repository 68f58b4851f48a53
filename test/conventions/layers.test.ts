import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';
import { filesIn } from './files.ts';

interface Cruise {
  modules: { source: string; dependents: string[] }[];
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

const FOLDERS = ['machines', 'src', 'bin'];

describe('conventions/layers', () => {
  let cruise: Cruise;
  before(() => {
    const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...FOLDERS];
    const depcruise = join(packageRoot, 'node_modules', '.bin', 'depcruise');
    const output = execFileSync(depcruise, args, { cwd: packageRoot, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    cruise = JSON.parse(output) as Cruise;
  });

  it('point down only', () => {
    expect(cruise.summary.violations.map((it) => `${it.rule.name}: ${it.from} -> ${it.to}`)).to.deep.equal([]);
  });

  it('are checked for every module: without its parser the check passes on nothing', () => {
    const read = new Set(cruise.modules.map((it) => it.source));
    const written = filesIn(FOLDERS).map((it) => it.path);
    expect(written.length).to.be.greaterThan(50);
    expect(written.filter((it) => !read.has(it))).to.deep.equal([]);
  });

  it('have no unused file: each is imported by another one, or is a program', () => {
    // The dashboard is compiled separately and not cruised; its imports from src/ count as used.
    const dashboard = [...filesIn(['web']), ...filesIn(['web'], '.tsx')].map((it) => it.text);
    const isShown = (path: string): boolean => dashboard.some((text) => text.includes(`/${path}'`));
    const dead = cruise.modules.filter(
      (it) =>
        /^(machines|src\/(?!cli\/programs\/))/.test(it.source) && it.dependents.length === 0 && !isShown(it.source),
    );
    expect(dead.map((it) => it.source)).to.deep.equal([]);
  });
});
