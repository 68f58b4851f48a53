/** Findings about counted resources: none or too little of one anywhere, and pools of the coordinator that are used up. */
import { amountOf, has } from '../../counted/counts.ts';
import { resourcesAsked } from '../../counted/table.ts';
import { shortId } from '../../ids.ts';
import { fits, freeCapacityOf } from '../../scheduling.ts';
import type { Runner } from '../../../contract/types.ts';
import { activeJobs, listed, type Found, type Rule, type Situation } from '../finding.ts';

/** The finding for runners none of which may ever take a run because of its counted resources; undefined: one may. */
export function namedShortage(situation: Situation, runners: readonly Runner[]): Found | undefined {
  const { demand, sitePools = [] } = situation;
  const wanted = demand.resources;
  if (wanted === undefined) return keptForOthers(runners);
  for (const [name, amount] of Object.entries(wanted)) {
    const pool = sitePools.find((it) => it.name === name);
    if (pool !== undefined && amount > pool.total) {
      return {
        severity: 'blocked',
        message: `one run asks for ${amount} ${name}; the coordinator holds ${pool.total} for all runners`,
        remedy: `lower \`resources.${name}\`, or start the coordinator with \`--resource ${name}=${amount}\``,
      };
    }
    const most = Math.max(0, ...runners.map((it) => amountOf(it.capabilities.resources, name)));
    const isStated = runners.some((it) => has(it.capabilities.resources, name));
    if (amount <= most || (pool !== undefined && !isStated)) continue;
    return {
      severity: 'blocked',
      message: `one run asks for ${amount} ${name}; no runner has as many (${isStated ? `at most ${most}` : `none states any ${name}`})`,
      remedy: `lower \`resources.${name}\`, or start a runner with \`--resources ${name}=${amount}\``,
    };
  }
  if (
    runners.some(
      ({ capabilities }) => fits(demand, freeCapacityOf(capabilities, [])) && isStatedBy(situation, capabilities),
    )
  )
    return undefined;
  const asked = resourcesAsked(demand);
  return {
    severity: 'blocked',
    message: `one run asks for ${asked.map((it) => it.text(it.asked(demand))).join(', ')}; no runner has all of them`,
    remedy: `lower ${asked.map((it) => `\`${it.member}\``).join(' or ')}, or start a larger runner`,
  };
}

const isStatedBy = ({ demand, sitePools = [] }: Situation, { resources }: Runner['capabilities']): boolean =>
  Object.keys(demand.resources ?? {}).every((name) => has(resources, name) || sitePools.some((it) => it.name === name));

function keptForOthers(runners: readonly Runner[]): Found | undefined {
  const names = runners.map(({ capabilities }) => capabilities.only_with);
  if (names.length === 0 || names.some((it) => it === undefined)) return undefined;
  const all = [...new Set(names.flat())];
  return {
    severity: 'blocked',
    message: `all runners are kept for runs that ask for ${all.join(' or ')}, and these ask for none`,
    remedy: 'start a runner without `only_with`, or a queue of a launcher without GPUs',
  };
}

export const RESOURCE_USED: Rule = {
  code: 'resource-used',
  find(situation) {
    const { demand, sitePools = [] } = situation;
    const short = sitePools.find((it) => amountOf(demand.resources, it.name) > it.total - it.used);
    if (short === undefined) return undefined;
    const { name, used, total, batches } = short;
    const studies = batches.map(shortId);
    const by = studies.length === 0 ? '' : ` by ${studies.length === 1 ? 'study' : 'studies'} ${listed(studies)}`;
    return {
      severity: activeJobs(situation) > 0 ? 'fine' : 'waiting',
      message: `waits for ${name}: ${used} of ${total} in use${by}`,
      remedy: 'wait: runs start as others end',
    };
  },
};
