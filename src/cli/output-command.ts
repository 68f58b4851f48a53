/** A command with results: `--format FORMAT` and `--file FILE` mean the same in all of them. */
import { extname } from 'node:path';
import { Command, Option } from 'commander';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';
import { intoFile } from './terminal/destination.ts';

const FORMAT_OF_EXTENSION: Readonly<Record<string, string>> = {
  '.txt': 'table',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.parquet': 'parquet',
  '.arrow': 'arrow',
  '.arrows': 'arrow',
  '.html': 'html',
  '.htm': 'html',
  '.yaml': 'yaml',
  '.yml': 'yaml',
};

/** Formats that a terminal cannot show. */
const BINARY: ReadonlySet<string> = new Set(['parquet', 'arrow']);

/** The format and the file that the options of a command mean. */
export interface Place {
  format: string;
  file: string | undefined;
}

interface Given {
  formats: readonly string[];
  /** The values of `--format`, `--file` and, where no output is named by it, `--output`. */
  format: string | undefined;
  file: string | undefined;
  output?: string | undefined;
  isTerminal: boolean;
}

/**
 * `--format` decides the format, else the extension of the file, else the first format. `-f runs.csv` is short for `-o runs.csv`, and
 * `-o json` and `--output json`, the former names, for `-f json`: a value is a format where it is the name of one.
 * @throws Failure when a format is unknown or given twice, or is not for a terminal
 */
export function placeOf({ formats, isTerminal, ...given }: Given): Place {
  const values = Object.entries(given).filter((it): it is [string, string] => it[1] !== undefined);
  const named = new Set(values.flatMap(([, it]) => (formats.includes(it) ? [it] : [])));
  const files = values.filter(([, it]) => !formats.includes(it));
  const wrong = files.find(([option, it]) => option !== 'file' && (files.length > 1 || !/[./]/.test(it)));
  if (wrong !== undefined)
    throw new Failure(EXIT.usage, `--${wrong.join(' ')} is not a format of this command: give ${formats.join(', ')}`);
  const [format, other] = named;
  if (other !== undefined)
    throw new Failure(EXIT.usage, `the format is given twice: ${[...named].join(' and ')}; give one`);
  const file = files[0]?.[1];
  const chosen = format ?? (file === undefined ? formats[0] : formatOf(file, formats)) ?? 'table';
  if (BINARY.has(chosen) && file === undefined && isTerminal)
    throw new Failure(
      EXIT.usage,
      `${chosen === 'parquet' ? 'Parquet' : 'Arrow'} is binary and not for a terminal: give -o FILE, or redirect it with > FILE`,
    );
  return { format: chosen, file: file === '-' ? undefined : file };
}

function formatOf(file: string, formats: readonly string[]): string | undefined {
  const found = FORMAT_OF_EXTENSION[extname(file).toLowerCase()];
  if (found !== undefined && formats.includes(found)) return found;
  if (formats.length === 1 || file === '-') return formats[0];
  throw new Failure(EXIT.usage, `the format of ${file} is unknown: give it with --format: ${formats.join(', ')}`);
}

/** Adds `--format` and `--file`; the action gets the format as `format`, and its results go to the file. */
export class OutputCommand extends Command {
  readonly #formats: readonly string[];
  #takesOutput = false;

  /** @param formats the values of `--format`; the first one is the default */
  constructor(name: string, formats: readonly string[] = ['table', 'json']) {
    super(name);
    this.#formats = formats;
    const format = new Option('-f, --format <format>', 'how to print').default(formats[0]);
    format.argChoices = [...formats];
    this.addOption(format).option('-o, --file <file>', 'write to this file; its extension gives the format without -f');
  }

  /** Adds `--output`, which names an output; without it the name of a format alone is taken, as `--format` was called before. */
  withOutput(description: string): this {
    this.#takesOutput = true;
    return this.addOption(new Option('--output <name>', description));
  }

  // eslint-disable-next-line typescript/no-explicit-any -- the signature of the library
  override action(work: (this: this, ...args: any[]) => void | Promise<void>): this {
    if (!this.#takesOutput) this.addOption(new Option('--output <format>', 'the former name of --format').hideHelp());
    return super.action(async function (this: OutputCommand, ...args: unknown[]) {
      const { output, file, format } = this.opts<{ output?: string; file?: string; format: string }>();
      const isName = this.#takesOutput && output !== undefined && !this.#formats.includes(output);
      const place = placeOf({
        formats: this.#formats,
        format: this.getOptionValueSource('format') === 'default' ? undefined : format,
        file,
        output: isName ? undefined : output,
        isTerminal: process.stdout.isTTY,
      });
      this.setOptionValue('format', place.format);
      this.setOptionValue('output', isName ? output : undefined);
      const act = async (): Promise<void> => work.apply(this as never, args);
      await (place.file === undefined ? act() : intoFile(place.file, act));
    });
  }
}
