/** `simbatch extend`, `rerun` and `compare`: create a study that comes of another one. */
import type { Command } from 'commander';
import { randomUuid, systemClock } from '../../../base/clock.ts';
import { given } from '../../../base/given.ts';
import type { Client } from '../../../client/client.ts';
import { FAILURE_KINDS, TERMINAL_STATUSES, type FailureKind } from '../../../contract/enums.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import type {
  ExtendRequest,
  ExtendResponse,
  RerunRequest,
  RunSelect,
  SubmissionResponse,
  Uuid,
} from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { anyOf, clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { runsWhere, whereOption } from '../../selection/selected-runs.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { plural, printable, shortId } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { asksLevels, compareLevels, levelOptions, type LevelFlags } from '../analysis/scenarios/levels.ts';
import { watchBatch } from './watch.ts';
import { Option } from 'commander';

/** The formats of every command that creates a study. */
export const CREATED = ['table', 'json', 'name'] as const;

/** Options of every command that creates a study. */
export interface CreateFlags extends ClientFlags {
  name?: string;
  watch?: boolean;
  strict?: boolean;
  idempotencyKey?: string;
}

interface VersionFlags {
  simulationVersion?: string;
  containerImage?: string;
}

interface RerunFlags extends CreateFlags, VersionFlags {
  state?: RunSelect['states'];
  failureKind?: FailureKind;
  requirement?: string;
  runIds?: string;
  where?: string;
}

/** Adds the options of every command that creates a study. */
export const creating = (command: Command): Command =>
  command
    .option('--name <name>', 'name of the new study; otherwise that of the first one')
    .option('--watch', 'follow the new study to its end; the exit code gives its outcome')
    .option('--strict', 'with --watch: exit with 3 when the study is Completed but runs failed')
    .option('--idempotency-key <key>', 'a repeat with this key creates nothing again (for 24 hours)');

/** Adds the options of the version of the simulation and its image. */
const versioned = (command: Command): Command =>
  command
    .option('--simulation-version <text>', '`config.simulation.version` of the new study')
    .option('--container-image <text>', '`config.compute.container.image` of the new study');

export function extendCommand(): Command {
  return creating(
    clientCommand('extend', 'create a study with more runs of the same design, or continue one of rare events', CREATED)
      .argument('<study>', BATCH_ARGUMENT)
      .option(
        '--runs <n>',
        'runs of the whole design; for a Latin hypercube: of the next replicate; for rare events: further draws, or more budget',
        integerBetween(1, INT32_MAX),
      ),
  ).action((reference: string, flags: CreateFlags & { runs?: number }) =>
    create(reference, flags, async (client, batchId, options) => {
      const request: ExtendRequest = { ...given({ runs: flags.runs, name: flags.name }) };
      const answer = await client.extendBatch(batchId, request, options);
      if (answer.mode === 'reopened') return { answer, lines: [reopened(answer, flags.runs ?? 0)] };
      const which =
        answer.mode === 'continued'
          ? `${plural(answer.total_jobs, 'further run')} (${printable(answer.run_ids ?? '')})`
          : `replicate ${answer.replicate} of ${plural(answer.total_jobs, 'run')}`;
      return { answer, lines: [`${which} of ${batchId} submitted as study ${answer.batch_id}`] };
    }),
  );
}

/** A study of rare events is opened again, with those that were submitted with it. */
function reopened({ batch_id: batchId, studies = [batchId], budget = 0 }: ExtendResponse, runs: number): string {
  const others = plural(studies.length - 1, 'study', 'studies');
  const which =
    studies.length === 1 ? `study ${batchId} takes` : `study ${batchId} and ${others} submitted with it take`;
  const each = studies.length === 1 ? '' : ' each';
  return `${which} up to ${plural(runs, 'further run')}${each}; the budget is now ${plural(budget, 'run')}`;
}

export function rerunCommand(): Command {
  const command = clientCommand('rerun', 'run selected runs of a study again, with the same parameters', CREATED)
    .argument('<study>', BATCH_ARGUMENT)
    .addOption(
      new Option('--state <states>', 'only runs in these states, by comma or repetition')
        .choices(TERMINAL_STATUSES)
        .argParser(anyOf(TERMINAL_STATUSES)),
    )
    .addOption(new Option('--failure-kind <kind>', 'only runs that failed so').choices(FAILURE_KINDS))
    .option('--requirement <name>', 'only runs that fail this requirement')
    .addOption(new Option('--run-ids <ranges>', 'only these runs, e.g. 0-99,150').conflicts('where'))
    .addOption(whereOption());
  return creating(versioned(command)).action((reference: string, flags: RerunFlags) =>
    create(reference, flags, async (client, batchId, options) => {
      const select: RunSelect = given({
        states: flags.state,
        failure_kind: flags.failureKind,
        requirement: flags.requirement,
        run_ids: flags.where === undefined ? flags.runIds : await runsWhere(client, batchId, flags.where),
      });
      const request: RerunRequest = { ...versions(flags), ...given({ name: flags.name }) };
      if (Object.keys(select).length > 0) request.select = select;
      const answer = await client.rerunBatch(batchId, request, options);
      return { answer, lines: submitted(batchId, answer) };
    }),
  );
}

export function compareCommand(): Command {
  const command = clientCommand(
    'compare',
    'run a whole study again under another version, to compare the two; with --level, compare two levels of its scenarios',
    CREATED,
  ).argument('<study>', BATCH_ARGUMENT);
  for (const it of levelOptions()) command.addOption(it);
  return creating(versioned(command)).action(
    async (reference: string, flags: CreateFlags & VersionFlags & LevelFlags) => {
      if (asksLevels(flags)) return compareLevels(reference, flags);
      return create(reference, flags, async (client, batchId, options) => {
        const request: RerunRequest = { relation: 'comparison', ...versions(flags), ...given({ name: flags.name }) };
        const answer = await client.rerunBatch(batchId, request, options);
        return { answer, lines: submitted(batchId, answer) };
      });
    },
  );
}

const versions = (flags: VersionFlags): Pick<RerunRequest, 'simulation_version' | 'container_image'> =>
  given({ simulation_version: flags.simulationVersion, container_image: flags.containerImage });

const submitted = (batchId: Uuid, answer: SubmissionResponse): string[] => [
  `${plural(answer.total_jobs, 'run')} of ${batchId} submitted again as study ${answer.batch_id}`,
  `compare them at the end: simbatch diff ${shortId(batchId)} ${shortId(answer.batch_id)}`,
];

export interface Created {
  answer: SubmissionResponse;
  /** The first is the result, the others are hints. */
  lines: string[];
}

/** Creates a study of the referenced one, reports it, and follows it with `--watch`. */
export async function create(
  reference: string,
  flags: CreateFlags,
  ask: (client: Client, batchId: Uuid, options: { idempotencyKey: string }) => Promise<Created>,
): Promise<void> {
  if (flags.strict === true && flags.watch !== true)
    throw new Failure(EXIT.usage, '--strict changes the exit code of --watch: give both');
  const client = await connect(flags);
  const batchId = await resolveBatch(client, reference);
  // With a key, a repeat after a lost reply creates no second study.
  const { answer, lines } = await ask(client, batchId, {
    idempotencyKey: flags.idempotencyKey ?? randomUuid(systemClock),
  });
  for (const { pointer, detail } of answer.warnings ?? [])
    note(`warning: ${pointer === '' ? '' : `${printable(pointer)}: `}${printable(detail)}`);
  await reportCreated(client, { answer, lines }, flags);
}

/** Prints a new study in the format of the flags, and follows it with `--watch`. */
export async function reportCreated(
  client: Client,
  { answer, lines }: Created,
  flags: Pick<CreateFlags, 'format' | 'watch' | 'strict'>,
): Promise<void> {
  if (flags.format === 'json') {
    // With --watch, stdout is one JSON document: the final status.
    if (flags.watch !== true) await writeJson(answer);
  } else if (flags.format === 'name') {
    if (flags.watch !== true) await writeLine(answer.batch_id);
  } else {
    const [result = '', ...hints] = lines;
    await writeLine(result);
    for (const hint of hints) note(hint);
  }
  if (flags.watch === true) process.exitCode = await watchBatch(client, answer.batch_id, flags);
  else if (flags.format === 'table') note(`follow it: simbatch watch ${shortId(answer.batch_id)}`);
}
