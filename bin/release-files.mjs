// The files that hold the version, and their text in a release. Pure: `release.mjs` reads and writes them.

/** Each file with the place of the version in it. The first line that matches is the package's own. */
const PLACES = {
  'package.json': /^( {2}"version": ")[^"]+(")/m,
  'clients/node/package.json': /^( {2}"version": ")[^"]+(")/m,
  'clients/python/pyproject.toml': /^(version = ")[^"]+(")/m,
  'clients/python/simbatch/__init__.py': /^(__version__ = ")[^"]+(")/m,
};
const LOCK = 'package-lock.json';
const CHANGELOG = 'CHANGELOG.md';
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;
const COMING = /^## (\d+\.\d+\.\d+) \(not yet released\)\n/m;

/** Paths of the files that a release changes. */
export const RELEASED = [...Object.keys(PLACES), LOCK, CHANGELOG];

/** Why this version cannot follow the one in package.json, as a message; undefined when it can. */
export function versionFault(version, current) {
  const parts = VERSION.exec(version)?.slice(1).map(Number);
  if (parts === undefined) return `${JSON.stringify(version)} is not a version; give three numbers, e.g. 1.2.0`;
  const now = VERSION.exec(current).slice(1).map(Number);
  const at = parts.findIndex((it, place) => it !== now[place]);
  return at >= 0 && parts[at] < now[at] ? `${version} is before ${current}; give that or a later one` : undefined;
}

/** The section of the changelog for the version that comes, without its heading; undefined when there is none or it is empty. */
export function notesOf(changelog) {
  const found = COMING.exec(changelog);
  if (found === null) return undefined;
  const [notes = ''] = changelog.slice(found.index + found[0].length).split(/^## /m);
  return notes.trim() === '' ? undefined : notes.trim();
}

/**
 * The new texts by path.
 * @param read the text of a path. @param day of the release, e.g. `2026-01-31`.
 * @throws Error for a file without its version
 */
export function releasedFiles(version, day, read) {
  const texts = Object.entries(PLACES).map(([path, place]) => [path, replaced(path, read(path), place, version)]);
  const lock = JSON.parse(read(LOCK));
  lock.version = version;
  lock.packages[''].version = version;
  const changelog = read(CHANGELOG);
  if (!COMING.test(changelog))
    throw new Error(`${CHANGELOG} has no section of a version that is not yet released; add one`);
  return new Map([
    ...texts,
    [LOCK, `${JSON.stringify(lock, null, 2)}\n`],
    [CHANGELOG, changelog.replace(COMING, `## ${version} (${day})\n`)],
  ]);
}

function replaced(path, text, place, version) {
  if (!place.test(text)) throw new Error(`${path} has no version; add it`);
  return text.replace(place, `$1${version}$2`);
}
