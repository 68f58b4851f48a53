// The last step of the build: makes the program executable, which the compiler does not.
import { chmodSync } from 'node:fs';

chmodSync(new URL('../dist/bin/simbatch.js', import.meta.url), 0o755);
