/**
 * A fresh machine in namespaces of this one: empty folders below /home, /var and /etc/systemd, a network of its own with the hosts of the pages,
 * and one shell, which executes script after script as a person at a terminal does.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { packageRoot } from '../../../src/base/package.ts';

/** Hosts of the pages; they are other addresses than loopback, and lead to this machine. */
const HOSTS = ['login1', 'node1', 'node2', 'node3', 'simbatch.lab.example', 'simbatch.example', 'lab.example'];
const ADDRESS = '10.0.0.5';
const STAND_INS = join(packageRoot, 'test/support/pages/stand-ins');
const UNSHARE = [
  '--mount',
  '--net',
  '--uts',
  '--pid',
  '--fork',
  '--kill-child',
  ...(isRoot() ? [] : ['--map-root-user']),
];

export interface Executed {
  code: number;
  /** Both outputs, and those of programs in the background meanwhile. */
  output: string;
}

/** Why this system has no such machines; undefined when it has. */
export function freshMachineMissing(): string | undefined {
  const missing = ['unshare', 'ip', 'chroot', 'mount', 'curl', 'jq', 'openssl', 'python3', 'ssh-keygen'].filter(
    (it) => spawnSync('sh', ['-c', `command -v ${it}`], { env: { PATH: searchPath() } }).status !== 0,
  );
  if (missing.length > 0) return `${missing.join(', ')}: not installed`;
  const { status, stderr } = spawnSync('unshare', [...UNSHARE, 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return status === 0 ? undefined : `no namespaces: ${stderr.toString().trim()}`;
}

export class FreshMachine {
  /** A folder that the machine shares with this one, under the same path; the shell starts in `work`. */
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-machine-'));
  readonly work = join(this.folder, 'work');
  #shell: ChildProcess | undefined;
  #output = '';
  #statuses = '';

  start(env: Readonly<Record<string, string>> = {}): void {
    for (const name of ['root', 'bin', 'work', 'etc']) mkdirSync(join(this.folder, name));
    cpSync(STAND_INS, join(this.folder, 'bin'), { recursive: true });
    this.program('simbatch', `exec "${process.execPath}" "${join(packageRoot, 'dist/bin/simbatch.js')}" "$@"`);
    this.program('python3', `exec "${realPython()}" "$@"`);
    const shell = spawn('unshare', [...UNSHARE, 'bash', '-c', this.#enter()], {
      env: {
        PATH: `${this.folder}/bin:${dirname(process.execPath)}:${searchPath()}`,
        HOME: '/home/ann',
        MACHINE: this.folder,
        PACKAGE: packageRoot,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.#shell = shell;
    for (const stream of [shell.stdout, shell.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    (shell.stdio[3] as Readable).setEncoding('utf8').on('data', (text: string) => (this.#statuses += text));
  }

  /** A program of this machine, as a script of sh. */
  program(name: string, script: string): void {
    const path = join(this.folder, 'bin', name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  /** Executes a script in the shell. Its code is that of the first command that failed. */
  async execute(script: string, limitMs = 800_000): Promise<Executed> {
    const file = join(this.folder, 'script');
    writeFileSync(file, script);
    [this.#output, this.#statuses] = ['', ''];
    this.#shell?.stdin?.write(
      `failed=0; set -E; trap 'status=$?; [ $failed != 0 ] || failed=$status' ERR; . '${file}'; trap - ERR; echo $failed >&3\n`,
    );
    const endMs = Date.now() + limitMs;
    while (!this.#statuses.includes('\n')) {
      if (Date.now() > endMs || this.#shell?.exitCode !== null) {
        const why = this.#shell?.exitCode === null ? `did not end within ${String(limitMs)} ms` : 'ended the shell';
        throw new Error(`a script ${why}:\n${script}\n${this.#output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // Output from before the status may still be in the pipe.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { code: Number(this.#statuses), output: this.#output };
  }

  async stop(): Promise<void> {
    const shell = this.#shell;
    if (shell !== undefined && shell.exitCode === null && shell.signalCode === null) {
      const ended = once(shell, 'exit');
      shell.kill('SIGKILL');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** The script that becomes the shell of the machine. */
  #enter(): string {
    const hosts = ['127.0.0.1 localhost', ...HOSTS.map((it) => `${ADDRESS} ${it}`)].join('\\n');
    return `set -e
mount --make-rprivate /
ip link set lo up; ip addr add ${ADDRESS}/32 dev lo
hostname login1
root='${this.folder}/root'
mount -t tmpfs none "$root"
for path in /*; do
  name=\${path#/}
  [ -L "$path" ] && cp -P "$path" "$root/" && continue
  [ -d "$path" ] || continue
  mkdir "$root/$name"
  case $name in etc|home|var|tmp|run|backup|proc) continue;; esac
  mount --rbind "$path" "$root/$name"
done
cp -a /etc/. "$root/etc/" 2>/dev/null || true
rm -rf "$root/etc/simbatch" "$root"/etc/systemd/system/simbatch* && mkdir -p "$root/etc/systemd/system" "$root/etc/simbatch"
printf '${hosts}\\n' > "$root/etc/hosts"
mkdir -p "$root/home/ann" "$root/var/lib" "$root/backup"
mount -t proc proc "$root/proc"
for path in '${this.folder}' '${packageRoot}' '${dirname(dirname(process.execPath))}'; do
  mkdir -p "$root$path"; mount --rbind "$path" "$root$path"
done
exec chroot "$root" bash -c 'cd "$MACHINE/work"; exec bash'`;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function searchPath(): string {
  return `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
}

/** The interpreter itself: version managers have a script in its place. */
function realPython(): string {
  return spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).stdout.trim();
}
