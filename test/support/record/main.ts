/** `npm run record`: rewrites every recording of the current format. Review the changes by hand. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { SNAPSHOT_FORMAT } from '../../../src/coordinator/snapshots/format.ts';
import { recordAll } from './record.ts';

const folder = join(packageRoot, 'snapshots', `format-${SNAPSHOT_FORMAT}`);
mkdirSync(folder, { recursive: true });
const files = await recordAll();
for (const name of readdirSync(folder)) if (name.endsWith('.json') && !files.has(name)) rmSync(join(folder, name));
for (const [name, text] of files) writeFileSync(join(folder, name), text);
process.stdout.write(`${files.size} recordings in ${folder}\n`);
