/** `simbatch sample`: prints the parameters of every run of a study file, without a coordinator, in constant memory. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { DESIGN_FORMATS, designText, type DesignFormat } from '../../../domain/sampling/design-table.ts';
import { selectedRuns, type RunSelection } from '../../../domain/run-selection.ts';
import { samplingWarnings } from '../../../domain/sampling/warnings.ts';
import { studySampler, type Sampler } from '../../../domain/sampling/sampler.ts';
import { MAX_SEED, seedFromDecimal } from '../../../domain/seed.ts';
import type { BatchSubmission, Seed } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { formatNumber, printable } from '../../terminal/format.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { integerBetween } from '../../options.ts';
import { writeFileFrom } from '../../terminal/output-file.ts';
import { note, write } from '../../terminal/output.ts';
import { writeTable, type Column } from '../../terminal/table.ts';
import { systemClock } from '../../../base/clock.ts';

const FORMATS = ['table', ...DESIGN_FORMATS, 'parquet'] as const;

interface SampleFlags {
  runs?: number;
  format: (typeof FORMATS)[number];
  output?: string;
  seed?: Seed;
}

export function sampleCommand(): Command {
  return new Command('sample')
    .description('print the parameters of every run of a study, as the coordinator would sample them')
    .argument('<study>', 'the study file, - for standard input')
    .option('--runs <n>', 'only the first n runs, as --runs-override does', integerBetween(0, INT32_MAX))
    .option('--seed <n>', "in place of the study's own seed", seedOption)
    .addOption(new Option('--format <format>', 'how to print').choices(FORMATS).default('table'))
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .action(async (file: string, flags: SampleFlags) => {
      const { loadStudy } = await import('../../study/check-study.ts');
      const { submission, named } = await loadStudy(file, { option: '--runs', runs: flags.runs });
      const sampler = studySampler(submission.config, seedOf(submission, flags));
      const selection = selectedRuns(submission.config.monte_carlo, submission.runs_override);
      for (const { pointer, detail } of samplingWarnings(submission.config, selection.count))
        note(`warning: ${printable(named(pointer))}: ${printable(detail)}`);
      await print(sampler, selection, submission, flags);
    });
}

function seedOption(text: string): Seed {
  try {
    return seedFromDecimal(text);
  } catch {
    throw new InvalidArgumentError(`It must be an integer from 0 to ${MAX_SEED}.`);
  }
}

function seedOf(submission: BatchSubmission, flags: SampleFlags): Seed {
  const seed = flags.seed ?? submission.config.monte_carlo.seed;
  if (seed !== undefined && seed !== null) return seed;
  const drawn = drawSeed();
  note(`the study has no seed; drawn: ${drawn} (repeat with --seed ${drawn})`);
  return drawn;
}

/** A random seed in [0, 2^53 - 1], as the coordinator draws one for a study without. */
function drawSeed(): number {
  return Number(Buffer.from(systemClock.random(8)).readBigUInt64BE() >> 11n);
}

async function print(
  sampler: Sampler,
  selection: RunSelection,
  submission: BatchSubmission,
  flags: SampleFlags,
): Promise<void> {
  const { format, output } = flags;
  if (format === 'parquet') return printParquet(sampler, selection, flags);
  if (format === 'table') {
    if (output !== undefined)
      throw new Failure(
        EXIT.usage,
        'a table cannot be written to a file; give --format csv, json, ndjson or parquet with --output',
      );
    await writeTable(columnsOf(sampler, submission), rows(sampler, selection));
    return undefined;
  }
  if (output === undefined) return copy(designText(sampler, format satisfies DesignFormat, selection), write);
  return writeFileFrom(output, (put) => copy(designText(sampler, format, selection), put));
}

function columnsOf(sampler: Sampler, submission: BatchSubmission): Column[] {
  const named = sampler.names.map((name): Column => {
    const units = submission.config.dispersions[name]?.units ?? '';
    return { name: printable(units === '' ? name : `${name} [${units}]`), verbatim: true, align: 'right' };
  });
  return [{ name: 'run', align: 'right' }, ...named];
}

async function* rows(sampler: Sampler, selection: RunSelection): AsyncGenerator<(string | number)[]> {
  const values = new Float64Array(sampler.names.length);
  for (const run of selection.runIds()) {
    sampler.sampleInto(run, values);
    yield [run, ...Array.from(values, (value) => formatNumber(value))];
  }
}

async function printParquet(sampler: Sampler, selection: RunSelection, flags: SampleFlags): Promise<void> {
  const { writeDesignParquet } = await import('../../study/design-parquet.ts');
  if (flags.output !== undefined)
    return writeFileFrom(flags.output, (put) => writeDesignParquet(sampler, selection, put));
  if (process.stdout.isTTY)
    throw new Failure(
      EXIT.usage,
      'Parquet is binary and not for a terminal: give --output FILE, or redirect it with > FILE',
    );
  return writeDesignParquet(sampler, selection, write);
}

async function copy(chunks: Iterable<string>, to: (text: string) => Promise<void>): Promise<void> {
  for (const chunk of chunks) await to(chunk);
}
