// The last steps of the build: makes the program executable, which the compiler does not, bundles the runner of the kit, and
// copies the files of the API page, so that an installed package needs no other package for them.
import { chmodSync, copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleRunner } from './bundle-runner.mjs';

chmodSync(new URL('../dist/bin/simbatch.js', import.meta.url), 0o755);

const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const docs = fileURLToPath(new URL('../dist/web/docs/', import.meta.url));
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE']) {
  copyFileSync(join(swagger, name), join(docs, name === 'LICENSE' ? 'swagger-ui-LICENSE.txt' : name));
}

await bundleRunner(fileURLToPath(new URL('../dist/kit/', import.meta.url)));
