/** Self-signed certificates for tests, made with openssl. */
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';

/** Whether openssl is there; where nothing may be missing, a test without it fails instead of being skipped. */
export const canMakeCertificates = (): boolean =>
  process.env['SIMBATCH_REQUIRE_ALL'] === '1' || spawnSync('openssl', ['version']).status === 0;

/** Makes `<name>-cert.pem` and `<name>-key.pem` in the folder, for localhost. */
export async function makeCertificate(folder: string, name: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [join(folder, `${name}-cert.pem`), join(folder, `${name}-key.pem`)];
  const kind = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost'.split(' ');
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  await promisify(execFile)('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert]);
  return { cert, key };
}

/** The content of both. */
export async function readPair(paths: { cert: string; key: string }): Promise<{ cert: string; key: string }> {
  return { cert: await readFile(paths.cert, 'utf8'), key: await readFile(paths.key, 'utf8') };
}

/** A connection to a server on loopback, whatever certificate it shows. */
export async function connected(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** Returns the SHA-256 of the certificate that new connections get. */
export async function shownBy(port: number): Promise<string> {
  const socket = await connected(port);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}
