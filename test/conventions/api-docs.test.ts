import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_TITLES, type ErrorCode } from '../../src/domain/errors.ts';
import { STATUS_OF } from '../../src/http/response/problem.ts';
import { routes } from '../../src/http/routes/index.ts';
import { packageRoot } from '../../src/base/package.ts';

const docs = readFileSync(join(packageRoot, 'docs/api.md'), 'utf8');

/** Heading -> its section. */
const sections = new Map(
  docs
    .split(/^#{2,3} /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.slice(section.indexOf('\n'))] as const),
);

describe('docs/api.md', () => {
  for (const route of routes) {
    it(`documents ${route.method} ${route.path} with an example and its parameters`, () => {
      const section = sections.get(`\`${route.method} ${route.path}\``) ?? '';
      expect(section).to.match(/```sh[^`]*curl /);
      for (const parameter of Object.keys(route.query ?? {})) expect(section).to.contain(parameter);
    });
  }

  for (const code of Object.keys(ERROR_TITLES) as ErrorCode[]) {
    it(`documents ${code} with its cause and its remedy`, () => {
      const section = sections.get(`\`${code}\``) ?? '';
      expect(section).to.contain('*Remedy:*');
      if (STATUS_OF[code] !== 500 || code === 'internal')
        expect(section.trim()).to.match(new RegExp(`^${STATUS_OF[code]}\\. `));
    });
  }

  it('documents only existing routes and codes', () => {
    const documented = [...sections.keys()]
      .filter((heading) => heading.startsWith('`'))
      .map((heading) => heading.slice(1, -1));
    const known = new Set([...routes.map(({ method, path }) => `${method} ${path}`), ...Object.keys(ERROR_TITLES)]);
    expect(documented.filter((heading) => !known.has(heading))).to.deep.equal([]);
  });
});
