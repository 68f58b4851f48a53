/** A real S3 interface on loopback: OpenStack Swift of Debian's packages, one replica, in a temporary folder. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePorts, listening } from './ports.ts';
import type { S3Server } from './s3-server.ts';

/** The programs that this machine lacks, for the reason of a skip; undefined when Swift can be started. */
export function swiftFault(): string | undefined {
  const programs = ['proxy', 'account', 'container', 'object'].map((it) => `swift-${it}-server`);
  const absent = [...programs, 'swift-ring-builder', 'memcached'].filter(
    (it) => spawnSync('sh', ['-c', `command -v ${it}`]).status !== 0,
  );
  return absent.length === 0 ? undefined : `${absent.join(', ')} of Debian's swift and memcached are not installed`;
}

/** Starts all servers; resolves when the proxy listens. */
export async function startSwift(folder: string): Promise<S3Server> {
  const etc = join(folder, 'etc');
  for (const made of [etc, join(folder, 'dev/d1')]) mkdirSync(made, { recursive: true });
  const [proxy = 0, account = 0, container = 0, object = 0, cache = 0] = await freePorts(5);
  const common = (port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${String(port)}
workers = 0
user = ${userInfo().username}
swift_dir = ${etc}
devices = ${join(folder, 'dev')}
mount_check = false
disable_fallocate = true
log_address = ${join(folder, 'nolog')}
`;
  writeFileSync(
    join(etc, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_suffix = test\nswift_hash_path_prefix = test\n',
  );
  for (const [name, port] of Object.entries({ account, container, object })) {
    const pipeline = `[pipeline:main]\npipeline = ${name}-server\n[app:${name}-server]\nuse = egg:swift#${name}\n`;
    writeFileSync(join(etc, `${name}.conf`), common(port) + pipeline);
    const builder = `${name}.builder`;
    for (const args of [['create', '4', '1', '1'], ['add', `r1z1-127.0.0.1:${String(port)}/d1`, '1'], ['rebalance']]) {
      const { status, stderr, stdout } = spawnSync('swift-ring-builder', [builder, ...args], { cwd: etc });
      // 1 is a warning.
      if (status === null || status > 1) throw new Error(`swift-ring-builder: ${String(stdout)}${String(stderr)}`);
    }
  }
  writeFileSync(join(etc, 'proxy.conf'), common(proxy) + proxyConfiguration(cache));
  const children: ChildProcess[] = [];
  const start = (program: string, args: readonly string[]): void => {
    children.push(
      spawn(program, args, { cwd: etc, stdio: 'ignore', env: { ...process.env, SWIFT_CONF: join(etc, 'swift.conf') } }),
    );
  };
  start('memcached', ['-u', userInfo().username, '-l', '127.0.0.1', '-p', String(cache), '-m', '16']);
  for (const name of ['account', 'container', 'object', 'proxy'])
    start(`swift-${name}-server`, [join(etc, `${name}.conf`)]);
  const stop = (): void => {
    for (const child of children) child.kill('SIGKILL');
  };
  try {
    for (const port of [account, container, object, proxy]) await listening(port, 'Swift');
  } catch (error) {
    stop();
    throw error;
  }
  const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };
  const endpoint = `http://127.0.0.1:${String(proxy)}`;
  // The quota of a container is set by Swift's own interface.
  const setQuota = async (bytes: number | undefined, bucket: string): Promise<void> => {
    const login = await fetch(`${endpoint}/auth/v1.0`, {
      headers: { 'x-storage-user': 'test:tester', 'x-storage-pass': 'testing' },
    });
    const headers = {
      'x-auth-token': login.headers.get('x-auth-token') ?? '',
      'x-container-meta-quota-bytes': bytes === undefined ? '' : String(bytes),
    };
    const address = `${login.headers.get('x-storage-url') ?? ''}/${bucket}`;
    const { status } = await fetch(address, { method: 'POST', headers });
    if (status !== 204) throw new Error(`Swift answered ${String(status)} to a quota`);
  };
  return { endpoint, credentials, setQuota, stop };
}

const MIDDLEWARE: Readonly<Record<string, string>> = {
  s3api: 's3_acl = false\ncheck_bucket_owner = false\nlocation = us-east-1\nforce_swift_request_proxy_log = false',
  tempauth: 'user_test_tester = testing .admin',
  slo: 'min_segment_size = 1',
};

function proxyConfiguration(cachePort: number): string {
  const names = [
    'catch_errors',
    'gatekeeper',
    'cache',
    'listing_formats',
    'bulk',
    's3api',
    'tempauth',
    'copy',
    'container_quotas',
    'slo',
    'dlo',
    'versioned_writes',
    'symlink',
  ];
  const filterOf = (name: string): string => {
    const use = name === 'cache' ? 'memcache' : name;
    const own = name === 'cache' ? `memcache_servers = 127.0.0.1:${String(cachePort)}` : (MIDDLEWARE[name] ?? '');
    return `[filter:${name}]\nuse = egg:swift#${use}\n${own}\n`;
  };
  return `[pipeline:main]
pipeline = ${names.join(' ')} proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
${names.map(filterOf).join('')}`;
}
