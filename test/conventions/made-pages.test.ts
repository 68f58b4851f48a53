/** The pages that are made from the program are current, and have every command. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMMAND_NAMES } from '../../src/cli/program.ts';
import { packageRoot } from '../../src/base/package.ts';
import { MADE_PAGES } from '../support/reference/pages.ts';

const page = (name: string): string => readFileSync(join(packageRoot, 'docs', name), 'utf8');

describe('conventions: the pages made from the program', () => {
  for (const [name, make] of Object.entries(MADE_PAGES)) {
    it(`has docs/${name} as \`npm run reference\` writes it`, async () => {
      expect(page(name)).to.equal(await make());
    });
  }

  it('has every command, with its options', () => {
    const text = page('cli-reference.md');
    expect(COMMAND_NAMES.filter((name) => !text.includes(`\n## simbatch ${name}\n`))).to.deep.equal([]);
    for (const some of ['`--runs-override <n>`', '`--max-runs <n>`', '### simbatch launcher check', '`SIMBATCH_PORT`'])
      expect(text.replaceAll('env: SIMBATCH_PORT', '`SIMBATCH_PORT`')).to.include(some);
  });
});
