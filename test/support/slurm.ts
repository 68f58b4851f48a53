/** A real Slurm of one node on loopback, from the programs of the system, for tests; and a stub of its three commands. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import { freePorts } from './ports.ts';

export interface SlurmSite {
  /** The environment in which sbatch, squeue and scancel work. */
  env: Record<string, string>;
  /** A folder that every job can read and write. */
  folder: string;
  stop(): void;
}

const PROGRAMS = ['munged', 'slurmctld', 'slurmd', 'sbatch', 'squeue', 'scancel', 'sinfo'];
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;

/** Why a real Slurm cannot be started here; undefined when it can. */
export function slurmMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'slurmctld and slurmd need root';
  const missing = PROGRAMS.filter((it) => spawnSync('which', [it], { env: { PATH } }).status !== 0);
  return missing.length === 0 ? undefined : `${missing.join(', ')}: not installed`;
}

function must(program: string, args: readonly string[], env: Record<string, string>): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Starts munged, slurmctld and slurmd with 8 cores, 2 GPUs (device files) and 2 licences of `matlab`; partitions `main`, `short` (one minute at most), `low`, and `high`, which preempts jobs of `low`. */
export async function startSlurm(): Promise<SlurmSite> {
  const folder = mkdtempSync(join(os.tmpdir(), 'simbatch-slurm-'));
  chmodSync(folder, 0o755);
  for (const name of ['state', 'spool', 'log', 'run', 'local', 'home']) mkdirSync(join(folder, name), { mode: 0o755 });
  // As a site gives each node its local disk.
  writeFileSync(join(folder, 'prolog'), `#!/bin/sh\necho 'export TMPDIR=${folder}/local'\n`, { mode: 0o755 });
  mkdirSync(join(folder, 'munge'), { mode: 0o700 });
  writeFileSync(join(folder, 'munge/key'), Buffer.alloc(1024, folder), { mode: 0o600 });
  const host = os.hostname().split('.')[0] ?? 'localhost';
  // Jobs read the profile there, as login shells; not that of the person who tests.
  const env = { PATH, HOME: join(folder, 'home'), SLURM_CONF: join(folder, 'slurm.conf') };
  const [controllerPort = 0, nodePort = 0] = await freePorts(2);
  writeFileSync(env.SLURM_CONF, configuration(folder, host, controllerPort, nodePort));
  for (const at of ['0', '1']) symlinkSync('/dev/null', join(folder, `gpu${at}`));
  writeFileSync(join(folder, 'gres.conf'), `Name=gpu File=${folder}/gpu[0-1]\n`);
  const munge = [
    ['key-file', 'munge/key'],
    ['socket', 'run/munge.sock'],
    ['pid-file', 'run/munged.pid'],
    ['log-file', 'munge/log'],
    ['seed-file', 'munge/seed'],
  ];
  const site = { env, folder, stop: () => stop(folder) };
  try {
    must(
      'munged',
      munge.map(([name, file]) => `--${name ?? ''}=${join(folder, file ?? '')}`),
      env,
    );
    must('slurmctld', ['-f', env.SLURM_CONF], env);
    must('slurmd', ['-f', env.SLURM_CONF, '-N', host], env);
    for (let waitedMs = 0; !/idle/.test(must('sinfo', ['-h', '-o', '%T'], env)); waitedMs += 100) {
      if (waitedMs > 20_000) throw new Error(`the node of Slurm is not idle: ${must('sinfo', ['-Nl'], env)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } catch (error) {
    site.stop();
    throw error;
  }
  return site;
}

function configuration(folder: string, host: string, controllerPort: number, nodePort: number): string {
  return `ClusterName=simbatch
SlurmctldHost=${host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/run/munge.sock
SlurmctldPort=${String(controllerPort)}
SlurmdPort=${String(nodePort)}
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/run/slurmctld.pid
SlurmdPidFile=${folder}/run/slurmd.pid
SlurmctldLogFile=${folder}/log/slurmctld.log
SlurmdLogFile=${folder}/log/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=${folder}/prolog
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=2
GresTypes=gpu
Licenses=matlab:2
NodeName=${host} NodeAddr=127.0.0.1 CPUs=8 Gres=gpu:2 RealMemory=2000 State=UNKNOWN
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=main Nodes=${host} Default=YES MaxTime=INFINITE PreemptMode=OFF State=UP
PartitionName=short Nodes=${host} MaxTime=1 PreemptMode=OFF State=UP
PartitionName=low Nodes=${host} PriorityTier=1 State=UP
PartitionName=high Nodes=${host} PriorityTier=10 PreemptMode=OFF State=UP
`;
}

/** Ends the daemons by their own pid files, and every job step with them. */
function stop(folder: string): void {
  const env = { PATH, SLURM_CONF: join(folder, 'slurm.conf') };
  spawnSync('scancel', ['--signal=KILL', '--full', '--me'], { env });
  spawnSync('scancel', ['--me'], { env });
  for (const name of ['slurmd', 'slurmctld', 'munged']) {
    const path = join(folder, 'run', `${name}.pid`);
    const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : NaN;
    if (!Number.isInteger(pid)) continue;
    try {
      process.kill(pid, name === 'slurmd' ? 'SIGTERM' : 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** The stub: sbatch, squeue and scancel over a folder of jobs, each a process of this machine. */
export function startStub(): SlurmSite {
  const folder = mkdtempSync(join(os.tmpdir(), 'simbatch-stub-'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  mkdirSync(join(folder, 'jobs'));
  const program = join(packageRoot, 'test', 'support', 'slurm-stub.mjs');
  for (const name of ['sbatch', 'squeue', 'scancel']) {
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nexec '${process.execPath}' '${program}' ${name} '${folder}/jobs' "$@"\n`,
      { mode: 0o755 },
    );
  }
  const env = { PATH: `${bin}:${PATH}`, HOME: process.env['HOME'] ?? '/' };
  return {
    env,
    folder,
    stop: () => {
      spawnSync('scancel', ['--all'], { env });
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
