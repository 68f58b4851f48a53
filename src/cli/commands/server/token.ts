/** `simbatch token`: creates, lists and revokes access tokens in the data directory. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LIMITS } from '../../../contract/limits.ts';
import { RUNNER_ID_PATTERN } from '../../../contract/patterns.ts';
import { TOKEN_SCOPES } from '../../../contract/enums.ts';
import type { TokenRecord, TokenScope } from '../../../contract/types.ts';
import { changeTokens, newToken, readTokens } from '../../../coordinator/storage/tokens.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { anyOf, dataDirOption, integerBetween } from '../../options.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { renderTable } from '../../terminal/table.ts';
import { systemClock } from '../../../base/clock.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

interface DirectoryFlags {
  dataDir: string;
}

interface CreateFlags extends DirectoryFlags {
  scope?: TokenScope[];
  runner?: string;
  expires?: number;
  name?: string;
}

export function tokenCommand(): Command {
  return new Command('token')
    .description(
      'access tokens in the data directory of the coordinator; changes take effect at once, without a restart',
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function createCommand(): Command {
  return new Command('create')
    .description('create a token and print it once')
    .option(
      '--scope <scopes>',
      `scopes: ${TOKEN_SCOPES.join(', ')} (default: read,submit; with --runner: runner)`,
      anyOf(TOKEN_SCOPES),
    )
    .option('--runner <id>', 'for the runner with this id only', runnerId)
    .option('--expires <days>', 'days until it expires; without it, valid until revoked', integerBetween(1, MAX_DAYS))
    .option('--name <text>', 'its owner or its purpose')
    .addOption(dataDirOption())
    .action(create);
}

function runnerId(text: string): string {
  if (!new RegExp(RUNNER_ID_PATTERN).test(text)) {
    throw new InvalidArgumentError('A runner id is up to 128 letters, digits and . _ : @ -');
  }
  return text;
}

async function create({ scope, runner, expires, name = '', dataDir }: CreateFlags): Promise<void> {
  const scopes = [...new Set(scope ?? (runner === undefined ? ['read', 'submit'] : ['runner']))] as TokenScope[];
  if (runner !== undefined && !scopes.includes('runner')) {
    throw new Failure(EXIT.usage, '--runner binds the scope runner to one id; add runner to --scope');
  }
  if (name.length > LIMITS.nameLength) {
    throw new Failure(EXIT.usage, `--name is ${name.length} characters long; ${LIMITS.nameLength} are allowed`);
  }
  const now = systemClock.now();
  const expiresAtMs = expires === undefined ? undefined : now + expires * DAY_MS;
  let made: { token: string; record: TokenRecord } | undefined;
  const isFirst = readTokens(resolve(dataDir)) === undefined;
  await changeTokens(resolve(dataDir), (tokens) => {
    do
      made = newToken({ name, scopes, runnerId: runner, expiresAtMs }, now, (bytes) =>
        Buffer.from(systemClock.random(bytes)),
      );
    while (tokens.some((it) => it.id === made?.record.id));
    return [...tokens, made.record];
  });
  if (isFirst) note('this is the first token: from now on every request to the coordinator needs one');
  note(`token ${made?.record.id} allows ${described(made?.record as TokenRecord)}; it is not shown again:`);
  await writeLine(made?.token);
}

function described({ scopes, runner_id, expires_at }: TokenRecord): string {
  const bound = runner_id === null ? '' : ` as ${runner_id}`;
  return `${scopes.join(', ')}${bound}${expires_at === null ? '' : ` until ${expires_at}`}`;
}

function listCommand(): Command {
  return new Command('list')
    .description('list the tokens, without their secrets')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'))
    .addOption(dataDirOption())
    .action(async ({ dataDir, output }: DirectoryFlags & { output: string }) => {
      const tokens = (readTokens(resolve(dataDir)) ?? []).map(({ hash: _, ...shown }) => shown);
      if (output === 'json') return writeJson(tokens);
      if (tokens.length === 0) return note('there are no tokens; make one with `simbatch token create`');
      const columns = ['token', 'name', 'scopes', 'runner', 'created', 'expires'].map((name) => ({ name }));
      const now = systemClock.now();
      const rows = tokens.map((it) => [
        it.id,
        it.name,
        it.scopes.join(','),
        it.runner_id ?? '',
        it.created_at,
        it.expires_at === null ? 'never' : `${it.expires_at}${Date.parse(it.expires_at) <= now ? ' (expired)' : ''}`,
      ]);
      return writeLine(renderTable(columns, rows));
    });
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('refuse a token from now on')
    .argument('<id>', 'the id from `simbatch token list`, or the whole token')
    .addOption(dataDirOption())
    .action(async (given: string, { dataDir }: DirectoryFlags) => {
      const id = /^sbt_([0-9a-f]{8})_/.exec(given)?.[1] ?? given;
      let left = 0;
      await changeTokens(resolve(dataDir), (tokens) => {
        const kept = tokens.filter((it) => it.id !== id);
        if (kept.length === tokens.length) {
          throw new Failure(
            EXIT.missing,
            `there is no token ${JSON.stringify(id.slice(0, 20))}; simbatch token list shows all`,
          );
        }
        left = kept.length;
        return kept;
      });
      note(
        `token ${id} is revoked${left === 0 ? '; no token is left, so every request is refused until one is made' : ''}`,
      );
    });
}
