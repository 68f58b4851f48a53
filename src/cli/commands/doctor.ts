/** `simbatch doctor`: checks what a study needs, from this machine to the runners, and names the remedy of each fault. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { remoteStoreWarning } from '../../base/file-systems/mounts.ts';
import { packageVersion } from '../../base/package.ts';
import type { Client } from '../../client/client.ts';
import { ApiError } from '../../client/transport.ts';
import type { NotificationList, Runner } from '../../contract/types.ts';
import { EXIT } from '../exit-codes.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import { clientCommand, connect, type ClientFlags } from '../options.ts';
import { paint, type Tone } from '../terminal/colour.ts';
import { clockDifference, formatTimestamp, plural, printable, shortId } from '../terminal/format.ts';
import { writeJson, writeText } from '../terminal/output.ts';

type State = 'ok' | 'warning' | 'fault';

/** One thing that was checked. */
interface Check {
  check: string;
  state: State;
  message: string;
}

const ok = (check: string, message: string): Check => ({ check, state: 'ok', message });
const warning = (check: string, message: string): Check => ({ check, state: 'warning', message });
const fault = (check: string, message: string): Check => ({ check, state: 'fault', message });

const TONES: Record<State, Tone> = { ok: 'good', warning: 'warning', fault: 'bad' };

export function doctorCommand(): Command {
  return clientCommand('doctor', 'check this machine, the coordinator and its runners; exit code 1 for a fault').action(
    async (flags: ClientFlags) => {
      const checks = [await python(), await disk(), ...dataDirectory(), ...(await coordinator(flags))];
      if (checks.some(({ state }) => state === 'fault')) process.exitCode = EXIT.failed;
      const about = `simbatch ${packageVersion}, Node ${process.versions.node}, ${process.platform}`;
      if (flags.format === 'json') return writeJson({ about, checks });
      const width = Math.max(...checks.map(({ check }) => check.length));
      return writeText([
        about,
        ...checks.map(
          ({ check, state, message }) =>
            `${paint(state.padEnd(7), TONES[state])}  ${check.padEnd(width)}  ${printable(message)}`,
        ),
      ]);
    },
  );
}

async function python(): Promise<Check> {
  const { findPython } = await import('../../runner/launch/engine.ts');
  const found = await findPython(undefined, process.env['PATH'] ?? '');
  return found === undefined
    ? warning('python', 'not found: simulations in Python cannot run here; install it, or name it to the runner')
    : ok('python', `${found.executable}, ${found.version}`);
}

const LEAST_BYTES = 2 ** 30;

async function disk(): Promise<Check> {
  const { bavail, bsize } = await statfs('.');
  const free = bavail * bsize;
  const text = `${(free / 2 ** 30).toFixed(1)} GiB free in this folder`;
  return free < LEAST_BYTES ? warning('disk', `${text}: runs may fill it; make room`) : ok('disk', text);
}

/** The data directory of a coordinator on this machine; nothing where there is none. */
function dataDirectory(): Check[] {
  const directory = resolve(process.env['SVC_DATA_DIR'] ?? './data');
  if (!existsSync(directory)) return [];
  const remote = remoteStoreWarning(directory);
  return [remote === undefined ? ok('data', `${directory} is on no network file system`) : warning('data', remote)];
}

/** The coordinator, and through it the runners and the open studies; nothing further when it does not answer. */
async function coordinator(flags: ClientFlags): Promise<Check[]> {
  try {
    const client = await connect(flags);
    const before = systemClock.monotonicMs();
    await client.health();
    const ms = Math.max(1, Math.round(systemClock.monotonicMs() - before));
    const reached = ok('coordinator', `${client.endpoint} answers within ${ms} ms`);
    return [reached, ...(await clockChecks(client)), ...(await poolChecks(client))];
  } catch (error) {
    return [fault('coordinator', describeFailure(error).lines.join(' '))];
  }
}

/** A difference of clocks that users notice: ages, times left and the ends of tokens are wrong by it. */
const MOST_SKEW_SECS = 5;

/** The clock of this machine, compared with that of the coordinator; nothing where its answers have no time. */
async function clockChecks(client: Client): Promise<Check[]> {
  const askedMs = systemClock.now();
  const time = await client.launching.time();
  return time === undefined ? [] : [clockCheck(time, askedMs, systemClock.now())];
}

/** Judges the clock by an answer of the coordinator, which names the second of its time, and by the times of this machine before and after it. Pure. */
export function clockCheck(time: Date, askedMs: number, answeredMs: number): Check {
  const [least, most] = [(askedMs - time.getTime()) / 1000 - 1, (answeredMs - time.getTime()) / 1000];
  // Between the two the clocks may be equal.
  const ahead = least > 0 ? least : Math.min(most, 0);
  const text = `the clock of this machine is ${clockDifference(ahead)} that of the coordinator`;
  if (Math.abs(ahead) <= MOST_SKEW_SECS) return ok('clock', text);
  const remedy = 'synchronize both clocks (NTP, chrony); ages and times that are shown here are wrong by as much';
  return warning('clock', `${text}: ${remedy}`);
}

async function poolChecks(client: Client): Promise<Check[]> {
  try {
    const { runners, total_capacity: slots } = await client.runners();
    const token = process.env['SVC_TOKEN'] === undefined ? 'none needed' : 'the token is accepted';
    return [
      ok('credentials', token),
      slots > 0
        ? ok('runners', `room for ${plural(slots, 'run')} at a time`)
        : fault(
            'runners',
            `${plural(runners.length, 'runner')}, none of which takes work: start one with \`simbatch runner\``,
          ),
      ...runners.flatMap(runnerChecks),
      ...(await studyChecks(client)),
      ...(await notificationChecks(client)),
      ...(await storeChecks(client)),
    ];
  } catch (error) {
    return [fault('credentials', describeFailure(error).lines.join(' '))];
  }
}

function runnerChecks(runner: Runner): Check[] {
  const { id, status, slots_lost: lost = 0, drain_reason: reason } = runner;
  const name = `runner ${printable(id)}`;
  const because = reason === undefined ? '' : ` (${printable(reason)})`;
  return [
    ...(status === 'Offline'
      ? [
          warning(
            name,
            `Offline since ${formatTimestamp(runner.last_heartbeat)} UTC: start it, or \`simbatch forget ${id}\``,
          ),
        ]
      : []),
    ...(status === 'Maintenance' ? [warning(name, `drained${because}: \`simbatch resume ${id}\``)] : []),
    ...(lost > 0 ? [warning(name, `${plural(lost, 'slot')} lost: docs/runner.md, "Lost slots"`)] : []),
  ];
}

/** Findings of open studies that hinder them. */
async function studyChecks(client: Client): Promise<Check[]> {
  const checks: Check[] = [];
  for await (const { id } of client.batches({ status: ['Pending', 'Running'] })) {
    for (const { severity, message, remedy } of await client.findings(id)) {
      if (severity === 'fine' || severity === 'waiting') continue;
      const check = severity === 'blocked' ? fault : warning;
      checks.push(check(`study ${shortId(id)}`, `${message}; ${remedy}`));
    }
  }
  return checks;
}

const NO_NOTIFICATIONS: NotificationList = { receivers: [], by_status: {}, notifications: [] };

/** The webhooks of the coordinator, by the outcome of its requests; nothing without one, or where an older one has no list. */
async function notificationChecks(client: Client): Promise<Check[]> {
  const {
    receivers,
    by_status: counts,
    notifications,
  } = await client.launching.notifications().catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not-found') return NO_NOTIFICATIONS;
    throw error;
  });
  if (receivers.length === 0) return [];
  const failing = notifications.filter(({ status, reason }) => status !== 'Delivered' && reason !== undefined);
  if (failing.length === 0) {
    return [
      ok(
        'webhooks',
        `${receivers.map((it) => printable(it)).join(', ')}: ${counts['Delivered'] ?? 0} delivered in the last day`,
      ),
    ];
  }
  const [{ receiver, reason = '' } = { receiver: null }] = failing;
  const waiting = (counts['Waiting'] ?? 0) + (counts['Delivering'] ?? 0);
  return [
    warning(
      'webhooks',
      `${plural(waiting, 'notification')} not delivered, ${counts['GivenUp'] ?? 0} given up; ${printable(receiver ?? 'a former receiver')}: ${printable(reason)}; see docs/webhooks.md`,
    ),
  ];
}

/** The buckets for files of runs, in which the coordinator writes, reads and deletes an object; nothing without one, or where an older one has no such request. */
async function storeChecks(client: Client): Promise<Check[]> {
  const { buckets } = await client.launching.objectStore().catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not-found') return { buckets: [] };
    throw error;
  });
  return buckets.map(({ bucket, clock_ahead_secs: ahead, fault: found }) => {
    const name = `bucket ${printable(bucket)}`;
    const clock = ahead === undefined ? '' : `; the coordinator's clock is ${clockDifference(ahead)} that of the store`;
    if (found === undefined) return ok(name, `an object was written, read and deleted${clock}`);
    return fault(name, `${printable(found.message)}; ${printable(found.remedy)}`);
  });
}
