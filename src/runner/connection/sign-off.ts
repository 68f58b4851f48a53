/** The sign-off of a runner: the last request of its process, which hands back what it still holds. */
import type { Client } from '../../client/client.ts';
import type { Log } from '../log.ts';
import type { Spool } from '../spool.ts';
import { oneLine } from '../system-error.ts';
import type { Heartbeats } from './heartbeats.ts';

export interface SignOffOptions {
  client: Client;
  spool: Spool;
  log: Log;
  heartbeats: Heartbeats;
  runnerId: string;
  /** The random name of this process. */
  instance: string;
  /** Aborted when no request to the coordinator may follow. */
  stop: AbortSignal;
}

/** Signs off, unless outcomes are left that the next process under this id delivers. Never rejects. */
export async function signOff(options: SignOffOptions): Promise<void> {
  const { client, spool, log, heartbeats, runnerId, instance, stop } = options;
  if (await isAnyUndelivered(spool, log)) return;
  // A heartbeat or a registration that arrives after the sign-off would bring this runner back.
  await heartbeats.end();
  if (stop.aborted) return;
  try {
    await client.signOff(runnerId, { instance });
    log.info('signed off');
    await spool.signedOff();
  } catch (error) {
    log.warn(`the sign-off is incomplete: ${oneLine(error)}`);
  }
}

/** Whether the next process under this id has outcomes to deliver: then this one does not sign off. The log says so. */
async function isAnyUndelivered(spool: Spool, log: Log): Promise<boolean> {
  try {
    const { length } = await spool.undelivered();
    if (length > 0)
      log.warn(`${String(length)} outcomes could not be delivered; they are kept for the next start under this id`);
    return length > 0;
  } catch (error) {
    log.error(`the spool cannot be read, so outcomes may be undelivered; not signing off: ${oneLine(error)}`);
    return true;
  }
}
