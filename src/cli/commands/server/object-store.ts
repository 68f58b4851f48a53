/** The object store of `serve` and `backup`: its options, and its credential from the environment or a profile file. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { SimbatchError } from '../../../domain/errors.ts';
import { ObjectStore, type ObjectStoreOptions } from '../../../coordinator/files/object-store/object-store.ts';
import { texts } from '../../options.ts';

export interface ObjectStoreFlags {
  s3Bucket?: string[];
  s3Endpoint?: string;
  s3Region?: string;
  s3Profile?: string;
}

/** Adds the options of the object store for the files of runs. */
export const withObjectStore = (command: Command): Command =>
  withStoreAccess(
    command.option('--s3-bucket <names>', 'buckets that studies may name, to which files of runs are uploaded', texts),
  );

/** Adds the options of the way to an object store. */
export const withStoreAccess = <C extends Command>(command: C): C =>
  command
    .addOption(new Option('--s3-endpoint <url>', 'address of the object store').env('AWS_ENDPOINT_URL_S3'))
    .addOption(new Option('--s3-region <name>', 'its region').env('AWS_REGION').default('us-east-1'))
    .addOption(new Option('--s3-profile <name>', 'profile of the credentials file').env('AWS_PROFILE'));

/**
 * Returns the store; undefined without a bucket.
 * @throws SimbatchError `invalid-configuration` for an address that is not one, or without a credential
 */
export function objectStoreOf(
  flags: ObjectStoreFlags,
  env: Readonly<Record<string, string | undefined>>,
): ObjectStore | undefined {
  const { s3Bucket: buckets = [], s3Region: region = 'us-east-1', s3Profile: profile } = flags;
  if (buckets.length === 0) return undefined;
  const endpoint = flags.s3Endpoint ?? `https://s3.${region}.amazonaws.com`;
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    const why = `--s3-endpoint is ${JSON.stringify(endpoint)} and is not an http(s) address; give one, e.g. http://127.0.0.1:9000`;
    throw new SimbatchError('invalid-configuration', why);
  }
  return new ObjectStore({ endpoint, region, buckets, credentials: credentialsOf(env, profile) });
}

function credentialsOf(
  env: Readonly<Record<string, string | undefined>>,
  profile: string | undefined,
): ObjectStoreOptions['credentials'] {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = env;
  // A profile that is named is meant.
  if (profile === undefined && id !== undefined && secret !== undefined) {
    return { accessKeyId: id, secretAccessKey: secret, ...(session === undefined ? {} : { sessionToken: session }) };
  }
  const file = env['AWS_SHARED_CREDENTIALS_FILE'] ?? join(os.homedir(), '.aws/credentials');
  const found = profileIn(file, profile ?? 'default');
  const { aws_access_key_id: ownId, aws_secret_access_key: ownSecret, aws_session_token: ownSession } = found;
  if (ownId === undefined || ownSecret === undefined) {
    const why = `the object store needs a credential: ${file} has no profile ${JSON.stringify(profile ?? 'default')} with a key; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name another --s3-profile`;
    throw new SimbatchError('invalid-configuration', why);
  }
  return {
    accessKeyId: ownId,
    secretAccessKey: ownSecret,
    ...(ownSession === undefined ? {} : { sessionToken: ownSession }),
  };
}

/** The members of a section of an INI file; empty without the file or the section. */
function profileIn(file: string, profile: string): Record<string, string | undefined> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  const members: Record<string, string> = {};
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    section = /^\s*\[\s*(.*?)\s*\]/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section === profile && name !== undefined && value !== undefined) members[name] = value;
  }
  return members;
}
