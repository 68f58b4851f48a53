import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { expect } from 'chai';
import { build } from 'esbuild';
import * as fc from 'fast-check';
import type { NamedSchema } from '../../../src/contract/build.ts';
import { Compiler } from '../../../src/contract/validation/compiler.ts';
import { apiDescription } from '../../../src/http/openapi.ts';
import { routes } from '../../../src/http/routes/index.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { times } from '../../support/properties.ts';

/** Values that a stranger may send in place of any other. */
const STRANGE: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  0.5,
  2 ** 53,
  10n ** 18n,
  10n ** 19n,
  Infinity,
  '',
  'x',
  'é'.repeat(300),
  '2026-02-30T00:00:00Z',
  '0f8fad5b-d9cb-869f-a165-708600000000',
  [],
  [null, 1, 'x'],
  {},
  { unknown: { nested: [1e308, NaN] } },
  JSON.parse('{"__proto__": 1, "constructor": 2}'),
];

type Place = { parent: Record<string, unknown>; key: string };

/** Every place of a value, members and items alike. */
const placesOf = (value: unknown): Place[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.keys(value).flatMap((key) => {
        const parent = value as Record<string, unknown>;
        return [{ parent, key }, ...placesOf(parent[key])];
      });

/** The example with one to three places replaced, left out or given another member. */
const damaged = (example: object): fc.Arbitrary<unknown> =>
  fc
    .array(fc.record({ at: fc.nat(), how: fc.nat(5), value: fc.constantFrom(...STRANGE) }), { maxLength: 3 })
    .map((edits) => {
      const body = structuredClone(example);
      for (const { at, how, value } of edits) {
        const places = placesOf(body);
        const place = places[at % places.length];
        if (place === undefined) break;
        const { parent, key } = place;
        if (how === 0) delete parent[key];
        else if (how === 1 && !Array.isArray(parent)) parent['unknown'] = value;
        else parent[key] = value;
      }
      return body;
    });

type Validators = ReadonlyMap<string, ValidateFunction>;

describe('http/request/built-validators', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-validators-'));
  after(() => rmSync(folder, { recursive: true }));

  /** The module that the build puts into the program. */
  async function builtFor(which: string): Promise<Validators> {
    const { builtValidators } = (await import(pathToFileURL(join(packageRoot, 'bin/validators.mjs')).href)) as {
      builtValidators: (which: string) => Promise<string>;
    };
    const stdin = {
      contents: await builtValidators(which),
      resolveDir: join(packageRoot, 'dist/src/contract/validation'),
    };
    const outfile = join(folder, `${which}.cjs`);
    await build({ stdin, bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'error' });
    return (createRequire(import.meta.url)(outfile) as { validators: Validators }).validators;
  }

  for (const which of ['first', 'all'])
    it(`find in any body what a schema finds that is compiled at run time: ${which}`, async () => {
      const built = await builtFor(which);
      const compiler = new Compiler(which === 'all');
      const { paths } = apiDescription() as any;
      const found = { valid: 0, invalid: 0, several: 0 };
      const findings = (validate: ValidateFunction, value: unknown): readonly unknown[] =>
        validate(value) ? [] : (validate.errors ?? []).map(({ data: _, ...it }: ErrorObject) => it);
      const compare = (schema: NamedSchema, values: fc.Arbitrary<unknown>): void => {
        const name = schema.$id;
        const [ofBuild, ofRun] = [built.get(name), compiler.compiled(schema)];
        if (ofBuild === undefined) throw new Error(`${name} is not compiled by the build`);
        fc.assert(
          fc.property(values, (value) => {
            const expected = findings(ofRun, value);
            expect(findings(ofBuild, value), name).to.deep.equal(expected);
            found[expected.length === 0 ? 'valid' : 'invalid'] += 1;
            if (new Set(expected.map((it) => (it as ErrorObject).instancePath)).size > 1) found.several += 1;
          }),
          { numRuns: times(60) },
        );
      };
      for (const { method, path, body } of routes) {
        if (body === undefined) continue;
        const { example } = paths[path][method.toLowerCase()].requestBody.content['application/json'];
        compare(body.schema, damaged(example));
        if (body.items !== undefined) compare(body.items.schema, damaged(example[body.items.member][0]));
      }
      expect(found.valid, 'valid bodies').to.be.above(100);
      expect(found.invalid, 'invalid bodies').to.be.above(500);
      if (which === 'all') expect(found.several, 'bodies with several faults').to.be.above(100);
    });
});
