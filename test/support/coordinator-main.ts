/** The real coordinator as a program of its own, for tests that kill it: data directory and port are its arguments. */
import { once } from 'node:events';
import { startHttp } from '../../src/http/server.ts';
import { openCoordinator } from '../../src/coordinator/coordinator.ts';
import { openStore } from '../../src/coordinator/kernel/storage/open-store.ts';
import { systemClock } from '../../src/base/clock.ts';

const [, , directory = '', port = '0'] = process.argv;
const coordinator = await openCoordinator(await openStore(directory), systemClock);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const http = await startHttp({ coordinator, host: '127.0.0.1', port: Number(port), clock: systemClock, log });
process.stdout.write(`${String(http.port)}\n`);
await once(process, 'SIGTERM');
await http.close(500);
await coordinator.close();
