/** `simbatch init`: writes a study file for a simulation script, with the inputs that are found in its source. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { packageRoot } from '../../../base/package.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { plural, printable } from '../../terminal/format.ts';
import { writeFileFrom } from '../../terminal/output-file.ts';
import { note, writeLine } from '../../terminal/output.ts';

const FINDER = join(packageRoot, 'clients/python/find_inputs.py');
const FINDER_MS = 30_000;

interface Input {
  name: string;
  value: number;
  origin: 'defaults' | 'argparse' | 'constant';
}

interface Found {
  inputs: readonly Input[];
  runs_under_simbatch: boolean;
}

const ORIGINS = {
  defaults: 'simbatch.run(defaults={...})',
  argparse: 'the arguments of argparse',
  constant: 'the constants in capitals',
} as const;

interface InitFlags {
  file?: string;
  /** The former name of `file`. */
  output?: string;
  pythonExecutable?: string;
}

export function initCommand(): Command {
  return new Command('init')
    .description(
      'write a study file for a Python simulation: its inputs are found in the source, which is not executed',
    )
    .argument('<entrypoint>', 'the script of the simulation (.py)')
    .option('-f, --file <file>', 'the study file (default: beside the script, .yaml); it must not exist')
    .addOption(new Option('-o, --output <file>', 'the former name of --file').hideHelp())
    .option('--python-executable <program>', 'interpreter that reads the script (default: python3, then python)')
    .action(async (entrypoint: string, flags: InitFlags) => {
      const found = await inputsOf(entrypoint, flags.pythonExecutable);
      const name = basename(entrypoint, extname(entrypoint));
      const output = flags.file ?? flags.output ?? join(dirname(entrypoint), `${name}.yaml`);
      if (existsSync(output))
        throw new Failure(EXIT.cannotOpen, `cannot write ${output}: it exists; name another with --file`);
      await writeFileFrom(output, (put) => put(studyText(name, found)));
      await report(entrypoint, output, found);
    });
}

async function inputsOf(entrypoint: string, configured: string | undefined): Promise<Found> {
  if (!existsSync(entrypoint))
    throw new Failure(EXIT.missing, `no file ${entrypoint}: name the script of the simulation`);
  if (extname(entrypoint).toLowerCase() !== '.py')
    throw new Failure(EXIT.usage, `${entrypoint} is not a .py file: only the inputs of Python scripts can be found`);
  const { findPython } = await import('../../../runner/launch/engine.ts');
  const python = await findPython(configured, process.env['PATH'] ?? '');
  if (python === undefined)
    throw new Failure(EXIT.missing, 'no Python was found to read the script: name one with --python-executable');
  try {
    const { stdout } = await promisify(execFile)(python.executable, [FINDER, entrypoint], { timeout: FINDER_MS });
    return JSON.parse(stdout) as Found;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Failure(EXIT.invalid, `the script cannot be read: ${printable(stderr?.trim() || String(error))}`);
  }
}

/** The study file. Every input has its value as it is in the script: how it varies is the author's knowledge. */
function studyText(name: string, { inputs }: Found): string {
  const plain = (value: string): string => stringify(value, { lineWidth: 0 }).trim();
  const dispersions = inputs.map(
    ({ name: input, value }) =>
      `    ${plain(input)}: { distribution: { type: fixed, value: ${value} }, units: '' }${example(value)}`,
  );
  const own = name.replaceAll(/[^\w.-]/g, '-');
  return `# A study of ${name}. Check it with: simbatch submit --check; docs/sampling.md has the distributions.
name: ${plain(name)}
config:
  simulation: { name: ${plain(own)}, version: '1', duration_minutes: 1 }
  monte_carlo: { runs: 100, sampling_method: latin_hypercube, seed: 1 }
  # Every input is fixed at the value in the script. Give those that vary a distribution.
  dispersions:${dispersions.length === 0 ? ' {}' : `\n${dispersions.join('\n')}`}
  compute:
    container: { image: '', cpu_request: '1', memory_request: 256Mi }
    max_parallel_jobs: 0
    job_timeout_seconds: 0
  early_termination:
    enabled: false
    check_frequency_hz: 10
    conditions: []
  telemetry:
    sampling_rate_hz: 0
    variables: []
    storage: { s3_bucket: '', s3_prefix: '', compression: snappy }
    buffer_flush_interval_seconds: 5
`;
}

const example = (value: number): string =>
  value === 0
    ? '  # or { type: normal, mean: 0, std_dev: 1 }'
    : `  # or { type: normal, mean: ${value}, std_dev: ${Number((Math.abs(value) / 20).toPrecision(3))} }`;

async function report(entrypoint: string, output: string, { inputs, runs_under_simbatch: runs }: Found): Promise<void> {
  const [first] = inputs;
  const from = first === undefined ? '' : ` from ${ORIGINS[first.origin]}`;
  await writeLine(`${output}: ${plural(inputs.length, 'input')}${from}, all fixed`);
  if (first === undefined)
    note(
      `no input was found in ${entrypoint}: simbatch looks for ${Object.values(ORIGINS).join(', ')}; add inputs to the file by hand`,
    );
  if (!runs) {
    note(
      `${entrypoint} does not read its parameters from a run yet: take them from simbatch.run(), see docs/simulation-authors.md`,
    );
  }
  await writeLine(`next: simbatch try ${output} --run 0 --entrypoint ${entrypoint}`);
}
