/** A command with results: `--output FORMAT` and `--file FILE` mean the same in all of them. */
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
  /** The value of `--format`, the former name of `--output`. */
  former?: string | undefined;
  /** The value of `--output`, where it is given. */
  output: string | undefined;
  file: string | undefined;
  isTerminal: boolean;
}

/**
 * `--output` decides the format, else the extension of the file, else the first format. `-o runs.csv` is short for `--file runs.csv`.
 * @throws Failure when a format is unknown, or is not for a terminal
 */
export function placeOf({ formats, output, former, file, isTerminal }: Given): Place {
  if (former !== undefined) return placeOfFormer({ formats, output, former, file, isTerminal });
  const isFormat = output !== undefined && formats.includes(output);
  if (output !== undefined && !isFormat) {
    const isFile = file === undefined && /[./]/.test(output);
    if (!isFile)
      throw new Failure(EXIT.usage, `--output ${output} is not a format of this command: give ${formats.join(', ')}`);
    return placeOf({ formats, output: undefined, file: output, isTerminal });
  }
  const format = output ?? (file === undefined ? formats[0] : formatOf(file, formats)) ?? 'table';
  if (BINARY.has(format) && file === undefined && isTerminal)
    throw new Failure(
      EXIT.usage,
      `${format === 'parquet' ? 'Parquet' : 'Arrow'} is binary and not for a terminal: give --file FILE, or redirect it with > FILE`,
    );
  return { format, file: file === '-' ? undefined : file };
}

/** With `--format`, `--output` was the file. */
function placeOfFormer({ output, former, ...rest }: Given): Place {
  if (output !== undefined && rest.formats.includes(output) && output !== former)
    throw new Failure(EXIT.usage, `the format is given twice: ${former} and ${output}; give one`);
  return placeOf({ ...rest, output: former, file: output === undefined || output === former ? rest.file : output });
}

function formatOf(file: string, formats: readonly string[]): string | undefined {
  const found = FORMAT_OF_EXTENSION[extname(file).toLowerCase()];
  if (found !== undefined && formats.includes(found)) return found;
  if (formats.length === 1 || file === '-') return formats[0];
  throw new Failure(EXIT.usage, `the format of ${file} is unknown: give it with --output: ${formats.join(', ')}`);
}

/** Adds `--output` and `--file`; the action gets the format as `output`, and its results go to the file. */
export class OutputCommand extends Command {
  readonly #formats: readonly string[];

  /** @param formats the values of `--output`; the first one is the default */
  constructor(name: string, formats: readonly string[] = ['table', 'json']) {
    super(name);
    this.#formats = formats;
    const output = new Option('-o, --output <format>', 'how to print').default(formats[0]);
    output.argChoices = [...formats];
    this.addOption(output).option('-f, --file <file>', 'write to this file; its extension gives the format without -o');
  }

  /** Adds the hidden `--format`, the former name of `--output`. */
  withFormerFormat(): this {
    return this.addOption(new Option('--format <format>', 'the former name of --output').hideHelp());
  }

  // eslint-disable-next-line typescript/no-explicit-any -- the signature of the library
  override action(work: (this: this, ...args: any[]) => void | Promise<void>): this {
    return super.action(async function (this: OutputCommand, ...args: unknown[]) {
      const { output, file, format } = this.opts<{ output: string; file?: string; format?: string }>();
      const place = placeOf({
        formats: this.#formats,
        output: this.getOptionValueSource('output') === 'default' ? undefined : output,
        former: format,
        file,
        isTerminal: process.stdout.isTTY,
      });
      this.setOptionValue('output', place.format);
      const act = async (): Promise<void> => work.apply(this as never, args);
      await (place.file === undefined ? act() : intoFile(place.file, act));
    });
  }
}
