/** Machines for tests of the ssh engine: a stub of ssh that executes the scripts here, and a real sshd with a second account. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SshSection } from '../../../../src/launcher/engines/ssh/section.ts';
import { Sshd, sshdMissing } from '../../../support/sshd.ts';

export interface SshSite {
  /** The host, and the settings that reach it. */
  section: SshSection;
  env: Record<string, string | undefined>;
  /** The home directory of the account on the host. */
  home: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The stub: `ssh` in a PATH of its own; the host `down` does not answer, and each call is recorded. */
export class StubSite implements SshSite {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-ssh-'));
  readonly home = join(this.folder, 'home');
  readonly section: SshSection = { hosts: [{ host: 'node1', user: 'ann', port: 2222, cores: 8 }], config: 'none' };
  readonly env = { ...process.env, PATH: `${join(this.folder, 'bin')}:${process.env['PATH'] ?? ''}` };

  start(): Promise<void> {
    const bin = join(this.folder, 'bin');
    mkdirSync(bin);
    mkdirSync(this.home);
    writeFileSync(
      join(bin, 'ssh'),
      `#!/bin/sh
printf '%s\\n' "$*" >>'${this.folder}/calls'
while [ "$1" != -- ]; do shift; done
if [ "$2" = down ]; then echo "ssh: connect to host down port 22: Connection timed out" >&2; exit 255; fi
if [ "$2" = stranger ]; then echo "Host key verification failed." >&2; exit 255; fi
echo "a line of a login script"
HOME='${this.home}' exec env -u SVC_NOTE sh -c "$3"
`,
    );
    chmodSync(join(bin, 'ssh'), 0o755);
    return Promise.resolve();
  }

  /** The command lines of ssh so far. */
  calls(): string[] {
    return readFileSync(join(this.folder, 'calls'), 'utf8').trim().split('\n');
  }

  stop(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true });
    return Promise.resolve();
  }
}

export class RealSite implements SshSite {
  readonly server = new Sshd();
  readonly env = { ...process.env };
  section: SshSection = { hosts: [] };

  get home(): string {
    return this.server.home;
  }

  async start(): Promise<void> {
    await this.server.start();
    const { user, port, identity, knownHosts } = this.server;
    this.section = {
      hosts: [{ host: '127.0.0.1', user, port, cores: 8 }],
      identity_file: identity,
      known_hosts: knownHosts,
      config: 'none',
    };
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

/** The sites of tests that hold on both, each with why this machine cannot have it. */
export const SITES = [
  { name: 'a stub of ssh', make: () => new StubSite(), missing: (): string | undefined => undefined },
  { name: 'a real sshd', make: () => new RealSite(), missing: sshdMissing },
] as const;
