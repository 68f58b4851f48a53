/** Subjects that are text with numbers in it: input files of a program, and scripts whose inputs are assigned in their source. */
import { basename, dirname, extname } from 'node:path';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { readTextFile } from '../../study/check-study.ts';
import { programAdapter } from '../adapter-text.ts';
import { hereWords, shownCommand } from './command-line.ts';
import {
  namesOf,
  numbersOfAssignments,
  numbersOfYaml,
  type AssignmentSyntax,
  type PlacedNumber,
} from './numbers-in-text.ts';
import { MOST_INPUTS, plainName, type FoundInput, type Place, type Subject } from '../subject.ts';

const MOST_BYTES = 1024 * 1024;

interface Format {
  kind: string;
  numbers: (text: string) => PlacedNumber[];
  /** Scripts: the interpreter, in front of the run's copy of the script. */
  command?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** A whole number stays one: the language reads no other there. */
  keepsWhole?: boolean;
}

const assignments =
  (syntax: AssignmentSyntax) =>
  (text: string): PlacedNumber[] =>
    numbersOfAssignments(text, syntax);
const SECTION = /^\s*\[+([^\]]+)\]+/;
const INI = assignments({ comment: [';', '#'], section: SECTION, several: false });
const NAMELIST = assignments({ comment: ['!'], section: /^\s*&(\w+)/, several: true });
const TEXT = assignments({ comment: ['#', '!', ';', '//', '%'], section: SECTION, several: false });
const OCTAVE = assignments({ comment: ['%', '#'], several: false });

/** Formats by the extension of the file. */
const FORMATS: Readonly<Record<string, Format>> = {
  '.json': { kind: 'JSON', numbers: numbersOfYaml },
  '.yaml': { kind: 'YAML', numbers: numbersOfYaml },
  '.yml': { kind: 'YAML', numbers: numbersOfYaml },
  '.toml': { kind: 'TOML', numbers: assignments({ comment: ['#'], section: SECTION, several: false }) },
  '.ini': { kind: 'INI', numbers: INI },
  '.cfg': { kind: 'INI', numbers: INI },
  '.conf': { kind: 'INI', numbers: INI },
  '.nml': { kind: 'namelist', numbers: NAMELIST, keepsWhole: true },
  '.namelist': { kind: 'namelist', numbers: NAMELIST, keepsWhole: true },
  ...Object.fromEntries(['.inp', '.in', '.dat', '.txt'].map((it) => [it, { kind: 'text', numbers: TEXT }])),
  '.m': {
    kind: 'Octave',
    numbers: OCTAVE,
    command: ['octave-cli', '--quiet', '--no-init-file'],
    environment: { OCTAVE_PATH: 'HERE' },
  },
};

export const isInputFile = (file: string): boolean => Object.hasOwn(FORMATS, extname(file).toLowerCase());

/** @param command words of the program that reads the file, with `{file}` where it takes the path; empty for scripts */
export async function inputFileSubject(file: string, command: readonly string[], isInPlace: boolean): Promise<Subject> {
  const format = FORMATS[extname(file).toLowerCase()] as Format;
  const program = command.length > 0 ? command : format.command === undefined ? [] : [...format.command, '{file}'];
  if (program.length === 0)
    throw new Failure(
      EXIT.usage,
      `which program reads ${file}? write its command after the file: simbatch init ${file} -- ./sim {file}`,
    );
  if (isInPlace && !program.some((word) => word.includes('{file}')))
    throw new Failure(
      EXIT.usage,
      `with --in-place the program needs the path of its input file: write {file} in the command`,
    );
  const text = await readTextFile(file, MOST_BYTES);
  const numbers = readNumbers(file, format, text);
  return textSubject(file, {
    from: format.command === undefined ? `the ${format.kind} file` : 'the numbers assigned in the script',
    numbers: namesOf(numbers).map((name, index) => ({ name, ...(numbers[index] as PlacedNumber) })),
    keepsWhole: format.keepsWhole ?? false,
    program,
    environment: format.environment ?? {},
    isInPlace,
  });
}

function readNumbers(file: string, { numbers, kind }: Format, text: string): PlacedNumber[] {
  try {
    return numbers(text);
  } catch (error) {
    throw new Failure(EXIT.invalid, `${file} is not ${kind}: ${(error as Error).message}`);
  }
}

interface TextRun {
  from: string;
  numbers: readonly { name: string; value: number; place: Place }[];
  keepsWhole: boolean;
  program: readonly string[];
  environment: Readonly<Record<string, string>>;
  isInPlace: boolean;
}

/** The subject of a text file whose copy gets the numbers of each run. */
export function textSubject(file: string, found: TextRun): Subject {
  const unique = [...new Map(found.numbers.map((it) => [it.name, it])).values()];
  const numbers = unique.slice(0, MOST_INPUTS);
  const repeated = found.numbers.length - unique.length;
  const inputs = numbers.map(({ name, value, place }): FoundInput => ({
    name,
    value,
    whole: found.keepsWhole && /^[-+]?\d+$/.test(place[2]),
  }));
  const folder = dirname(file);
  const stem = plainName(basename(file, extname(file)));
  const values: Record<string, string> = {};
  return {
    name: stem,
    folder,
    from: found.from,
    inputs,
    adapter: {
      name: `${stem}.run.mjs`,
      text: () =>
        programAdapter({
          subject: shownCommand(found.program, basename(file)),
          command: found.program,
          here: hereWords(found.program, folder),
          inputs: inputs.map((it) => it.name),
          whole: inputs.filter((it) => it.whole).map((it) => it.name),
          values,
          file: {
            name: basename(file),
            places: Object.fromEntries(numbers.map(({ name, place }) => [name, place])),
          },
          environment: found.environment,
          folder: found.isInPlace ? 'here' : 'run',
        }),
    },
    notes: [
      ...(unique.length > MOST_INPUTS
        ? [`the first ${MOST_INPUTS} of ${unique.length} numbers are inputs; the others stay as they are`]
        : []),
      ...(repeated > 0
        ? [`${repeated} numbers have the name of another one: the last one of each name is the input`]
        : []),
    ],
  };
}
