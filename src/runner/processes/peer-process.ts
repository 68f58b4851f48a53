/**
 * Finds out whether a connection on the loopback comes from a process of a run (Linux `/proc`): the socket's inode by its
 * two ports, then the processes that have it open. Source: proc(5), Documentation/networking/proc_net_tcp.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** 127.0.0.1 as the tables write it, by itself and mapped into IPv6; the kernel's byte order is that of the machine. */
const LOOPBACK = new Set([
  '0100007F',
  '0000000000000000FFFF00000100007F',
  '7F000001',
  '00000000000000000000FFFF7F000001',
]);

/** True where peers can be looked up. */
export function peersCanBeChecked(): boolean {
  return existsSync('/proc/net/tcp') && existsSync('/proc/self/fd');
}

/**
 * Whether the loopback connection from `peerPort` to `ownPort` was opened by a process of the run: one of the group of
 * `leader`, a descendant of it, or one with `SVC_OUTPUT_DIR=<directory>` in the environment it was started with. Undefined
 * where the system has no `/proc`. A process of another user that cannot be looked into does not count.
 */
export async function isPeerOfRun(
  leader: number,
  directory: string,
  peerPort: number,
  ownPort: number,
): Promise<boolean | undefined> {
  if (!peersCanBeChecked()) return undefined;
  const inode = await socketInode(peerPort, ownPort);
  if (inode === undefined) return false;
  const processes = await processTable();
  const others: number[] = [];
  for (const [pid, { group }] of processes) {
    if (group !== leader && !descendsFrom(pid, leader, processes)) others.push(pid);
    else if (await holdsSocket(pid, inode)) return true;
  }
  for (const pid of others) {
    if (pid !== process.pid && (await holdsSocket(pid, inode))) return carries(pid, directory);
  }
  return false;
}

async function socketInode(peerPort: number, ownPort: number): Promise<string | undefined> {
  for (const table of TABLES) {
    const lines = (await readFile(table, 'utf8').catch(() => '')).split('\n');
    const port = `:${peerPort.toString(16).toUpperCase().padStart(4, '0')} `;
    for (const line of lines) {
      // A busy machine has many thousands of lines: only a few are taken apart.
      if (!line.includes(port)) continue;
      // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...
      const fields = line.trim().split(/\s+/);
      if (isAt(fields[1], peerPort) && isAt(fields[2], ownPort)) return fields[9];
    }
  }
  return undefined;
}

function isAt(address: string | undefined, port: number): boolean {
  const [host = '', hexPort = ''] = address?.split(':') ?? [];
  return LOOPBACK.has(host) && Number.parseInt(hexPort, 16) === port;
}

interface Process {
  parent: number;
  group: number;
}

async function processTable(): Promise<Map<number, Process>> {
  const found = new Map<number, Process>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) continue;
    // The command's name is in parentheses and may hold anything, parentheses and blanks included.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    found.set(Number(name), { parent: Number(fields[1]), group: Number(fields[2]) });
  }
  return found;
}

function descendsFrom(pid: number, leader: number, processes: ReadonlyMap<number, Process>): boolean {
  let at: number | undefined = pid;
  for (let steps = 0; at !== undefined && at > 1 && steps < processes.size; steps += 1) {
    if (at === leader) return true;
    at = processes.get(at)?.parent;
  }
  return false;
}

async function holdsSocket(pid: number, inode: string): Promise<boolean> {
  const directory = `/proc/${String(pid)}/fd`;
  const wanted = `socket:[${inode}]`;
  for (const fd of await readdir(directory).catch(() => [])) {
    if ((await readlink(`${directory}/${fd}`).catch(() => '')) === wanted) return true;
  }
  return false;
}

async function carries(pid: number, directory: string): Promise<boolean> {
  const environment = await readFile(`/proc/${String(pid)}/environ`, 'utf8').catch(() => '');
  return environment.split('\0').includes(`SVC_OUTPUT_DIR=${directory}`);
}
