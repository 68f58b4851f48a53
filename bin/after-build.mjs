// The last step of the build: copies the files of the API page, so that an installed package needs no other package for them.
import { copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const docs = fileURLToPath(new URL('../dist/web/docs/', import.meta.url));
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE']) {
  copyFileSync(join(swagger, name), join(docs, name === 'LICENSE' ? 'swagger-ui-LICENSE.txt' : name));
}
