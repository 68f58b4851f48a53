// A FUSE file system that takes every request and answers none but the first: /dev/fuse is descriptor 3. A process that
// looks at it waits in the kernel and takes no signal. Source: the kernel's include/uapi/linux/fuse.h.
import { readSync, writeSync } from 'node:fs';

const INIT = 26;
const request = Buffer.alloc(1 << 20);
for (;;) {
  readSync(3, request, 0, request.length, null);
  if (request.readUInt32LE(4) !== INIT) {
    process.stdout.write('hangs\n');
    continue;
  }
  const reply = Buffer.alloc(16 + 64);
  reply.writeUInt32LE(reply.length, 0);
  request.copy(reply, 8, 8, 16);
  reply.writeUInt32LE(7, 16);
  reply.writeUInt32LE(31, 20);
  reply.writeUInt32LE(4096, 36);
  writeSync(3, reply);
  process.stdout.write('mounted\n');
}
