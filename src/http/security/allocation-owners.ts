/** Whose allocations and runner ids are: a token with the scope `launch` speaks for its own alone. Pure. */
import type { AllocationTokenRequest, Runner, TokenRecord } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';

/** The token of a launcher. */
export interface LaunchToken {
  id: string;
  /** The ids of its runners begin with it, and launchers with the same one share their allocations. */
  prefix: string | undefined;
}

/** A runner of the pool. */
export type PoolRunner = Pick<Runner, 'id' | 'allocation' | 'status'>;

/** Tokens of an older version do not name the token that made them: they belong to every launcher, as they did then. */
const isOwn = ({ made_by: maker, prefix }: TokenRecord, launcher: LaunchToken): boolean =>
  maker === undefined || maker === launcher.id || (prefix !== undefined && prefix === launcher.prefix);

/** @throws SimbatchError `forbidden` when another launch token made one of these allocations */
export function refuseForeignAllocations(
  tokens: readonly TokenRecord[],
  allocations: Iterable<string>,
  launcher: LaunchToken,
): void {
  const names = new Set(allocations);
  const foreign = tokens.find((it) => it.allocation !== undefined && names.has(it.allocation) && !isOwn(it, launcher));
  if (foreign === undefined) return;
  throw forbidden(
    `the allocation ${JSON.stringify(foreign.allocation)} was made by another launch token, ${String(foreign.made_by)}`,
    'use that token, or create the tokens of launchers that share allocations with the same --prefix',
  );
}

/** @throws SimbatchError `forbidden` for the id of a runner that is not in an allocation of this launcher */
export function refuseForeignRunners(
  requests: readonly AllocationTokenRequest[],
  tokens: readonly TokenRecord[],
  pool: readonly PoolRunner[],
  launcher: LaunchToken,
): void {
  const asked = new Map(requests.map((it) => [it.runner_id, it.allocation]));
  for (const id of asked.keys()) {
    if (launcher.prefix === undefined || id.startsWith(launcher.prefix)) continue;
    throw forbidden(
      `the token ${launcher.id} makes tokens for runner ids that begin with ${JSON.stringify(launcher.prefix)}, and ${JSON.stringify(id)} does not`,
      'name the queues of the launcher so, or create a token with another --prefix',
    );
  }
  for (const it of tokens) {
    const id = it.runner_id ?? '';
    if (asked.has(id) && (it.allocation === undefined || !isOwn(it, launcher))) {
      throw forbidden(`the runner id ${JSON.stringify(id)} belongs to the token ${it.id}`, OTHER_ID);
    }
  }
  const own = new Set(tokens.map((it) => it.allocation));
  for (const { id, allocation, status } of pool) {
    if (!asked.has(id)) continue;
    if (allocation === undefined) {
      throw forbidden(`runner ${JSON.stringify(id)} is registered without an allocation`, OTHER_ID);
    }
    if (allocation !== asked.get(id) || (status !== 'Offline' && !own.has(allocation))) {
      const name = JSON.stringify(allocation);
      throw forbidden(`runner ${JSON.stringify(id)} is registered in the allocation ${name}`, OTHER_ID);
    }
  }
}

/**
 * The token of an allocation registers no runner that is in another one or in none.
 * @param known the runner as it is registered; undefined for a new one.
 * @throws SimbatchError `forbidden`
 */
export function requireAllocation(
  allocation: string,
  { id, allocation: named }: { id: string; allocation?: string | undefined },
  known: PoolRunner | undefined,
): void {
  const other = named !== allocation ? named : known?.allocation;
  if (named === allocation && (known === undefined || other === allocation)) return;
  const where = other === undefined ? 'none' : JSON.stringify(other);
  throw forbidden(
    `the token is for a runner in the allocation ${JSON.stringify(allocation)}, and runner ${JSON.stringify(id)} is in ${where}`,
    'start it with this --allocation and an id of its own',
  );
}

const OTHER_ID = 'choose another id; a launcher makes tokens only for runners of its own allocations';

const forbidden = (what: string, remedy: string): SimbatchError => new SimbatchError('forbidden', `${what}; ${remedy}`);
