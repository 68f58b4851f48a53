/** The pages that people read: their openings, their links, and the length of the first one. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';
import { filesIn, rootFiles } from './files.ts';

/** A person reads the first page to its end. */
const README_LINES = 130;
const BENCHMARKS = ['bench/README.md', 'bench/validation/README.md', 'bench/validation/rare-events.md'];
const OPENING = /^For .+: after it you can .+\.$/;

/** The anchors of the headings, as GitHub makes them; those that repeat get a number. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const text = page.replace(/^```[^]*?^```/gm, '');
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
  return new Set(anchors);
}

describe('conventions/pages', () => {
  const [readme] = rootFiles('README.md');
  const inDocs = filesIn(['docs'], '.md');
  const pages = inDocs.filter(({ path }) => path.split('/').length === 2);

  it('have a README of at most 130 lines, with a link to each of them', () => {
    expect(readme?.text.trimEnd().split('\n').length).to.be.at.most(README_LINES);
    const unnamed = pages.filter(({ path }) => !readme?.text.includes(`](${path})`));
    expect(unnamed.map(({ path }) => path)).to.deep.equal([]);
  });

  it('say in their first five lines whom they are for, and what these people can do afterwards', () => {
    expect(pages).to.have.length.above(25);
    const silent = pages.filter(({ text }) => !text.split('\n', 5).some((line) => OPENING.test(line)));
    expect(silent.map(({ path }) => path)).to.deep.equal([]);
  });

  it('link to files and headings that exist', () => {
    const roots = rootFiles('README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...BENCHMARKS);
    const all = new Map([...inDocs, ...roots].map(({ path, text }) => [path, text]));
    const broken = [...all].flatMap(([path, text]) =>
      [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, file = '', anchor]) => {
        const target = file === '' ? path : normalize(join(dirname(path), file));
        const page = all.get(target);
        const exists = existsSync(join(packageRoot, target));
        return exists && (anchor === undefined || page === undefined || anchorsOf(page).has(anchor))
          ? []
          : [`${path}: ${link}`];
      }),
    );
    expect(broken).to.deep.equal([]);
  });

  it('link to files that are in the package, from pages that are', () => {
    const { files } = JSON.parse(rootFiles('package.json')[0]?.text ?? '') as { files: string[] };
    const isPacked = (path: string): boolean =>
      files.some(
        (it) => path === it || path.startsWith(`${it}/`) || (it.endsWith('/**/*.md') && matchesPattern(path, it)),
      );
    const packed = [...inDocs, ...rootFiles('README.md', 'CHANGELOG.md')];
    const dead = packed.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].flatMap(([, file = '']) =>
        isPacked(normalize(join(dirname(path), file))) ? [] : [`${path}: ${file}`],
      ),
    );
    expect(dead).to.deep.equal([]);
  });
});

// A pattern of all pages below a folder, the only kind in package.json.
const matchesPattern = (path: string, pattern: string): boolean =>
  path.startsWith(pattern.slice(0, pattern.indexOf('**'))) && path.endsWith('.md');
