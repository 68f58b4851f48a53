/** One scenario of a launcher from one seed: faults of coordinator, runners, engine and launcher; then everything ends. */
import type { JobRecord } from '../../../src/contract/types.ts';
import { SimClient } from '../clients.ts';
import { insist } from '../acknowledged.ts';
import { BUDGETS, checkBudgets, liftBudgets, OWNERS, submitAs } from '../owners.ts';
import { SimRunner } from '../runners.ts';
import { finish, Stage } from '../scenario.ts';
import { LauncherSite, type LauncherBug } from './site.ts';

const STEPS = 120;
/** The limit on steps of 5 s in which the launcher alone finishes the remaining work. */
const STEPS_TO_FINISH = 600;

/** Counters of the scenario, which show that the faults occur. */
export interface LauncherTally {
  crashes: number;
  rounds: number;
  submissions: number;
  faults: Readonly<Record<string, number>>;
  /** States that allocations have reached. */
  ends: readonly string[];
  /** Looks at which the core hours of an owner were used. */
  budgetsUsed: number;
  /** Why attempts have ended. */
  reasons: ReadonlySet<string>;
}

/** @throws Violation when a limit is exceeded, an allocation is submitted twice, a run is lost, or anything is left */
export async function playLauncher(seed: number, bug: LauncherBug = {}): Promise<LauncherTally> {
  const stage = new Stage(seed, {}, 'compiled');
  const { dice } = stage;
  const hasOwners = seed % 4 === 0;
  if (hasOwners) stage.budgets = BUDGETS;
  await stage.begin();
  const site = new LauncherSite(stage, bug);
  const client = new SimClient(stage, false);
  const others = dice.chance(0.3) ? [new SimRunner(stage, 'r0')] : [];
  stage.runnerIds.push(...others.map((it) => it.id));
  let budgetsUsed = 0;
  const look = (): void => {
    site.check();
    if (hasOwners) budgetsUsed += checkBudgets(stage);
  };
  for (let step = 0; step < STEPS; step += 1) {
    client.act();
    if (hasOwners && dice.chance(0.1)) submitAs(stage, dice.pick(OWNERS) ?? 'alice', step);
    for (const it of others) if (dice.chance(0.6)) it.act();
    site.act();
    operate(stage, site);
    if (dice.chance(0.01)) await stage.restart();
    else await stage.step(dice.chance(0.1) ? dice.int(20_000) : dice.int(4_000));
    look();
  }
  if (hasOwners) await liftBudgets(stage);
  await stage.calm();
  stage.acknowledged.pausedBatches.clear();
  for (const id of stage.unfinished()) {
    await stage.api.resumeBatch(id);
    await stage.api.releaseBatch(id);
  }
  site.calm();
  for (let step = 0; stage.unfinished().length > 0 || !site.isQuiet; step += 1) {
    insist(step < STEPS_TO_FINISH, () => `${stage.unfinished().length} studies are open: ${site.explanation}`);
    site.act();
    await stage.step(5_000);
    look();
  }
  await finish(stage);
  const { crashes, rounds, cluster, status } = site;
  const ends = status?.allocations.map((it) => it.value) ?? [];
  const reasons = reasonsOf(stage);
  return { crashes, rounds, submissions: cluster.submissions.size, faults: cluster.faults, ends, budgetsUsed, reasons };
}

/** Why attempts have ended. What the cluster takes away is never counted. */
function reasonsOf(stage: Stage): ReadonlySet<string> {
  const reasons = new Set<string>();
  for (const [key, record] of stage.disk) {
    if (!key.startsWith('!job!')) continue;
    const { attempts, attemptsOmitted, losses } = JSON.parse(record) as JobRecord;
    const lost = attempts.filter((it) => it.outcome === 'lost').length;
    insist(attemptsOmitted > 0 || losses === lost, () => `${key} counts ${losses} losses of ${lost} attempts`);
    for (const { n, outcome, reason, message = '' } of attempts) {
      if (reason !== undefined) reasons.add(reason);
      if (message.endsWith('its launcher reported it after the lease')) reasons.add('late report');
      const isCounted = outcome === 'lost' && /has ended: (?!its runner failed)/.test(message);
      insist(!isCounted, () => `attempt ${n} of ${key} counts as a loss: ${message}`);
    }
  }
  return reasons;
}

/** An operator drains and resumes runners of allocations, and stops, pauses and resumes queues. */
function operate(stage: Stage, site: LauncherSite): void {
  const { dice } = stage;
  const runners = site.cluster.live.flatMap((it) => (it.runner === undefined ? [] : [it.runner.id]));
  const id = dice.pick(runners);
  const roll = dice.next();
  const allowed = ['unavailable', 'unknown-runner'];
  if (roll < 0.03 && id !== undefined) stage.follow(`drains ${id}`, stage.api.drain(id, 'a new disk'), allowed, {});
  else if (roll < 0.04 && id !== undefined) stage.follow(`resumes ${id}`, stage.api.resume(id), allowed, {});
  else if (roll < 0.05) site.send({ type: 'stop', immediately: dice.chance(0.5), reason: 'by an operator' });
  else if (roll < 0.06) site.send({ type: 'pause', reason: 'by an operator' });
  else if (roll < 0.12) site.send({ type: 'resume' });
}
