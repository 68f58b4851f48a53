/** `simbatch sample`: prints the parameters of every run of a study file, without a coordinator, in constant memory. */
import { InvalidArgumentError, type Command } from 'commander';
import { DESIGN_FORMATS, designText, type DesignFormat } from '../../../domain/sampling/design-table.ts';
import { selectedRuns, type RunSelection } from '../../../domain/runs/run-selection.ts';
import { declaredDispersions } from '../../../domain/scenarios/overrides.ts';
import { samplingWarnings } from '../../../domain/sampling/warnings.ts';
import { studySampler } from '../../../domain/sampling/sampler.ts';
import type { Sampler } from '../../../domain/sampling/run-values.ts';
import { MAX_SEED, seedFromDecimal } from '../../../domain/seed.ts';
import type { BatchSubmission, Seed } from '../../../contract/types.ts';
import { OutputCommand } from '../../output-command.ts';
import { formatNumber, printable } from '../../terminal/format.ts';
import { INT32_MAX } from '../../../contract/limits.ts';
import { integerBetween } from '../../options.ts';
import { note, write, writeData } from '../../terminal/output.ts';
import { tableOptions, writeTable, type Column } from '../../terminal/table.ts';
import { systemClock } from '../../../base/clock.ts';

const FORMATS = ['table', 'wide', ...DESIGN_FORMATS, 'parquet'] as const;

interface SampleFlags {
  runs?: number;
  format: (typeof FORMATS)[number];
  seed?: Seed;
}

export function sampleCommand(): Command {
  return new OutputCommand('sample', FORMATS)
    .description('print the parameters of every run of a study, as the coordinator would sample them')
    .argument('<study>', 'the study file, - for standard input')
    .option('--runs <n>', 'only the first n runs, as --runs-override does', integerBetween(0, INT32_MAX))
    .option('--seed <n>', "in place of the study's own seed", seedOption)
    .action(async (file: string, flags: SampleFlags) => {
      const { loadStudy, requireDrawn } = await import('../../study/check-study.ts');
      const { submission, named } = await loadStudy(file, { option: '--runs', runs: flags.runs });
      requireDrawn(submission.config);
      const sampler = studySampler(submission.config, seedOf(submission, flags));
      const selection = selectedRuns(submission.config, submission.runs_override);
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
  const { format } = flags;
  if (format === 'parquet') {
    const { writeDesignParquet } = await import('../../study/design-parquet.ts');
    return writeDesignParquet(sampler, selection, write);
  }
  if (format === 'table' || format === 'wide') {
    const isWide = format === 'wide';
    const { omitted } = await writeTable(
      columnsOf(sampler, submission),
      rows(sampler, selection),
      tableOptions(isWide ? 'wide' : 'table'),
    );
    if (omitted.length > 0) note(`without ${omitted.join(', ')}, for which the terminal is too narrow: -f wide`);
    return undefined;
  }
  for (const chunk of designText(sampler, format satisfies DesignFormat, selection)) await writeData(chunk);
  return undefined;
}

function columnsOf(sampler: Sampler, submission: BatchSubmission): Column[] {
  const named = sampler.names.map((name): Column => {
    const units = declaredDispersions(submission.config)[name]?.units ?? '';
    return { name: printable(units === '' ? name : `${name} [${units}]`), verbatim: true, align: 'right' };
  });
  const axes = (sampler.axes ?? []).map((name): Column => ({ name: printable(name), verbatim: true }));
  return [
    { name: 'run', align: 'right' },
    ...axes,
    ...named.map((it, at) => ({ ...it, ...(at === 0 ? {} : { rank: at }) })),
  ];
}

async function* rows(sampler: Sampler, selection: RunSelection): AsyncGenerator<(string | number)[]> {
  const values = new Float64Array(sampler.names.length);
  for (const run of selection.runIds()) {
    sampler.sampleInto(run, values);
    const { scenario = {} } = sampler.scenarioOf?.(run) ?? {};
    const levels = (sampler.axes ?? []).map((axis) => printable(scenario[axis]!));
    yield [run, ...levels, ...Array.from(values, (value) => (Number.isNaN(value) ? '-' : formatNumber(value)))];
  }
}
