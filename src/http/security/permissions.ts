/** Permissions: the one decision about the scopes of a credential and the owner of a study, for every row of the table of routes. Pure. */
import type { TokenScope } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Scope, StudyChange } from '../route.ts';

/** A row of the table: the scope of an action, and how it changes a study; absent: the owner does not matter. */
export interface Permission {
  scope: Scope;
  changes?: StudyChange;
}

/** Returns the scope that a client lacks, or undefined when it may. `isOwn`: the study is its own. */
export function missingScope(
  { scope, changes }: Permission,
  scopes: readonly TokenScope[],
  isOwn: boolean,
): TokenScope | undefined {
  if (scope === 'open') return undefined;
  if (changes === 'steers' && scopes.includes('operate')) return undefined;
  if (!scopes.includes(scope)) return scope;
  return changes === undefined || isOwn || scopes.includes('operate') ? undefined : 'operate';
}

/** A client with a credential: its name, and the scopes that it has. */
export interface Client {
  actor: string;
  scopes: readonly TokenScope[];
}

/**
 * A study without an owner belongs to no client: its submission is older than owners, or came without a credential.
 * @throws SimbatchError `forbidden`, naming the owner, the client and the scope that it lacks
 */
export function requireOwn(
  action: Permission & { operationId: string },
  { actor, scopes }: Client,
  { batchId, owner }: { batchId: string; owner: string | undefined },
): void {
  const missing = missingScope(action, scopes, owner === actor);
  if (missing === undefined) return;
  const whose =
    owner === undefined
      ? 'has no owner, since it was submitted without a token or to an older version'
      : `belongs to ${JSON.stringify(owner)}`;
  throw new SimbatchError(
    'forbidden',
    `${action.operationId} is refused: study ${batchId} ${whose}, and this request comes from ${JSON.stringify(actor)} without the scope \`${missing}\`; ask its owner, or use a token with that scope`,
  );
}
