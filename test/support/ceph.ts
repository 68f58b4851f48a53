/** A real S3 interface on loopback: Ceph's gateway of Debian's packages, with one monitor and one disk in memory, in a temporary folder. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { freePorts, listening } from './ports.ts';
import type { S3Server } from './s3-server.ts';

/** The servers take about 150 MB, and the disk in memory up to 512 MiB. */
const LEAST_FREE_BYTES = 1.5 * 2 ** 30;
const CALL_MS = 60_000;

/** The programs that this machine lacks, for the reason of a skip; undefined when Ceph can be started. */
export function cephFault(): string | undefined {
  const programs = ['ceph', 'ceph-mon', 'ceph-osd', 'ceph-authtool', 'monmaptool', 'radosgw', 'radosgw-admin'];
  const absent = programs.filter((it) => spawnSync('sh', ['-c', `command -v ${it}`]).status !== 0);
  if (absent.length === 0) return undefined;
  return `${absent.join(', ')} of Debian's radosgw, ceph-mon, ceph-osd and ceph-common are not installed`;
}

/** Why Ceph does not fit into the free memory, for the reason of a skip. */
export function cephMemoryFault(): string | undefined {
  const free = freemem();
  if (free >= LEAST_FREE_BYTES) return undefined;
  const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
  return `${gib(free)} GiB of memory are free, and Ceph needs ${gib(LEAST_FREE_BYTES)} GiB`;
}

/** Starts all servers; resolves when the gateway listens. */
export async function startCeph(folder: string): Promise<S3Server> {
  for (const made of ['mon', 'osd.0', 'run', 'log', 'rgw']) mkdirSync(join(folder, made), { recursive: true });
  const [gateway = 0, monitor = 0] = await freePorts(2);
  const conf = join(folder, 'ceph.conf');
  const fsid = randomUUID();
  writeFileSync(conf, configuration(folder, fsid, gateway, monitor));
  const children: ChildProcess[] = [];
  const stop = (): void => {
    for (const child of children) child.kill('SIGKILL');
  };
  const call = (program: string, ...args: string[]): void => {
    const env = { ...process.env, CEPH_CONF: conf };
    const { status, stderr, stdout } = spawnSync(program, args, { env, timeout: CALL_MS });
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${String(stdout)}${String(stderr)}`);
  };
  const start = (program: string, ...args: string[]): void => {
    children.push(spawn(program, ['-c', conf, ...args, '-f'], { stdio: 'ignore' }));
  };
  const keyring = join(folder, 'keyring');
  try {
    call(
      'monmaptool',
      '--create',
      '--fsid',
      fsid,
      '--addv',
      'a',
      `[v2:127.0.0.1:${String(monitor)}]`,
      join(folder, 'monmap'),
    );
    call('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
    for (const name of ['client.admin', 'client.rgw', 'osd.0']) {
      const rights = ['mon', 'osd', 'mgr'].flatMap((it) => ['--cap', it, 'allow *']);
      call('ceph-authtool', keyring, '--gen-key', '-n', name, ...rights);
    }
    call('ceph-mon', '-c', conf, '-i', 'a', '--mkfs', '--monmap', join(folder, 'monmap'), '--keyring', keyring);
    start('ceph-mon', '-i', 'a');
    call('ceph', '-c', conf, 'osd', 'create');
    call('ceph-osd', '-c', conf, '-i', '0', '--mkfs');
    start('ceph-osd', '-i', '0');
    call('ceph', '-c', conf, 'osd', 'crush', 'add', 'osd.0', '1.0', 'host=localhost', 'root=default');
    const user = [
      '--uid=t',
      '--display-name=t',
      `--access-key=${ACCESS.accessKeyId}`,
      `--secret=${ACCESS.secretAccessKey}`,
    ];
    call('radosgw-admin', '-c', conf, 'user', 'create', ...user);
    start('radosgw', '-n', 'client.rgw');
    await listening(gateway, 'Ceph');
  } catch (error) {
    stop();
    throw error;
  }
  const setQuota = async (bytes: number | undefined): Promise<void> => {
    const limits = bytes === undefined ? ['quota', 'disable'] : ['quota', 'set', `--max-size=${String(bytes)}B`];
    call('radosgw-admin', '-c', conf, ...limits, '--uid=t', '--quota-scope=user');
    if (bytes !== undefined) call('radosgw-admin', '-c', conf, 'quota', 'enable', '--uid=t', '--quota-scope=user');
    await Promise.resolve();
  };
  return { endpoint: `http://127.0.0.1:${String(gateway)}`, credentials: ACCESS, setQuota, stop };
}

const ACCESS = { accessKeyId: 'test', secretAccessKey: 'testsecret' };

const configuration = (folder: string, fsid: string, gateway: number, monitor: number): string => `[global]
fsid = ${fsid}
mon_host = v2:127.0.0.1:${String(monitor)}
mon_initial_members = a
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = ${folder}/keyring
auth_allow_insecure_global_id_reclaim = true
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
run_dir = ${folder}/run
admin_socket = ${folder}/run/$name.asok
log_file = ${folder}/log/$name.log
pid_file = ${folder}/run/$name.pid
ms_bind_ipv4 = true
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
[mon.a]
mon_data = ${folder}/mon
[osd]
osd_objectstore = memstore
memstore_device_bytes = 536870912
osd_data = ${folder}/osd.0
osd_class_load_list = *
osd_class_default_list = *
[client.rgw]
rgw_data = ${folder}/rgw
rgw_frontends = beast endpoint=127.0.0.1:${String(gateway)}
rgw_enable_usage_log = false
rgw_gc_max_objs = 4
rgw_bucket_quota_ttl = 0
rgw_user_quota_bucket_sync_interval = 0
`;
