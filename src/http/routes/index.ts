/**
 * All endpoints. The router, validation, access, the API description and the tests of the documentation are derived from
 * them: an endpoint is one object in a file of this folder and its section in docs/api.md.
 */
import { analysisRoutes } from './analysis.ts';
import { filesRoutes } from './files.ts';
import { growthRoutes } from './growth.ts';
import { launchingRoutes } from './launching.ts';
import { poolRoutes } from './pool.ts';
import { protocolRoutes } from './protocol.ts';
import { roundRoutes } from './rounds.ts';
import type { Route } from '../route.ts';
import { runsRoutes } from './runs.ts';
import { serviceRoutes } from './service.ts';
import { studiesRoutes } from './studies.ts';

export const routes: readonly Route[] = [
  ...studiesRoutes,
  ...growthRoutes,
  ...roundRoutes,
  ...analysisRoutes,
  ...runsRoutes,
  ...filesRoutes,
  ...poolRoutes,
  ...launchingRoutes,
  ...protocolRoutes,
  ...serviceRoutes,
];

/** The first segments of all addresses of the coordinator: no path prefix begins with one. */
export const takenSegments: ReadonlySet<string> = new Set([
  ...routes.map(({ path }) => path.split('/', 2)[1]!),
  'assets',
  'docs',
  'icon.svg',
  'index.html',
  'live',
  'inspect',
]);
