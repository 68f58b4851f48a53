/** A real OpenSSH server on a loopback port, with an unprivileged account of its own, for tests of the ssh engine. Needs root. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, isListening } from './ports.ts';

const SSHD = '/usr/sbin/sshd';

/** Why this machine cannot have a server; undefined when it can. */
export function sshdMissing(): string | undefined {
  if (userInfo().uid !== 0) return 'sshd with a second account needs root';
  const programs = [
    [SSHD, existsSync(SSHD)],
    ['ssh', spawnSync('ssh', ['-V']).status === 0],
    ['useradd', spawnSync('useradd', ['--help']).status === 0],
  ] as const;
  const missing = programs.find(([, isThere]) => !isThere)?.[0];
  return missing === undefined ? undefined : `there is no ${missing}`;
}

export class Sshd {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-sshd-'));
  readonly user = `sb${String(process.pid)}`;
  readonly home = join(this.folder, 'home');
  port = 0;
  #server: ChildProcess | undefined;

  /** The files that a launcher names. */
  get identity(): string {
    return join(this.folder, 'id');
  }

  get knownHosts(): string {
    return join(this.folder, 'known_hosts');
  }

  async start(): Promise<void> {
    chmodSync(this.folder, 0o755);
    const run = (program: string, ...args: string[]): void => void execFileSync(program, args, { stdio: 'pipe' });
    run('useradd', '--create-home', '--home-dir', this.home, '--shell', '/bin/bash', this.user);
    // No password, and not locked: sshd refuses a locked account even with a key.
    run('usermod', '--password', '*', this.user);
    for (const name of ['host_key', 'id'])
      run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(this.folder, name));
    run('install', '-d', '-m', '700', '-o', this.user, '-g', this.user, join(this.home, '.ssh'));
    run(
      'install',
      '-m',
      '600',
      '-o',
      this.user,
      '-g',
      this.user,
      `${this.identity}.pub`,
      join(this.home, '.ssh/authorized_keys'),
    );
    mkdirSync('/run/sshd', { recursive: true });
    [this.port = 0] = await freePorts(1);
    const key = readFileSync(join(this.folder, 'host_key.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
    writeFileSync(this.knownHosts, `[127.0.0.1]:${String(this.port)} ${key.trim()}\n`);
    const config = `Port ${String(this.port)}
ListenAddress 127.0.0.1
HostKey ${join(this.folder, 'host_key')}
PidFile none
AuthorizedKeysFile .ssh/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin no
MaxStartups 100
`;
    writeFileSync(join(this.folder, 'sshd_config'), config);
    await this.listen();
  }

  /** Starts the server, also again after `interrupt`. */
  async listen(): Promise<void> {
    const server = spawn(SSHD, ['-D', '-e', '-f', join(this.folder, 'sshd_config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#server = server;
    let log = '';
    server.stderr.on('data', (text: Buffer) => (log += text.toString()));
    while (!(await isListening(this.port))) {
      if (server.exitCode !== null) throw new Error(`sshd ended: ${log}`);
      await sleep(20);
    }
  }

  /** Ends the server and all connections; processes that were started through it stay. */
  async interrupt(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const sessions = spawnSync('pgrep', ['-P', String(server.pid)], { encoding: 'utf8' }).stdout.split('\n');
    server.kill('SIGKILL');
    await once(server, 'exit');
    for (const pid of sessions.filter((it) => it !== '')) spawnSync('pkill', ['-KILL', '-P', pid]);
    for (const pid of sessions.filter((it) => it !== '')) spawnSync('kill', ['-KILL', pid]);
  }

  /** The processes of the account, as lines of `ps`; neither those of sshd nor ended ones that wait for their parent. */
  processes(): string[] {
    const { stdout } = spawnSync('ps', ['-u', this.user, '-o', 'pid=,args='], { encoding: 'utf8' });
    return stdout.split('\n').filter((it) => it.trim() !== '' && !it.includes('sshd:') && !it.includes('<defunct>'));
  }

  async stop(): Promise<void> {
    await this.interrupt();
    spawnSync('pkill', ['-KILL', '-u', this.user]);
    // The account is removed when its last process has ended.
    for (let tries = 0; tries < 100 && spawnSync('userdel', [this.user]).status === 8; tries++) await sleep(50);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
