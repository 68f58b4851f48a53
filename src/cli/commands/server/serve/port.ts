/** The port of `simbatch serve`: its options, its certificate and the prefix of its addresses. */
import { Option, type Command } from 'commander';
import type { DoorOptions } from '../../../../http/door.ts';
import { checkedBasePath } from '../../../../http/request/base-path.ts';
import { takenSegments } from '../../../../http/routes/index.ts';
import { EXIT } from '../../../exit-codes.ts';
import { Failure } from '../../../failure.ts';
import { integerBetween } from '../../../options.ts';
import { CertificateFiles } from './certificate-files.ts';

export interface PortFlags {
  host: string;
  port: number;
  basePath?: string;
  tlsCert?: string;
  tlsKey?: string;
}

const PORTS = `
Ports: one, that of --port (7070), for everything: the API, the dashboard, its
live feed (WebSockets at /live and /inspect), /metrics, and the runners and
launchers, which connect to it. The coordinator itself connects to the object
store and to webhooks alone. /healthz is answered from the start, /readyz once
the data have been read.`;

/** Adds the options of the port, and to the help which ports there are. */
export const withPort = (command: Command): Command =>
  command
    .addOption(new Option('--host <address>', 'where to listen').env('SVC_HOST').default('127.0.0.1'))
    .addOption(
      new Option('--port <n>', 'where to listen; 0 takes any free port')
        .env('SVC_PORT')
        .argParser(integerBetween(0, 65_535))
        .default(7070),
    )
    .addOption(
      new Option('--base-path <path>', 'prefix of all addresses, for a proxy with a path, e.g. /simbatch').env(
        'SVC_BASE_PATH',
      ),
    )
    .option('--tls-cert <file>', 'certificate (chain) in PEM: speak HTTPS; needs --tls-key')
    .option('--tls-key <file>', 'its private key in PEM, without a passphrase')
    .addHelpText('after', PORTS);

/** The port that the options name. @throws SimbatchError `invalid-configuration` for an unusable prefix */
export const portOf = (
  { host, port, basePath = '' }: PortFlags,
  certificate: CertificateFiles | undefined,
): DoorOptions => ({
  host,
  port,
  basePath: checkedBasePath(basePath, takenSegments),
  ...(certificate === undefined ? {} : { tls: certificate.inUse }),
});

/** The certificate that the options name; undefined without one. */
export function certificateOf({ tlsCert, tlsKey }: PortFlags): CertificateFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Failure(EXIT.usage, '--tls-cert and --tls-key belong together; one of them is missing');
  }
  return new CertificateFiles({ cert: tlsCert, key: tlsKey });
}
