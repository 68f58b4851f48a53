/** No circle of imports among the folders inside a folder of `src`, nor among the modules of the Python package. */
import { expect } from 'chai';
import { circlesIn, moduleImports, pythonImports, roomIn, type Imports } from './circles.ts';
import { filesIn, type SourceFile } from './files.ts';

const own = [...filesIn(['machines', 'src', 'web/src']), ...filesIn(['web/src'], '.tsx')];
const python = filesIn(['clients/python/simbatch'], '.py');

/** A house and its rooms: the folders and the loose files directly in it, or, of a package in Python, its modules. */
interface House {
  name: string;
  files: readonly SourceFile[];
  imports: (files: readonly SourceFile[]) => Imports;
  roomOf: (path: string) => string | undefined;
}

const folders = new Set(own.map((it) => /^(?:machines|web\/src|src\/[^/]+)(?=\/)/.exec(it.path)?.[0] ?? ''));
const HOUSES: readonly House[] = [
  ...[...folders].map((name): House => ({ name, files: own, imports: moduleImports, roomOf: roomIn(name) })),
  { name: 'clients/python/simbatch', files: python, imports: pythonImports, roomOf: (path) => path },
];

/** Files that import each other in this order, the last one the first. */
const planted = (paths: readonly string[], line: (to: string) => string): SourceFile[] =>
  paths.map((path, at) => ({ path, text: line(paths[(at + 1) % paths.length] ?? '') }));

describe('conventions/circles', () => {
  for (const { name, files, imports, roomOf } of HOUSES) {
    it(`has no circle of rooms in ${name}`, () => {
      const inside = files.filter((file) => file.path.startsWith(`${name}/`));
      expect(circlesIn(imports(inside), roomOf)).to.deep.equal([]);
    });
  }

  it('reads the imports: without them it would pass on nothing', () => {
    const count = (imports: Imports): number => [...imports.values()].reduce((sum, it) => sum + it.length, 0);
    expect(count(moduleImports(own))).to.be.greaterThan(3_000);
    expect(count(pythonImports(python))).to.be.greaterThan(100);
  });

  const CIRCLES: { title: string; files: SourceFile[]; house: Pick<House, 'imports' | 'roomOf'>; found: number }[] = [
    {
      title: 'two folders',
      files: planted(['src/a/one/x.ts', 'src/a/two/y.ts'], (to) => `import type { Y } from '../../../${to}';`),
      house: { imports: moduleImports, roomOf: roomIn('src/a') },
      found: 1,
    },
    {
      title: 'a folder and a loose file, by a dynamic import',
      files: planted(['src/a/one/x.ts', 'src/a/y.ts', 'src/a/z.ts'], (to) =>
        to.includes('one')
          ? `await import('./one/x.ts')`
          : `import {\n  Y,\n} from '${to === 'src/a/y.ts' ? '..' : '.'}/${to.slice(6)}';`,
      ),
      house: { imports: moduleImports, roomOf: roomIn('src/a') },
      found: 1,
    },
    {
      title: 'no circle: files of one folder, and other houses',
      files: planted(['src/a/one/x.ts', 'src/a/one/y.ts', 'src/b/z.ts'], (to) => `import '../../../${to}';`),
      house: { imports: moduleImports, roomOf: roomIn('src/a') },
      found: 0,
    },
    {
      title: 'Python modules, for type checkers and in functions',
      files: [
        { path: 'p/a/one.py', text: 'if TYPE_CHECKING:\n    from ..b.two import (\n        Two,\n    )\n' },
        { path: 'p/b/two.py', text: 'def f():\n    from . import three, four\n' },
        { path: 'p/b/three.py', text: 'from ..a import one as first\n' },
      ],
      house: { imports: pythonImports, roomOf: (path) => path },
      found: 1,
    },
  ];
  for (const { title, files, house, found } of CIRCLES) {
    it(`finds a planted circle: ${title}`, () => {
      expect(circlesIn(house.imports(files), house.roomOf)).to.have.length(found);
    });
  }
});
