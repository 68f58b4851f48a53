/**
 * Everything that can be said of a study file without a coordinator: its faults with line and column, or the study ready to
 * be submitted together with what will probably mislead.
 */
import { isJsonObject } from '../../base/json/json-object.ts';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { BatchConfig, BatchSubmission, Fault } from '../../contract/types.ts';
import { studyFaults } from '../../http/request/study-faults.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { plural } from '../terminal/format.ts';
import { readColumns } from './study-columns.ts';
import { takeDefaults, takeMethodName, type TakenDefault } from './study-defaults.ts';
import { readStudyText, type FileFault, type StudyText } from './study-file.ts';

/** The coordinator takes no larger body either. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface CheckedStudy {
  submission: BatchSubmission;
  /** The members that the file leaves out. */
  defaults: readonly TakenDefault[];
  /** A member as the user wrote it: `file:line:column: pointer`, or the option that took its place. */
  named: (pointer: string) => string;
}

/** An option by which the user caps the runs, in place of the file's `runs_override`. */
export interface RunsOption {
  /** The option as it is typed, e.g. `--runs`. */
  option: string;
  runs: number | undefined;
}

/** @throws Failure with a line `file:line:column: pointer detail` for every fault. */
export async function loadStudy(file: string, override?: RunsOption): Promise<CheckedStudy> {
  const source = file === '-' ? '<stdin>' : file;
  const text = readStudyText(await readTextFile(file));
  const columnFaults = await readColumns(text.value, file === '-' ? process.cwd() : dirname(file));
  const study = checkStudy(text, override?.runs, columnFaults);
  if (study.faults.length > 0) {
    const lines = study.faults.map((fault) => `  ${source}:${fault.line}:${fault.column}: ${faultText(fault)}`);
    throw new Failure(EXIT.invalid, `${source} has ${plural(lines.length, 'fault')}`, lines);
  }
  const named = (pointer: string): string => {
    if (pointer === '/runs_override' && override?.runs !== undefined) return override.option;
    const { line, column } = study.text.place(pointer);
    return `${source}:${line}:${column}: ${pointer || '/'}`;
  };
  return { submission: study.text.value as BatchSubmission, defaults: study.defaults, named };
}

interface CheckedText {
  text: StudyText;
  faults: FileFault[];
  /** The members that the text leaves out. */
  defaults: TakenDefault[];
}

/** All faults of the text, in the order of the text; `runsOverride` takes the place of the text's own. */
export function checkStudyText(text: string, runsOverride?: number): CheckedText {
  return checkStudy(readStudyText(text), runsOverride, []);
}

/** `columnFaults`: those of the columns that distributions name, in place of other faults of the same distribution. */
function checkStudy(study: StudyText, runsOverride: number | undefined, columnFaults: readonly Fault[]): CheckedText {
  if (study.faults.length > 0) return { text: study, faults: study.faults, defaults: [] };
  const value = study.value;
  takeMethodName(value);
  const defaults = takeDefaults(value);
  if (runsOverride !== undefined && isJsonObject(value)) {
    (value as Partial<BatchSubmission>).runs_override = runsOverride;
  }
  const unread = columnFaults.map(({ pointer }) => pointer.slice(0, pointer.lastIndexOf('/')));
  const others = studyFaults(value).filter(({ pointer }) => !unread.some((it) => isWithin(pointer, it)));
  const faults = [...columnFaults, ...others].map((fault): FileFault => {
    const ofName = fault.detail.startsWith('is not known');
    return { ...study.place(fault.pointer, ofName), pointer: fault.pointer, detail: fault.detail + hint(fault, study) };
  });
  return { text: study, defaults, faults: faults.sort((a, b) => a.line - b.line || a.column - b.column) };
}

const isWithin = (pointer: string, outer: string): boolean => pointer === outer || pointer.startsWith(`${outer}/`);

/** Returns a hint for the most common mistakes in YAML. */
function hint(fault: Fault, study: StudyText): string {
  const written = study.written(fault.pointer);
  if (written === undefined) return '';
  if (/must be true or false/.test(fault.detail) && /^(y|yes|on|n|no|off)$/i.test(written)) {
    const meant = /^(y|yes|on)$/i.test(written) ? 'true' : 'false';
    return ` (YAML 1.2 reads ${written} as text: write ${meant})`;
  }
  if (/must be a string/.test(fault.detail)) return ` (put it in quotes: "${written}")`;
  if (
    /must be (an integer|a finite number)/.test(fault.detail) &&
    /^[-+]?[\d_.,]+$/.test(written) &&
    /[_,]/.test(written)
  ) {
    return ' (digits only: no separators)';
  }
  return '';
}

const faultText = (fault: FileFault): string =>
  fault.pointer === undefined ? fault.detail : `${fault.pointer || '/'} ${fault.detail}`;

/** @throws Failure when the file cannot be read, is too large, or is not UTF-8 text. `-` is standard input. */
export async function readTextFile(file: string, maxBytes = MAX_BYTES): Promise<string> {
  const bytes = file === '-' ? await readStdin(maxBytes) : await readBounded(file, maxBytes);
  if (bytes.length > maxBytes) throw tooLarge(file, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure(EXIT.invalid, `${file}: is not UTF-8 text`);
  }
}

async function readBounded(file: string, maxBytes: number): Promise<Uint8Array> {
  const { size, isDirectory } = await statOf(file);
  if (isDirectory) throw new Failure(EXIT.missing, `${file}: is a directory, not a file`);
  if (size > maxBytes) throw tooLarge(file, maxBytes);
  return readFile(file);
}

async function statOf(file: string): Promise<{ size: number; isDirectory: boolean }> {
  const found = await stat(file);
  return { size: found.size, isDirectory: found.isDirectory() };
}

async function readStdin(maxBytes: number): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) throw tooLarge('-', maxBytes);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const tooLarge = (file: string, maxBytes: number): Failure =>
  new Failure(EXIT.invalid, `${file}: is larger than ${maxBytes / 1024 / 1024} MiB`);

/** @throws Failure for an adaptive study, whose parameters follow from its rounds */
export function requireDrawn({ adaptive }: Pick<BatchConfig, 'adaptive'>): void {
  if (adaptive === undefined) return;
  throw new Failure(
    EXIT.usage,
    'the study is adaptive: its parameters are known when its rounds are appended; submit it, then append a round',
  );
}
