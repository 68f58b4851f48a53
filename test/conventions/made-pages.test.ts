/** The pages that are made from the program are current. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/base/package.ts';
import { MADE_PAGES } from '../support/reference/pages.ts';

const page = (name: string): string => readFileSync(join(packageRoot, 'docs', name), 'utf8');

describe('conventions: the pages made from the program', () => {
  for (const [name, make] of Object.entries(MADE_PAGES)) {
    it(`has docs/${name} as \`npm run reference\` writes it`, async () => {
      expect(page(name)).to.equal(await make());
    });
  }
});
