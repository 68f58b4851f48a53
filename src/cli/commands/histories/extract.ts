/** `simbatch extract`: computes outputs and histories of the telemetry of finished runs, and lists what was computed. */
import { Option, type Command } from 'commander';
import { given } from '../../../base/given.ts';
import type { Client } from '../../../client/client.ts';
import type {
  DerivedConfig,
  ExtractionList,
  ExtractionRequest,
  HistoryConfig,
  RunSelect,
} from '../../../contract/types.ts';
import { TERMINAL_STATUSES } from '../../../contract/enums.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { anyOf, clientCommand, connect, integerBetween, type ClientFlags } from '../../options.ts';
import { readTextFile } from '../../study/check-study.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { readStudyText } from '../../study/study-file.ts';
import { plural, printable, shortId } from '../../terminal/format.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { renderTable, tableOptions, type Column } from '../../terminal/table.ts';
import { create, CREATED, creating, type CreateFlags } from '../studies/growth.ts';
import { runsWhere, whereOption } from '../../selection/selected-runs.ts';
import { programOf } from './program-file.ts';

interface ExtractFlags extends CreateFlags {
  derived?: string;
  histories?: string;
  with?: string;
  timeout?: number;
  state?: RunSelect['states'];
  runIds?: string;
  where?: string;
}

const COLUMNS: readonly Column[] = [
  { name: 'name' },
  { name: 'study' },
  { name: 'status' },
  { name: 'runs', align: 'right' },
  { name: 'completed', align: 'right' },
  { name: 'without files', align: 'right' },
];

/** Run ids of this many characters are shown whole. */
const MOST_SHOWN = 200;

export function extractCommand(): Command {
  const command = clientCommand(
    'extract',
    'compute outputs and histories of the files of finished runs; without a file or program, list what was computed',
    CREATED,
  )
    .argument('<study>', BATCH_ARGUMENT)
    .option(
      '--derived <file>',
      'YAML or JSON with `derived`, and perhaps `histories` and `name`; or a list of derived outputs',
    )
    .option('--histories <file>', 'YAML or JSON with `histories`, and perhaps `name`; or a list of histories')
    .addOption(
      new Option(
        '--with <program>',
        'executed for each run, with its files in SVC_PARENT_DIR: a Python script, or the name of a simulation of the runners',
      ).conflicts(['derived', 'histories']),
    )
    .addOption(
      new Option('--timeout <seconds>', 'time limit of the program, of each run').argParser(
        integerBetween(1, INT32_MAX),
      ),
    )
    .addOption(
      new Option('--state <states>', 'runs in these states, by comma or repetition; otherwise the Completed ones')
        .choices(TERMINAL_STATUSES)
        .argParser(anyOf(TERMINAL_STATUSES)),
    )
    .addOption(new Option('--run-ids <ranges>', 'only these runs, e.g. 0-99,150').conflicts('where'))
    .addOption(whereOption());
  return creating(command).action(async (reference: string, flags: ExtractFlags) => {
    const { derived, histories, with: program, timeout } = flags;
    if (timeout !== undefined && program === undefined)
      throw new Failure(EXIT.usage, '--timeout is of a program: name it with --with');
    if ([derived, histories, program].every((it) => it === undefined)) return list(reference, flags);
    const asked = await requestOf(flags);
    return create(reference, flags, async (client, batchId, options) => {
      const select: RunSelect = given({
        states: flags.state,
        run_ids: flags.where === undefined ? flags.runIds : await runsWhere(client, batchId, flags.where),
      });
      const request = {
        ...asked,
        ...(await programIn(client, flags)),
        ...(Object.keys(select).length === 0 ? {} : { select }),
      };
      const answer = await client.changes.extract(batchId, request, options);
      const { name, total_jobs: runs, without_files: without } = answer;
      const lines = [`${name} of ${plural(runs, 'run')} of ${batchId} submitted as study ${answer.batch_id}`];
      if (without !== undefined)
        lines.push(
          `without ${plural(without.runs, 'run')} whose files are gone (${idsShown(without.run_ids)}): ${without.why}`,
        );
      lines.push(`see how far it is: simbatch extract ${shortId(batchId)}`);
      return { answer, lines };
    });
  });
}

const idsShown = (ids: string): string => printable(ids.length > MOST_SHOWN ? `${ids.slice(0, MOST_SHOWN)}...` : ids);

async function programIn(client: Client, flags: ExtractFlags): Promise<Pick<ExtractionRequest, 'with' | 'code'>> {
  if (flags.with === undefined) return {};
  const { with: program, code } = await programOf(client, flags.with);
  const limit = flags.timeout === undefined ? {} : { timeout_seconds: flags.timeout };
  return { with: { ...program, ...limit }, ...given({ code }) };
}

/** The request of the files. @throws Failure for a file that is not one of an extraction */
async function requestOf(flags: ExtractFlags): Promise<ExtractionRequest> {
  const parts = [
    flags.derived === undefined ? {} : await partOf(flags.derived, 'derived'),
    flags.histories === undefined ? {} : await partOf(flags.histories, 'histories'),
  ];
  const [first = {}, second = {}] = parts;
  for (const member of ['derived', 'histories'] as const)
    if (first[member] !== undefined && second[member] !== undefined)
      throw new Failure(EXIT.usage, `--derived and --histories both have a list of ${member}: leave one of them out`);
  return { ...first, ...second, ...given({ name: flags.name ?? first.name ?? second.name }) };
}

async function partOf(file: string, member: 'derived' | 'histories'): Promise<ExtractionRequest> {
  const text = readStudyText(await readTextFile(file));
  if (text.faults.length > 0) {
    const lines = text.faults.map(({ line, column, detail }) => `  ${file}:${line}:${column}: ${detail}`);
    throw new Failure(EXIT.invalid, `${file} has ${plural(lines.length, 'fault')}`, lines);
  }
  const { value } = text;
  if (Array.isArray(value)) return { [member]: value as DerivedConfig[] & HistoryConfig[] };
  if (typeof value !== 'object' || value === null)
    throw new Failure(EXIT.invalid, `${file}: is neither a list nor an object with \`${member}\`; write one of them`);
  const known = ['name', 'derived', 'histories'];
  const other = Object.keys(value).find((it) => !known.includes(it));
  if (other !== undefined)
    throw new Failure(
      EXIT.invalid,
      `${file}: has the member ${JSON.stringify(other)}; an extraction has ${known.join(', ')}`,
    );
  return value;
}

async function list(reference: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const batchId = await resolveBatch(client, reference);
  const answer = await client.changes.extractions(batchId);
  if (flags.format === 'json') return writeJson(answer);
  const { extractions } = answer;
  if (flags.format === 'name') return writeLine(extractions.map((it) => it.batch_id).join('\n'));
  if (extractions.length === 0)
    return note('nothing was extracted of this study: ask with --derived, --histories or --with');
  const rows = extractions.map((it) => [
    it.name,
    shortId(it.batch_id),
    it.status,
    it.runs,
    it.completed,
    it.without_files?.runs ?? 0,
  ]);
  await writeLine(renderTable(COLUMNS, rows, tableOptions(flags.format)));
  for (const line of extractions.flatMap(noteLines)) await writeLine(line);
}

function noteLines({ name, notes, without_files: without }: ExtractionList['extractions'][number]): string[] {
  const gone =
    without === undefined
      ? []
      : [
          `${name}: nothing of ${plural(without.runs, 'run')} (${idsShown(without.run_ids)}): ${printable(without.why)}`,
        ];
  return [...gone, ...notes.map((it) => `${name}: ${printable(it)}`)];
}
