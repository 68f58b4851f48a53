/**
 * Two owners under seeded faults, with kills of runners and coordinator and a pool of resources: each free slot goes to the owner with fewer runs, only an owner
 * or an operator changes a study, and core hours are those of the attempts on the disk, whatever crashes. Injected bugs are found.
 */
import { expect } from 'chai';
import { activeRuns } from '../../machines/batch.ts';
import type { DayUse } from '../../src/contract/types.ts';
import { OwnerRanking, type Place } from '../../src/coordinator/scheduling/ranking/owner-ranking.ts';
import { Scheduler, type RunAssignment } from '../../src/coordinator/scheduling/scheduler.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { requireOwn } from '../../src/http/security/permissions.ts';
import { insist } from './acknowledged.ts';
import { itFinds, replaced, type SoughtBug } from './finds.ts';
import {
  BUDGETS,
  CANCEL,
  checkBudgets,
  checkCancellations,
  liftBudgets,
  OWNERS,
  submitAs,
  type Owner,
} from './owners.ts';
import { SimRunner } from './runners.ts';
import { finish, Stage, type Bug } from './scenario.ts';

const SEEDS = Number(process.env.SIM_SEEDS ?? 30);

/** Wraps the plans of all schedulers: of two owners with runs that every runner may take, the one with fewer active runs is served. */
function watchPlans(faults: string[], isUsed: (owner: string | undefined) => boolean): () => void {
  const { plan } = Scheduler.prototype as {
    plan: (this: Scheduler, ...args: Parameters<Scheduler['plan']>) => RunAssignment[];
  };
  return replaced(Scheduler.prototype, 'plan', function (this: Scheduler, ...args: Parameters<Scheduler['plan']>) {
    const active = new Map<string | undefined, number>();
    for (const it of this.openBatches()) active.set(it.owner, (active.get(it.owner) ?? 0) + activeRuns(it));
    const waiting = new Map<string | undefined, number>();
    for (const { context: c, runs } of this.waiting())
      if (c.resources === undefined && c.parent === undefined && c.cpuMilli === 0)
        waiting.set(c.owner, (waiting.get(c.owner) ?? 0) + Math.max(0, runs - c.requeued));
    const owners = new Map([...this.openBatches()].map((it) => [it.batchId, it.owner]));
    const assignments = plan.apply(this, args);
    if ([...(args[2]?.except ?? [])].length > 0) return assignments;
    for (const { jobId } of assignments) {
      const owner = owners.get(batchIdOf(jobId));
      if (isUsed(owner)) faults.push(`${owner} has used its budget, and a run of ${batchIdOf(jobId)} was assigned`);
      const [own, poorer] = [
        active.get(owner) ?? 0,
        [...waiting].find(([it, runs]) => it !== owner && runs > 0 && (active.get(it) ?? 0) < (active.get(owner) ?? 0)),
      ];
      if (poorer !== undefined)
        faults.push(
          `${owner} with ${own} active runs is served before ${poorer[0]} with ${active.get(poorer[0]) ?? 0}`,
        );
      active.set(owner, own + 1);
      waiting.set(owner, (waiting.get(owner) ?? 0) - 1);
    }
    return assignments;
  });
}

interface Tally {
  used: number;
  refused: number;
  crashes: number;
}

async function play(seed: number, bug: Bug = {}): Promise<Tally> {
  const faults: string[] = [];
  const stage = new Stage(seed, bug, 'compiled');
  const restore = watchPlans(faults, (owner) => stage.parts.budgets?.isUsed(owner) === true);
  try {
    return await playWatched(stage, faults);
  } finally {
    restore();
  }
}

async function playWatched(stage: Stage, faults: readonly string[]): Promise<Tally> {
  const { dice } = stage;
  if (stage.seed % 2 === 0) stage.budgets = BUDGETS;
  await stage.begin();
  const runners = [0, 1].map((at) => new SimRunner(stage, `r${at}`));
  const tally: Tally = { used: 0, refused: 0, crashes: 0 };
  const look = (): void => {
    insist(faults.length === 0, () => faults[0] ?? '');
    checkCancellations(stage.disk);
    if (stage.budgets !== undefined) tally.used += checkBudgets(stage);
  };
  for (let step = 0; step < 80; step += 1) {
    if (dice.chance(0.2)) submitAs(stage, dice.pick(OWNERS) ?? 'alice', step);
    if (dice.chance(0.1)) cancel(stage, dice.pick(OWNERS) ?? 'alice', tally);
    for (const runner of runners) if (dice.chance(0.6)) runner.act();
    if (dice.chance(0.05)) await stage.restart();
    else await stage.step(dice.chance(0.1) ? dice.int(20_000) : dice.int(4_000));
    look();
  }
  tally.crashes = stage.tally.crashes;
  if (stage.budgets !== undefined) await liftBudgets(stage);
  await finish(stage);
  look();
  return tally;
}

/** A client cancels any open study, as the route does it: with the scope `submit`, and at times with `operate`. */
function cancel(stage: Stage, actor: Owner, tally: Tally): void {
  const { dice, api } = stage;
  const batchId = dice.pick(stage.unfinished());
  if (batchId === undefined) return;
  const asked = async (): Promise<unknown> => {
    const { owner } = await api.batchOwner(batchId);
    requireOwn(CANCEL, { actor, scopes: ['submit'] }, { batchId, owner });
    return api.as(actor).cancelBatch(batchId);
  };
  stage.follow(`${actor} cancels`, asked(), ['illegal-transition', 'unavailable', 'forbidden'], {
    onRefusal: (code) => {
      if (code === 'forbidden') tally.refused += 1;
    },
  });
}

/** The place of a batch as if owners did not exist. */
const withoutOwner = (name: 'put' | 'withdraw' | 'remove'): (() => void) => {
  const original = OwnerRanking.prototype[name] as (item: object, place: Place, active: number) => void;
  return replaced(OwnerRanking.prototype, name, function (this: object, item: object, place: Place, active: number) {
    original.call(this, item, { ...place, owner: undefined }, active);
  });
};

const BUGS: (SoughtBug & { bug?: Bug })[] = [
  {
    name: 'slots are shared by study and not by owner',
    patch: () => {
      const restore = (['put', 'withdraw', 'remove'] as const).map(withoutOwner);
      return () => restore.forEach((it) => it());
    },
    says: /is served before/,
  },
  {
    name: 'every study is taken for that of the client',
    bug: { api: () => ({ batchOwner: () => Promise.resolve({ owner: 'alice' }) }) },
    says: /of bob was cancelled by alice/,
  },
  {
    name: 'the hours of an attempt are written after its end',
    bug: { written: (key, value) => (key.startsWith('!budget!') && value !== null ? halved(value) : value) },
    says: /the record of .* has .* core-milliseconds, and the attempts on the disk/,
  },
  {
    name: 'an owner whose hours are used is served on',
    patch: () => replaced(Scheduler.prototype, 'reviewOwner', () => {}),
    says: /has used its budget, and a run of .* was assigned/,
  },
];

const halved = (record: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(record) as DayUse).map(([day, ms]) => [day, ms / 2])));

describe('sim/owners', () => {
  it('share slots, keep their studies to themselves, and use no more than their hours, whatever crashes', async function () {
    this.timeout(0);
    const all: Tally = { used: 0, refused: 0, crashes: 0 };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { used, refused, crashes } = await play(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
      all.used += used;
      all.refused += refused;
      all.crashes += crashes;
    }
    // The faults really occur.
    expect(all.used).to.be.above(SEEDS);
    expect(all.refused).to.be.above(SEEDS / 4);
    expect(all.crashes).to.be.above(SEEDS);
  });

  for (const it of BUGS) itFinds(it, 60, (seed) => play(seed, it.bug));
});
