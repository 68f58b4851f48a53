/** Whether runners of the queues will find the coordinator, and the launcher may do there what it must. Nothing stays. */
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../client/transport.ts';
import type { CheckResult } from '../engine.ts';
import type { CoordinatorPort } from '../loop/ports.ts';
import { newId } from '../loop/submit.ts';
import { allocationName, runnerIdOf } from '../request.ts';
import type { LauncherConfig, QueueConfig } from '../settings.ts';

/** Engines whose runners start on other machines than the launcher. Hosts of ssh may have a tunnel. */
const ELSEWHERE: Readonly<Record<string, string>> = { slurm: 'the node of its job', kubernetes: 'its pod' };
/** The time for which a token of the check is valid if it cannot be revoked. */
const TOKEN_SECS = 60;

export const isLoopback = (address: string): boolean => {
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
};

/** A fault for each queue whose runners would look for the coordinator on their own machine. Pure. */
export function loopbackFaults({
  runnerEndpoint,
  queues,
}: Pick<LauncherConfig, 'runnerEndpoint' | 'queues'>): CheckResult[] {
  if (!isLoopback(runnerEndpoint)) return [];
  return queues.flatMap(({ name, engine }) => {
    const place = ELSEWHERE[engine];
    if (place === undefined) return [];
    const why = `${runnerEndpoint} is an address of each machine itself, and a runner would look for the coordinator on ${place}`;
    const remedy = 'set `runner_endpoint`, or `endpoint`, to an address of the coordinator that is reached from there';
    return [{ queue: name, isFault: true, message: `runners cannot reach the coordinator: ${why}; ${remedy}` }];
  });
}

type Port = Pick<CoordinatorPort, 'demand' | 'runners' | 'makeTokens' | 'revokeTokens'>;

export interface WayBackParts {
  config: Pick<LauncherConfig, 'endpoint' | 'queues'>;
  coordinator: Port;
  clock: Pick<Clock, 'random'>;
}

/** The name under which results about the coordinator are shown, in place of a queue. */
const SUBJECT = 'coordinator';

/** Asks the coordinator what the launcher asks it in a round, and makes a token for a runner of each queue, which is revoked at once. */
export async function checkCoordinator({ config, coordinator, clock }: WayBackParts): Promise<CheckResult[]> {
  const { endpoint, queues } = config;
  const results: CheckResult[] = [];
  const say = (queue: string, isFault: boolean, message: string): void =>
    void results.push({ queue, isFault, message });
  try {
    await coordinator.demand();
    await coordinator.runners();
    say(SUBJECT, false, `${endpoint} answers, and the launcher may ask which runs wait`);
  } catch (error) {
    say(SUBJECT, true, faultOf(`the coordinator at ${endpoint} cannot be asked which runs wait`, error));
    // Without an answer there is none to the other questions either.
    if (!(error instanceof ApiError)) return results;
  }
  for (const queue of queues) {
    const fault = await tokenFault(queue, { coordinator, clock });
    say(queue.name, fault !== undefined, fault ?? 'the launcher may register runners of this queue');
  }
  return results;
}

async function tokenFault(
  queue: Pick<QueueConfig, 'engine' | 'name'>,
  { coordinator, clock }: Pick<WayBackParts, 'coordinator' | 'clock'>,
): Promise<string | undefined> {
  const id = newId(clock);
  const allocation = allocationName(queue, id);
  try {
    await coordinator.makeTokens([{ allocation, runnerId: runnerIdOf(queue.name, id), lifetimeSecs: TOKEN_SECS }]);
    await coordinator.revokeTokens([allocation]);
    return undefined;
  } catch (error) {
    return faultOf('runners of this queue cannot be registered', error);
  }
}

const NEW_TOKEN =
  'make one with `simbatch token create --scope read,launch` in the data directory of the coordinator, and set it as SIMBATCH_TOKEN';

function faultOf(what: string, error: unknown): string {
  const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
  // Other refusals have a remedy of their own.
  const needsToken = error instanceof ApiError && (error.status === 401 || why.startsWith('this needs the scope'));
  // The remedy of the coordinator does not say how.
  return needsToken ? `${what}: ${why.replace(/; [^;]*$/, '')}; ${NEW_TOKEN}` : `${what}: ${why}`;
}
