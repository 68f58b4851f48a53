/** `simbatch token`: creates, lists and revokes access tokens in the data directory. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { LIMITS } from '../../../contract/limits.ts';
import { RUNNER_ID_PATTERN } from '../../../contract/patterns.ts';
import { TOKEN_SCOPES } from '../../../contract/enums.ts';
import type { TokenRecord, TokenScope } from '../../../contract/types.ts';
import { changeTokens, newToken, readTokens } from '../../../coordinator/kernel/storage/tokens.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { anyOf, dataDirOption, integerBetween } from '../../options.ts';
import { OutputCommand } from '../../output-command.ts';
import { formatAgo } from '../../terminal/format.ts';
import { each, LIST_FORMATS, printList, type ListColumn } from '../../terminal/list.ts';
import { note, writeLine } from '../../terminal/output.ts';
import { systemClock } from '../../../base/clock.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

interface DirectoryFlags {
  dataDir: string;
}

/** A token without its secret. */
type Shown = Omit<TokenRecord, 'hash'>;

interface CreateFlags extends DirectoryFlags {
  scope?: TokenScope[];
  runner?: string;
  prefix?: string;
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
      `scopes: ${TOKEN_SCOPES.join(', ')} (default: read,submit; with --runner: runner; with --prefix: read,launch)`,
      anyOf(TOKEN_SCOPES),
    )
    .option('--runner <id>', 'for the runner with this id only', runnerId)
    .option('--prefix <text>', 'for a launcher whose runner ids, and so its queues, begin with this text', runnerId)
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

async function create({ scope, runner, prefix, expires, name = '', dataDir }: CreateFlags): Promise<void> {
  const usual = runner !== undefined ? ['runner'] : prefix !== undefined ? ['read', 'launch'] : ['read', 'submit'];
  const scopes = [...new Set(scope ?? usual)] as TokenScope[];
  if (runner !== undefined && !scopes.includes('runner')) {
    throw new Failure(EXIT.usage, '--runner binds the scope runner to one id; add runner to --scope');
  }
  if (prefix !== undefined && !scopes.includes('launch')) {
    throw new Failure(EXIT.usage, '--prefix binds the scope launch to some runner ids; add launch to --scope');
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
      made = newToken({ name, scopes, runnerId: runner, prefix, expiresAtMs }, now, (bytes) =>
        Buffer.from(systemClock.random(bytes)),
      );
    while (tokens.some((it) => it.id === made?.record.id));
    return [...tokens, made.record];
  });
  if (isFirst) note('this is the first token: from now on every request to the coordinator needs one');
  note(`token ${made?.record.id} allows ${described(made?.record as TokenRecord)}; it is not shown again:`);
  await writeLine(made?.token);
}

function described({ scopes, runner_id, prefix, expires_at }: TokenRecord): string {
  const forIds = prefix === undefined ? '' : ` for runner ids that begin with ${prefix}`;
  const bound = runner_id === null ? forIds : ` as ${runner_id}${forIds}`;
  return `${scopes.join(', ')}${bound}${expires_at === null ? '' : ` until ${expires_at}`}`;
}

const tokenColumns = (nowMs: number): ListColumn<Shown>[] => [
  { name: 'token', key: 'token', value: ({ id }) => id },
  { name: 'name', key: 'name', value: ({ name }) => name, shrink: 10, rank: 2 },
  { name: 'scopes', key: 'scopes', value: ({ scopes }) => scopes.join(','), shrink: 12 },
  { name: 'runner', key: 'runner', value: (it) => it.runner_id, cell: (it) => it.runner_id ?? '', shrink: 10, rank: 1 },
  { name: 'prefix', key: 'prefix', value: (it) => it.prefix ?? null, cell: (it) => it.prefix ?? '', wide: true },
  { name: 'created (UTC)', key: 'created_at', value: (it) => it.created_at, wide: true },
  { name: 'expires', key: 'expires_at', value: (it) => it.expires_at, cell: (it) => expiryOf(it, nowMs) },
];

/** `never`, the date, or that it is over. */
function expiryOf({ expires_at: at }: Shown, nowMs: number): string {
  if (at === null) return 'never';
  return Date.parse(at) <= nowMs ? `expired ${formatAgo(at, nowMs)}` : at.slice(0, 10);
}

function listCommand(): Command {
  return new OutputCommand('list', LIST_FORMATS)
    .description('list the tokens, without their secrets')
    .addOption(dataDirOption())
    .action(async ({ dataDir, format }: DirectoryFlags & { format: string }) => {
      const tokens = (readTokens(resolve(dataDir)) ?? []).map(({ hash: _, ...shown }) => shown);
      await printList(format, each(tokens), {
        columns: tokenColumns(systemClock.now()),
        nameOf: ({ id }) => id,
        none: 'there are no tokens; make one with `simbatch token create`',
      });
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
