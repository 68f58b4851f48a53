/**
 * The path prefix of a coordinator that a proxy serves below a path: removed from the addresses of requests, added to those in
 * answers. A request without it is taken too: the proxy may remove it, and probes ask the port itself.
 */
import type { RequestListener } from 'node:http';
import { SimbatchError } from '../../domain/errors.ts';

/**
 * Returns a prefix as it is used: `/simbatch`, or the empty text for the root.
 * @param taken the first segments of the coordinator's own addresses; a prefix must not begin with one of them
 * @throws SimbatchError `invalid-configuration`
 */
export function checkedBasePath(text: string, taken: ReadonlySet<string>): string {
  const path = text.replace(/\/+$/, '');
  if (path === '') return '';
  if (!/^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(path)) {
    const why = `the base path ${JSON.stringify(text)} is not a path; give one of letters, digits, - and _, e.g. /simbatch`;
    throw new SimbatchError('invalid-configuration', why);
  }
  const first = path.split('/', 2)[1]!;
  if (taken.has(first)) {
    const why = `the base path ${JSON.stringify(text)} begins like the address /${first} of the coordinator; choose another one, e.g. /simbatch`;
    throw new SimbatchError('invalid-configuration', why);
  }
  return path;
}

/** Returns the address of a request below the prefix: `/simbatch/jobs?x` is `/jobs?x`. Other addresses are unchanged. */
export function withoutBase(url: string, basePath: string): string {
  return basePath !== '' && url.startsWith(`${basePath}/`) ? url.slice(basePath.length) : url;
}

/** Returns a listener for requests with and without the prefix; the prefix alone is redirected to the dashboard. */
export function belowBase(basePath: string, answer: RequestListener): RequestListener {
  if (basePath === '') return answer;
  return (request, response) => {
    const url = request.url ?? '/';
    const [path, query] = url.split('?', 2);
    if (path === basePath) {
      response.writeHead(308, { location: `${basePath}/${query === undefined ? '' : `?${query}`}` }).end();
      return;
    }
    request.url = withoutBase(url, basePath);
    answer(request, response);
  };
}
