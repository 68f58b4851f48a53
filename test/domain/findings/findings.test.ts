/** The table of findings: codes that are unique and documented. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { RULES } from '../../../src/domain/findings/findings.ts';

describe('domain/findings', () => {
  it('has one rule for each code, in kebab-case', () => {
    const codes = RULES.map(({ code }) => code);
    expect(new Set(codes).size).to.equal(codes.length);
    for (const code of codes) expect(code).to.match(/^[a-z]+(-[a-z]+)*$/);
  });

  it('documents every code in docs/api.md, in the order of the table, and no other', () => {
    const docs = readFileSync(join(packageRoot, 'docs/api.md'), 'utf8');
    const start = docs.indexOf('### `GET /batches/{batch_id}/findings`');
    const section = docs.slice(start, docs.indexOf('\n### ', start + 1));
    const documented = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map((row) => row[1]);
    expect(documented).to.deep.equal(RULES.map(({ code }) => code));
  });
});
