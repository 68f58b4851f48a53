/** The language of the sources: plain, standard English without the phrases that readers have to guess. */
import { expect } from 'chai';
import { dialectIn } from './dialect.ts';
import { filesIn, rootFiles } from './files.ts';

const ENDINGS = ['.ts', '.tsx', '.js', '.mjs', '.py', '.proto', '.css'];
const FOLDERS = ['machines', 'src', 'bin', 'web', 'clients', 'test', 'bench', 'examples'];
/** The list of phrases itself, and texts that cannot change. */
const EXEMPT = new Set([
  'test/conventions/dialect.ts',
  'test/conventions/dialect.test.ts',
  // Texts of recordings, which stay as they were recorded.
  'test/support/record/scenarios.ts',
]);
describe('conventions/dialect', () => {
  it('finds the phrases in comments, identifiers and messages', () => {
    expect(dialectIn('const seekerOf = 1;\n// a runner that nobody told\nexport const clear = 2;')).to.have.length(3);
  });

  it('finds no phrase of the dialect in the sources and the documentation', () => {
    const files = ENDINGS.flatMap((ending) => filesIn(FOLDERS, ending));
    expect(files.length).to.be.greaterThan(400);
    const pages = filesIn(['docs'], '.md');
    expect(pages.length).to.be.greaterThan(10);
    const hits = [
      ...files,
      ...pages,
      ...rootFiles('README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'bench/README.md', 'bench/speed.md'),
    ]
      .filter(({ path }) => !EXEMPT.has(path))
      .flatMap(({ path, text }) => dialectIn(text).map((hit) => `${path}:${hit}`));
    expect(hits).to.deep.equal([]);
  });
});
