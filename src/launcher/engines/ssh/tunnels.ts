/**
 * Reverse tunnels: a port on the loopback interface of a host that leads to the coordinator, as long as the launcher runs. A tunnel
 * that breaks is made again on the same port, because the runners on the host know that port.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import { EngineUnreachable } from '../../engine.ts';
import { BEGIN } from './scripts.ts';
import { failureOf, type SshProgram, type SshTarget } from './ssh-program.ts';

const OPEN_MS = 15_000;
/** `cat` ends when the launcher does, however that ends; with it the connection and its port. */
const REMOTE = `sh -c 'echo ${BEGIN}; exec cat >/dev/null'`;

interface Tunnel {
  child: ChildProcess;
  opened: Promise<void>;
}

export class ReverseTunnels {
  readonly #ssh: SshProgram;
  readonly #clock: Clock;
  /** `host:port` of the coordinator, as this machine reaches it. */
  readonly #destination: string;
  readonly #tunnels = new Map<string, Tunnel>();
  readonly #faults = new Map<string, string>();

  constructor(ssh: SshProgram, clock: Clock, coordinator: string) {
    this.#ssh = ssh;
    this.#clock = clock;
    const { hostname, port, protocol } = new URL(coordinator);
    this.#destination = `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
  }

  /** Why the tunnel is not open; undefined while it is. */
  fault(target: SshTarget, port: number): string | undefined {
    return this.#faults.get(keyOf(target, port));
  }

  /** Resolves when the tunnel is open. @throws EngineUnreachable when it cannot be opened now */
  open(target: SshTarget, port: number): Promise<void> {
    const key = keyOf(target, port);
    const known = this.#tunnels.get(key);
    if (known !== undefined) return known.opened;
    const tunnel = this.#spawn(target, port);
    this.#tunnels.set(key, tunnel);
    tunnel.child.once('close', () => {
      if (this.#tunnels.get(key) === tunnel) this.#tunnels.delete(key);
    });
    tunnel.opened.then(
      () => this.#faults.delete(key),
      (error: unknown) => this.#faults.set(key, (error as Error).message),
    );
    return tunnel.opened;
  }

  close(target: SshTarget, port: number): void {
    const key = keyOf(target, port);
    this.#tunnels.get(key)?.child.kill('SIGKILL');
    this.#tunnels.delete(key);
    this.#faults.delete(key);
  }

  #spawn(target: SshTarget, port: number): Tunnel {
    const forward = `127.0.0.1:${String(port)}:${this.#destination}`;
    const [program, ...args] = this.#ssh.command(target, REMOTE, ['-o', 'ExitOnForwardFailure=yes', '-R', forward]);
    const child = spawn(program, args, { env: this.#ssh.environment, stdio: 'pipe' });
    // The ssh process must not keep the launcher running.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as Socket).unref();
    child.stdin.on('error', () => {});
    let stdout = '';
    let stderr = '';
    const opened = new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => {
        cancel();
        child.kill('SIGKILL');
        reject(
          new EngineUnreachable(
            `${target.place}: the reverse tunnel from port ${String(port)} cannot be opened: ${error.message}`,
          ),
        );
      };
      const cancel = this.#clock.after(
        OPEN_MS,
        () => fail(new Error(`no answer within ${String(OPEN_MS / 1_000)} s`)),
        {
          keepAlive: true,
        },
      );
      child.stderr.on('data', (text: Buffer) => (stderr = `${stderr}${text.toString()}`.slice(-2_000)));
      child.stdout.on('data', (text: Buffer) => {
        stdout = `${stdout}${text.toString()}`.slice(-2_000);
        if (!stdout.split('\n').includes(BEGIN)) return;
        cancel();
        resolve();
      });
      child.once('error', fail);
      child.once('close', (code) => fail(failureOf(target, { code: code ?? undefined, stdout, stderr })));
    });
    return { child, opened };
  }
}

const keyOf = ({ place }: SshTarget, port: number): string => `${place} ${String(port)}`;
