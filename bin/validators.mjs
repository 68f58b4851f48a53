// Compiles the schemas of request bodies, which a coordinator would compile at each start for a third of the time until it listens, and
// at the first body with faults.
import standalone from 'ajv/dist/standalone/index.js';

/**
 * Returns the module that takes the place of `src/contract/validation/built-first.ts` in a bundle, or of `built-all.ts`. Needs what tsc
 * has built.
 * @param {'first' | 'all'} which
 */
export async function builtValidators(which) {
  const { Compiler } = await import('../dist/src/contract/validation/compiler.js');
  const { KEYWORD_FUNCTIONS } = await import('../dist/src/contract/validation/ajv-keywords.js');
  const { routes } = await import('../dist/src/http/routes/index.js');
  const bodies = routes.flatMap(({ body }) => (body === undefined ? [] : [body, ...(body.items ? [body.items] : [])]));
  const names = [...new Set(bodies.map(({ schema }) => schema.$id))];
  const compiler = new Compiler(which === 'all', true);
  for (const { schema } of bodies) compiler.compiled(schema);
  const code = standalone.default(compiler.ajv, Object.fromEntries(names.map((it) => [it, it])));
  const entries = names.map((it) => `[${JSON.stringify(it)}, ${it}]`);
  return [
    "import { KEYWORD_FUNCTIONS } from './ajv-keywords.js';",
    `const { ${Object.keys(KEYWORD_FUNCTIONS).join(', ')} } = KEYWORD_FUNCTIONS;`,
    code,
    `export const validators = new Map([${entries.join(', ')}]);`,
  ].join('\n');
}
