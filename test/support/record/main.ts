/** `npm run record`: rewrites every recording of the current format. Review the changes by hand. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { SNAPSHOT_FORMAT } from '../../../src/coordinator/snapshots/format.ts';
import { recordAllocations } from './allocations.ts';
import { recordAll } from './record.ts';

for (const [name, files] of [
  [`format-${SNAPSHOT_FORMAT}`, await recordAll()],
  ['launcher-1', recordAllocations()],
] as const) {
  const folder = join(packageRoot, 'snapshots', name);
  mkdirSync(folder, { recursive: true });
  for (const it of readdirSync(folder)) if (it.endsWith('.json') && !files.has(it)) rmSync(join(folder, it));
  for (const [it, text] of files) writeFileSync(join(folder, it), text);
  process.stdout.write(`${files.size} recordings in ${folder}\n`);
}
