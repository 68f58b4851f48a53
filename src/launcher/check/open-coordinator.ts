/**
 * A coordinator without tokens takes studies from everybody who reaches it, and runners of Slurm and ssh execute their programs under the account of the launcher.
 * A launcher refuses that where others reach it, unless an option says to trust them.
 */
import type { CoordinatorPort } from '../loop/ports.ts';
import type { LauncherConfig } from '../settings.ts';
import { isLoopback } from './way-back.ts';

/** Engines whose runners have the account of the launcher. Pods have accounts of their own. */
const OWN_ACCOUNT: readonly string[] = ['slurm', 'ssh'];
const MOST_NAMED = 3;

export interface OpenCoordinatorParts {
  config: Pick<LauncherConfig, 'endpoint' | 'queues'>;
  /** Asks the coordinator for the demand without a token. @throws Error where it refuses, or does not answer */
  askWithoutToken: () => Promise<unknown>;
  otherUsers: () => Promise<string[]>;
}

/** Why the launcher must not start runners; undefined: the coordinator asks for tokens, or no other user reaches it. */
export async function openCoordinatorFault(parts: OpenCoordinatorParts): Promise<string | undefined> {
  const { endpoint, queues } = parts.config;
  if (!queues.some(({ engine }) => OWN_ACCOUNT.includes(engine))) return undefined;
  const isOpen = await parts.askWithoutToken().then(
    () => true,
    () => false,
  );
  if (!isOpen) return undefined;
  const users = isLoopback(endpoint) ? await parts.otherUsers() : undefined;
  if (users?.length === 0) return undefined;
  const who = users === undefined ? 'everybody who reaches it' : `other users of this machine (${named(users)})`;
  return `the coordinator at ${endpoint} asks for no token: ${who} could execute programs under the account of this launcher; create a token with \`simbatch token create --scope read,launch\` in its data directory and set it as SIMBATCH_TOKEN, or trust them with --trust-open-coordinator`;
}

const named = (names: readonly string[]): string =>
  names.length > MOST_NAMED
    ? `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`
    : names.join(', ');

/** The coordinator of a launcher that does not trust an open one: it may have been silent at the start, and lost its tokens since. */
export function refusingOpen(port: CoordinatorPort, fault: () => Promise<string | undefined>): CoordinatorPort {
  return {
    ...port,
    async makeTokens(requests) {
      const tokens = await port.makeTokens(requests);
      if ([...tokens.values()].every((it) => it !== undefined)) return tokens;
      const found = await fault();
      if (found !== undefined) throw new Error(found);
      return tokens;
    },
  };
}
