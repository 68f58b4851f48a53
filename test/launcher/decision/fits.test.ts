/** How many runs with a request fit into free capacity. */
import { expect } from 'chai';
import { runsThatFit } from '../../../src/domain/counted/table.ts';

describe('launcher/decision/fits', () => {
  const table: [cpuMilli: number, memoryBytes: number, room: [slots: number, cpu: number, memory: number], number][] = [
    [1_000, 100, [8, 4_000, 1_000], 4],
    [1_000, 100, [8, 40_000, 300], 3],
    [1_000, 100, [2, 40_000, 1_000], 2],
    [1_000, 100, [2, 999, 1_000], 0],
    [0, 0, [3, 0, 0], 3],
    [0, 100, [3, 0, 200], 2],
    [1_000, 0, [3, 1_000, 0], 1],
    [1_000, 100, [-1, 4_000, 1_000], 0],
  ];
  for (const [cpuMilli, memoryBytes, [slots, cpu, memory], expected] of table) {
    it(`${String(expected)} of ${String(cpuMilli)} mCPU and ${String(memoryBytes)} B fit into ${[slots, cpu, memory].join(', ')}`, () => {
      const room = { slots, cpuMilli: cpu, memoryBytes: memory };
      expect(runsThatFit({ cpuMilli, memoryBytes }, room)).to.equal(expected);
    });
  }
});
