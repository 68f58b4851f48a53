/**
 * The other people who can log in to this machine: accounts of the name service (`getent passwd`, else `/etc/passwd`), and owners of home folders, since
 * a directory service often lists no account.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Accounts of people have ids from here on, but on macOS. */
const FIRST_UID = process.platform === 'darwin' ? 501 : 1_000;
/** Greater ids belong to services, and to accounts that systemd makes. */
const LAST_UID = 60_000;
const LIMIT_MS = 5_000;
const HOMES = ['/home', '/Users'];

const isPerson = (uid: number, own: number): boolean => uid >= FIRST_UID && uid <= LAST_UID && uid !== own;

/** The names of a text of the form of `/etc/passwd` that can log in, without the own account. Pure. */
export function loginUsers(passwd: string, own: number): string[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , uid = '', , , , shell = ''] = line.split(':');
    const canLogIn = !/(nologin|false)\s*$/.test(shell);
    return name !== '' && /^\d+$/.test(uid) && isPerson(Number(uid), own) && canLogIn ? [name] : [];
  });
}

/** The other users of this machine, by name; empty where none are found. */
export async function otherUsers(): Promise<string[]> {
  const own = process.getuid?.() ?? -1;
  const listed = await promisify(execFile)('getent', ['passwd'], { timeout: LIMIT_MS }).then(
    ({ stdout }) => stdout,
    () => readFile('/etc/passwd', 'utf8').catch(() => ''),
  );
  const homes = await Promise.all(HOMES.map((folder) => ownersBelow(folder, own)));
  return [...new Set([...loginUsers(listed, own), ...homes.flat()])].sort();
}

async function ownersBelow(folder: string, own: number): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const uid = await stat(`${folder}/${name}`).then(
        (it) => it.uid,
        () => own,
      );
      return isPerson(uid, own) ? [name] : [];
    }),
  );
  return found.flat();
}
