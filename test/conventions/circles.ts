/** Circles of imports: the parts of a folder that depend on each other, found in the text of its files. */
import { posix } from 'node:path';
import type { SourceFile } from './files.ts';

/** Imports by file: the paths of files that it imports, of those that are there. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The relative imports of TypeScript and JavaScript files, of types too. */
export function moduleImports(files: readonly SourceFile[]): Imports {
  const known = new Set(files.map((it) => it.path));
  return new Map(
    files.map(({ path, text }) => {
      const named = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((it) =>
        posix.join(posix.dirname(path), it[1] ?? ''),
      );
      return [path, named.filter((it) => known.has(it))];
    }),
  );
}

/** The relative imports of Python modules, also those inside functions and for type checkers alone. */
export function pythonImports(files: readonly SourceFile[]): Imports {
  const known = new Set(files.map((it) => it.path));
  const fileOf = (module: string): string | undefined =>
    [`${module}.py`, `${module}/__init__.py`].find((it) => known.has(it));
  return new Map(
    files.map(({ path, text }) => {
      const lines = text.matchAll(/^[ \t]*from (\.+)([\w.]*) import (?:\(([^)]*)\)|([^\n#]*))/gm);
      const imported = [...lines].flatMap(([, dots = '.', module = '', inBrackets, inLine]) => {
        const folder = dots.split('').reduce((at) => posix.dirname(at), path);
        const source = posix.join(folder, module.replaceAll('.', '/'));
        const names = (inBrackets ?? inLine ?? '').split(',').map((it) => it.trim().split(' ')[0] ?? '');
        // A name may be a module of the package, or a member of it.
        return names
          .filter((it) => it !== '')
          .flatMap((name) => fileOf(posix.join(source, name)) ?? fileOf(source) ?? []);
      });
      return [path, [...new Set(imported)].filter((it) => it !== path)];
    }),
  );
}

/** The room of a file: the folder or the loose file directly in the house, which is a folder. Undefined outside. */
export const roomIn =
  (house: string) =>
  (path: string): string | undefined =>
    path.startsWith(`${house}/`) ? path.slice(0, `${path}/`.indexOf('/', house.length + 1)) : undefined;

/**
 * Sets of rooms of which each depends on each other one, with the imports between them, one line each; empty without a circle.
 * @param roomOf the room of a file; files without one are not judged.
 */
export function circlesIn(imports: Imports, roomOf: (path: string) => string | undefined): string[][] {
  const arrows = new Map<string, Map<string, string>>();
  for (const [from, targets] of imports) {
    const room = roomOf(from);
    if (room === undefined) continue;
    const known = arrows.get(room) ?? new Map<string, string>();
    arrows.set(room, known);
    for (const to of targets) {
      const other = roomOf(to);
      if (other !== undefined && other !== room && !known.has(other)) known.set(other, `${from} -> ${to}`);
    }
  }
  const reached = new Map([...arrows.keys()].map((room) => [room, reachable(arrows, room)]));
  const isTied = (a: string, b: string): boolean => reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const inCircles = [...arrows.keys()].filter((room) => isTied(room, room)).sort();
  const circles = new Map(inCircles.map((room) => [inCircles.find((it) => isTied(it, room)) ?? room, room]));
  return [...circles.keys()].map((first) => {
    const rooms = inCircles.filter((it) => isTied(it, first));
    return rooms.flatMap((from) => rooms.flatMap((to) => arrows.get(from)?.get(to) ?? []));
  });
}

/** The rooms that a room depends on, directly or not; itself when it is in a circle. */
function reachable(arrows: ReadonlyMap<string, ReadonlyMap<string, string>>, start: string): Set<string> {
  const found = new Set<string>();
  const pending = [...(arrows.get(start)?.keys() ?? [])];
  for (let room = pending.pop(); room !== undefined; room = pending.pop()) {
    if (found.has(room)) continue;
    found.add(room);
    pending.push(...(arrows.get(room)?.keys() ?? []));
  }
  return found;
}
