/** The name of the user that a trusted proxy has authenticated. The proxy's token has the scopes; the header has the name. */
import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { SimbatchError } from '../../domain/errors.ts';

export interface TrustedProxy {
  /** The name of the header, in lower case. */
  header: string;
  isTrusted: (address: string | undefined) => boolean;
}

/** The characters of a name; a comma would be a second header of the same name, which Node joins to the first. */
const NAME = /^[^\s,\p{Cc}](?:[^,\p{Cc}]{0,198}[^\s,\p{Cc}])?$/u;
const HEADER = /^[A-Za-z0-9-]{1,64}$/;

/** Headers with another meaning in a request. */
const TAKEN: ReadonlySet<string> = new Set(['authorization', 'host', 'origin', 'cookie', 'content-length']);

/** @throws SimbatchError `invalid-configuration` for a header or an address range that is none */
export function trustedProxy(header: string, ranges: readonly string[]): TrustedProxy {
  const name = header.toLowerCase();
  if (!HEADER.test(header) || TAKEN.has(name))
    throw wrong(`--trust-user-header ${JSON.stringify(header)} is not the name of a header for user names`);
  const trusted = new BlockList();
  for (const range of ranges) addRange(trusted, range);
  return {
    header: name,
    isTrusted: (address) => {
      const family = isIP(address ?? '');
      return family !== 0 && trusted.check(address!, family === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

function addRange(list: BlockList, range: string): void {
  const [, address = '', bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (family === 0 || prefix > most)
    throw wrong(`--trusted-proxy ${JSON.stringify(range)} is not an address or a range such as 10.0.0.0/8`);
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
}

const wrong = (what: string): SimbatchError => new SimbatchError('invalid-configuration', what);

/**
 * Returns the user that a proxy names; undefined without the header.
 * @throws SimbatchError `forbidden` for the header from an address that is not trusted, and for a name that is none
 */
export function proxyUser(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { header, isTrusted }: TrustedProxy,
): string | undefined {
  const given = headers[header];
  if (given === undefined) return undefined;
  if (!isTrusted(socket.remoteAddress)) {
    throw new SimbatchError(
      'forbidden',
      `the header ${header} is refused: ${socket.remoteAddress ?? 'its sender'} is not a trusted proxy; leave the header out, or start the coordinator with --trusted-proxy for this address`,
    );
  }
  if (typeof given === 'string' && NAME.test(given)) return given;
  throw new SimbatchError(
    'forbidden',
    `the header ${header} is refused: its value is not one name of 1 to 200 characters without a comma; let the proxy replace the header in place of adding to it`,
  );
}
