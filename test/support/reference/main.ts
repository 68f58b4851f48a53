/** `npm run reference`: writes the pages of docs/ that are made from the program. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { MADE_PAGES } from './pages.ts';

await Promise.all(
  Object.entries(MADE_PAGES).map(async ([name, make]) => writeFileSync(join(packageRoot, 'docs', name), await make())),
);
