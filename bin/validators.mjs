// Compiles the schemas of request bodies, which a coordinator would compile at each start for a third of the time until it listens.
import standalone from 'ajv/dist/standalone/index.js';

/** Returns the module that takes the place of `src/contract/validation/built-validators.ts` in a bundle. Needs what tsc has built. */
export async function builtValidators() {
  const { Compiler } = await import('../dist/src/contract/validation/compiler.js');
  const { routes } = await import('../dist/src/http/routes/index.js');
  const bodies = routes.flatMap(({ body }) => (body === undefined ? [] : [body, ...(body.items ? [body.items] : [])]));
  const names = [...new Set(bodies.map(({ schema }) => schema.$id))];
  const compiler = new Compiler(false, true);
  for (const { schema } of bodies) compiler.compiled(schema);
  const code = standalone.default(compiler.ajv, Object.fromEntries(names.map((it) => [it, it])));
  const entries = names.map((it) => `[${JSON.stringify(it)}, ${it}]`);
  return [
    "import { KEYWORD_FUNCTIONS } from './ajv-keywords.js';",
    'const { int64, freeForm } = KEYWORD_FUNCTIONS;',
    code,
    `export const builtValidators = new Map([${entries.join(', ')}]);`,
  ].join('\n');
}
