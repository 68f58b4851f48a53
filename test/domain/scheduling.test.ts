import { expect } from 'chai';
import * as fc from 'fast-check';
import { fits, minus, freeCapacityOf, supports } from '../../src/domain/scheduling.ts';
import type { RunnerCapabilities } from '../../src/contract/types.ts';
import { RankedSet } from '../../src/coordinator/scheduling/ranking/ranked-set.ts';

const GB = 1024 ** 3;
const runner = (changes: Partial<RunnerCapabilities> = {}): RunnerCapabilities => ({
  max_concurrent_jobs: 4,
  cpu_cores: 2,
  memory_gb: 1,
  gpu_available: false,
  supported_simulation_types: [],
  ...changes,
});

describe('domain/scheduling', () => {
  it('matches simulations by name, by star, or by an empty list', () => {
    const table: [types: string[], name: string, boolean][] = [
      [[], 'rocket', true],
      [['*'], 'rocket', true],
      [['rocket'], 'rocket', true],
      [['probe', 'rocket'], 'rocket', true],
      [['Rocket'], 'rocket', false],
      [['rock'], 'rocket', false],
      [[''], 'rocket', false],
      [['probe'], '*', false],
    ];
    for (const [types, name, expected] of table) {
      expect(supports(runner({ supported_simulation_types: types }), name), `${types.join()} ${name}`).to.equal(
        expected,
      );
    }
  });

  it('compares requests to the exact millicore and byte, and treats undeclared capacity as unlimited', () => {
    const table: [string, Partial<RunnerCapabilities>, cpuMilli: number, memoryBytes: number, boolean][] = [
      ['exactly', {}, 2000, GB, true],
      ['a millicore too many', {}, 2001, 0, false],
      ['a byte too many', {}, 0, GB + 1, false],
      ['undeclared', { cpu_cores: 0, memory_gb: 0 }, 1e9, 1e15, true],
      ['half a GB', { memory_gb: 0.5 }, 0, GB / 2, true],
      ['no slot', { max_concurrent_jobs: 0 }, 0, 0, false],
    ];
    for (const [name, changes, cpuMilli, memoryBytes, expected] of table) {
      expect(fits({ cpuMilli, memoryBytes }, freeCapacityOf(runner(changes), [])), name).to.equal(expected);
    }
  });

  it('subtracts lost slots, and offers none when more are lost than there are', () => {
    const table: [slotsLost: number | undefined, held: number, slots: number][] = [
      [undefined, 0, 4],
      [0, 1, 3],
      [1, 0, 3],
      [3, 1, 0],
      [4, 0, 0],
      [9, 0, 0],
    ];
    for (const [slotsLost, held, slots] of table) {
      const jobs = Array.from({ length: held }, () => ({ cpuMilli: 0, memoryBytes: 0 }));
      expect(freeCapacityOf(runner(), jobs, slotsLost).slots, `${slotsLost} lost, ${held} held`).to.equal(slots);
    }
  });

  it('subtracts jobs one by one or together with the same result, and never exceeds the slots', () => {
    const demand = fc.record({ cpuMilli: fc.nat(1500), memoryBytes: fc.nat(GB) });
    fc.assert(
      fc.property(fc.array(demand, { maxLength: 8 }), (demands) => {
        let room = freeCapacityOf(runner(), []);
        const held: typeof demands = [];
        for (const it of demands) {
          if (!fits(it, room)) continue;
          room = minus(room, it);
          held.push(it);
          expect(room).to.deep.equal(freeCapacityOf(runner(), held));
        }
        expect(held.length).to.be.at.most(4);
        expect(held.reduce((sum, it) => sum + it.cpuMilli, 0)).to.be.at.most(2000);
      }),
    );
  });

  it('ranks as a sort does after any insertions, moves and removals', () => {
    const step = fc.record({ item: fc.nat(9), rank: fc.nat(4), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const items = Array.from({ length: 10 }, (_, id) => ({ id, group: `g${id % 3}` }));
        const ranking = new RankedSet<(typeof items)[number]>();
        const model = new Map<number, number>();
        const order: number[] = [];
        for (const { item, rank, remove } of steps) {
          const it = items[item];
          if (it === undefined) continue;
          if (remove) {
            ranking.remove(it);
            model.delete(item);
          } else {
            ranking.put(it, it.group, rank);
            model.set(item, rank);
            if (!order.includes(item)) order.push(item);
          }
          const sorted = [...model].toSorted((a, b) => a[1] - b[1] || order.indexOf(a[0]) - order.indexOf(b[0]));
          const expected = sorted.map(([id]) => id);
          expect(Array.from(ranking.all(), (ranked) => ranked.item.id)).to.deep.equal(expected);
          expect(Array.from(ranking.among(['g0', 'g2', 'g0', 'none']), (ranked) => ranked.item.id)).to.deep.equal(
            expected.filter((id) => id % 3 !== 1),
          );
          expect(ranking.size).to.equal(model.size);
        }
      }),
    );
  });
});
