/** The webhooks of `simbatch serve`: their options, their addresses and the secret of their signature. */
import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import type { NotificationSettings } from '../../../coordinator/notifications/receivers.ts';
import { Webhook } from '../../../coordinator/notifications/webhook.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { texts } from '../../options.ts';

export interface NotifyFlags {
  notifyUrl?: string[];
  notifySecretFile?: string;
  publicUrl?: string;
}

/** More receivers are better served by a program that distributes the events. */
const MOST_RECEIVERS = 5;
/** The limits of the specification: 24 to 64 bytes. */
const SECRET_BYTES = { least: 24, most: 64 };
const PREFIX = 'whsec_';

/** Adds the options of webhooks. */
export const withNotify = (command: Command): Command =>
  command
    .addOption(
      new Option('--notify-url <urls>', 'addresses that get a POST when a study is settled, ended or blocked')
        .env('SVC_NOTIFY_URL')
        .argParser(texts),
    )
    .addOption(
      new Option('--notify-secret-file <file>', 'file with the key that signs these requests').env(
        'SVC_NOTIFY_SECRET_FILE',
      ),
    )
    .addOption(
      new Option('--public-url <url>', 'address under which people reach this coordinator, for links').env(
        'SVC_PUBLIC_URL',
      ),
    );

/**
 * Returns the receivers; undefined without an address. `ownUrl` returns the address at which the coordinator listens.
 * @throws SimbatchError `invalid-configuration` for an address or a secret that is not usable
 */
export function notificationsOf(flags: NotifyFlags, ownUrl: () => string): NotificationSettings | undefined {
  const { notifyUrl: urls = [], notifySecretFile: file, publicUrl } = flags;
  const base = publicUrl === undefined ? undefined : addressOf('--public-url', publicUrl);
  if (urls.length === 0) {
    if (file === undefined) return undefined;
    throw unusable('--notify-secret-file is given without --notify-url; give an address, or leave the file out');
  }
  const addresses = [...new Set(urls)].map((it) => addressOf('--notify-url', it));
  if (addresses.length > MOST_RECEIVERS)
    throw unusable(`--notify-url has ${String(addresses.length)} addresses; give at most ${String(MOST_RECEIVERS)}`);
  const secret = file === undefined ? undefined : secretIn(file);
  return {
    receivers: addresses.map((url) => new Webhook({ url, secret, clock: systemClock })),
    link: (batchId) => `${(base?.href ?? ownUrl()).replace(/[#?].*$/, '').replace(/\/+$/, '')}/#/batches/${batchId}`,
  };
}

const unusable = (message: string): SimbatchError => new SimbatchError('invalid-configuration', message);

/** The address itself may be a secret and is not repeated in messages. */
function addressOf(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw unusable(`an address of ${option} is not an http(s) address; give one, e.g. https://hooks.example/simbatch`);
  if (url.username !== '' || url.password !== '')
    throw unusable(
      `an address of ${option} has a user name or password; use a secret in its path, or --notify-secret-file`,
    );
  return url;
}

/** The key in a file: text, or `whsec_` and base64 as in the Standard Webhooks specification. Never shown. */
function secretIn(file: string): Uint8Array {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw unusable(`--notify-secret-file ${JSON.stringify(file)} cannot be read: ${code}; name a readable file`);
  }
  const key = text.startsWith(PREFIX) ? Buffer.from(text.slice(PREFIX.length), 'base64') : Buffer.from(text, 'utf8');
  const { least, most } = SECRET_BYTES;
  if (key.length >= least && key.length <= most) return key;
  throw unusable(
    `--notify-secret-file ${JSON.stringify(file)} has a key of ${String(key.length)} bytes; ${String(least)} to ${String(most)} are needed: write one with \`openssl rand -hex 24\``,
  );
}
