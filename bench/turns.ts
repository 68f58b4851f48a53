/** Turns per second over HTTP (each changes one actor and is answered when that is on disk) at 1, 8 and 64 at a time. */
import { withCoordinator } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { registration } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const CONCURRENT = [1, 8, 64];
const ROUNDS = 3;
const ROUND_MS = 2_000;

async function turnsPerSec(wires: readonly Wire[]): Promise<number> {
  const since = performance.now();
  let turns = 0;
  await Promise.all(
    wires.map(async (wire, at) => {
      const body = JSON.stringify({ instance: `instance-of-t${at}`, holding: [] });
      while (performance.now() - since < ROUND_MS) {
        const { status } = await wire.request('POST', `/runners/t${at}/heartbeat`, body);
        if (status !== 200) throw new Error(`a heartbeat was answered ${status}`);
        turns += 1;
      }
    }),
  );
  return turns / ((performance.now() - since) / 1000);
}

export async function run(): Promise<Measure[]> {
  return withCoordinator(async ({ port }) => {
    const wires = await Promise.all(Array.from({ length: Math.max(...CONCURRENT) }, () => Wire.open(port)));
    await Promise.all(wires.map((wire, at) => wire.post('/runners', registration(`t${at}`, 1))));
    await turnsPerSec(wires);
    const lines: Measure[] = [];
    for (const concurrent of CONCURRENT) {
      const samples: number[] = [];
      for (let at = 0; at < ROUNDS; at += 1) samples.push(await turnsPerSec(wires.slice(0, concurrent)));
      lines.push(measure(`turns, ${concurrent} at a time (heartbeats)`, '/s', samples));
    }
    for (const wire of wires) wire.close();
    return lines;
  });
}
