/** Debian's nginx on loopback, with the configuration of deploy/nginx, for tests of a coordinator with a proxy in front. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import { freePorts, listening } from './ports.ts';

/** Where Debian has it; it is not on the search path of everyone. */
export const NGINX = '/usr/sbin/nginx';

export interface Nginx {
  /** The address of the site. */
  url: string;
  stop(): Promise<void>;
}

const fileOfKit = (name: string): string => readFileSync(join(packageRoot, 'deploy/nginx', name), 'utf8');

/** Starts a site with the coordinator at `port` below `/simbatch`; `strips` passes its requests on without this prefix. */
export async function startNginx(port: number, { strips = false } = {}): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-nginx-'));
  const [own = 0] = await freePorts(1);
  const upstream = fileOfKit('simbatch.conf').replace('127.0.0.1:7070', `127.0.0.1:${String(port)}`);
  const location = fileOfKit('simbatch-location.conf').replace('http://simbatch;', strips ? 'http://simbatch/;' : '$&');
  for (const name of ['logs', 'body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${upstream}
  server {
    listen 127.0.0.1:${String(own)};
    location = / { return 200 'the site'; }
    ${location}
  }
}
`,
  );
  const child: ChildProcess = spawn(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  await listening(own, 'nginx');
  return {
    url: `http://127.0.0.1:${String(own)}`,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
