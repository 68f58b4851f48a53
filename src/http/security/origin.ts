/**
 * Protects the coordinator from requests that a foreign page sends through a browser: a foreign `Host` (DNS rebinding) is
 * always rejected, a change from a page of another origin too.
 */
import { isIP } from 'node:net';
import { SimbatchError } from '../../domain/errors.ts';

export interface OriginRules {
  /** Host names of the coordinator besides loopback, without port. */
  allowedHosts: readonly string[];
  /** Whether any IP address is accepted as Host: right where the coordinator listens beyond loopback. */
  anyAddress: boolean;
}

interface RequestHeaders {
  method: string;
  host: string | undefined;
  origin: string | undefined;
  fetchSite: string | undefined;
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Throws `foreign-origin` for a request that a foreign page may have caused. */
export function rejectCrossOrigin(request: RequestHeaders, rules: OriginRules): void {
  const { host = '' } = request;
  if (!isOwnHost(host, rules)) {
    throw new SimbatchError(
      'foreign-origin',
      `the request is refused: its Host header ${JSON.stringify(host.slice(0, 100))} is not a name of this coordinator; ` +
        'use a loopback address, or start the coordinator with --allowed-host and that name',
    );
  }
  if (READING.has(request.method)) return;
  const { origin, fetchSite } = request;
  const foreign =
    origin === undefined
      ? fetchSite === 'cross-site'
      : hostOfOrigin(origin) !== host.toLowerCase().replace(/:(80|443)$/, '');
  if (foreign) {
    throw new SimbatchError(
      'foreign-origin',
      `the request is refused: it changes something and was sent by a page of ${JSON.stringify((origin ?? 'another site').slice(0, 100))}; ` +
        'only pages of this coordinator may do that',
    );
  }
}

/** The latest Host header and its verdict: nearly all requests of a server have the same one. */
let latest: { host: string; rules: OriginRules; isOwn: boolean } | undefined;

function isOwnHost(host: string, rules: OriginRules): boolean {
  if (latest?.host !== host || latest.rules !== rules) latest = { host, rules, isOwn: isAllowedHost(host, rules) };
  return latest.isOwn;
}

/** Whether a Host header names loopback, an allowed host, or any address where all are accepted. */
export function isAllowedHost(host: string, rules: OriginRules): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  if (name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)) return true;
  if (rules.anyAddress && isIP(name) !== 0) return true;
  return rules.allowedHosts.some((allowed) => allowed.toLowerCase() === name);
}

/** Returns whether a name or address is a loopback one. */
export function isLoopbackAddress(name: string): boolean {
  return (isIP(name) === 4 && name.startsWith('127.')) || name === '::1';
}

/** Returns the name in a Host header, in lower case, without port and brackets. */
function hostName(host: string): string | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?$/.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** `http://host:port` -> `host:port`, without the default port; undefined for `null` and invalid origins. */
function hostOfOrigin(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
