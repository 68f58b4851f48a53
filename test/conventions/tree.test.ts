/** The tree in ARCHITECTURE.md: it lists exactly the folders that exist, and no folder is crowded. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';

/** Loose files that one folder may hold. */
const MAX_FILES = 12;

/** The folders that the page lists, as paths: the indentation gives the parent. */
function listedFolders(page: string): string[] {
  const [, tree = ''] = /## The tree\n[\s\S]*?```\n([\s\S]*?)```/.exec(page) ?? [];
  const parents: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const match = /^( *)([\w-]+)\/(?: |$)/.exec(line);
    if (match === null || (match[1] ?? '').length > 6) return [];
    const depth = (match[1] ?? '').length / 2;
    parents.length = depth;
    parents.push(match[2] ?? '');
    return [parents.join('/')];
  });
}

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: packageRoot,
  encoding: 'utf8',
  maxBuffer: 16 * 1024 * 1024,
})
  .trim()
  .split('\n');
const folderOf = (path: string, depth: number): string | undefined => {
  const parts = path.split('/');
  return parts.length > depth ? parts.slice(0, depth).join('/') : undefined;
};
const foldersAt = (depth: number, prefix = ''): Set<string> =>
  new Set(files.filter((it) => it.startsWith(prefix)).flatMap((it) => folderOf(it, depth) ?? []));

describe('conventions/tree', () => {
  const listed = listedFolders(readFileSync(join(packageRoot, 'ARCHITECTURE.md'), 'utf8'));

  it('lists every folder of the project and of src, two levels deep', () => {
    const visible = [...foldersAt(1)].filter((it) => !it.startsWith('.'));
    const expected = [...visible, ...foldersAt(2, 'src/'), ...foldersAt(3, 'src/')];
    expect(listed.toSorted()).to.deep.equal([...new Set(expected)].filter((it) => !isCommandGroup(it)).toSorted());
  });

  it('has no folder of sources with more than a dozen loose files', () => {
    const counts = new Map<string, number>();
    for (const path of files.filter((it) => /^(src|machines)\/.*\.ts$/.test(it))) {
      const folder = path.slice(0, path.lastIndexOf('/'));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    const crowded = [...counts].filter(([, count]) => count > MAX_FILES);
    expect(crowded).to.deep.equal([]);
  });
});

/** The groups of commands are listed in the line of `commands/`. */
function isCommandGroup(path: string): boolean {
  return path.startsWith('src/cli/commands/');
}
