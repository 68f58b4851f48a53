/**
 * Which parameters runs have looked up. In records it is a bit for each parameter of the study, so that a run costs a few bytes whatever
 * its parameters are called. Pure.
 */
import type { DispersionConfig, LookUpTally } from '../../contract/types.ts';

/** The names that a run has looked up, as runners report them and as results have them. */
export type ParametersRead = 'all' | string[];

/** The look-ups of a run as the coordinator keeps them. */
export interface LookUps {
  /** As `encodeRead` makes it. */
  read: string;
  /** Names that were asked for and are not parameters of the study. */
  asked?: readonly string[];
}

/** Completed runs with known look-ups from which a parameter that none of them has looked up counts as never read. */
export const LEAST_RUNS = 3;
/** Names that a study keeps of those that its runs asked for. */
const MOST_ASKED = 16;
const BITS = 4;
const HEXADECIMAL = 16;

/**
 * Returns the text of a record: empty for all, else a hexadecimal digit for four parameters, in the order of `names`; a name that is
 * not among them is left out.
 */
export function encodeRead(names: readonly string[], read: ParametersRead): string {
  if (read === 'all') return '';
  const known = new Set(read);
  const digits = Array.from({ length: Math.ceil(names.length / BITS) }, () => 0);
  let missing = 0;
  for (const [at, name] of names.entries()) {
    if (known.has(name)) digits[Math.floor(at / BITS)]! |= 1 << (at % BITS);
    else missing += 1;
  }
  return missing === 0 ? '' : digits.map((it) => it.toString(HEXADECIMAL)).join('');
}

const isSet = (text: string, at: number): boolean =>
  text === '' || ((Number.parseInt(text[Math.floor(at / BITS)] ?? '0', HEXADECIMAL) >> (at % BITS)) & 1) === 1;

/** The names of a text that `encodeRead` has made of the same `names`. */
export const decodeRead = (names: readonly string[], text: string): ParametersRead =>
  text === '' ? 'all' : names.filter((_, at) => isSet(text, at));

/** The text of the names that one or the other has. */
function union(one: string, other: string): string {
  if (one === other) return one;
  if (one === '' || other === '') return '';
  return Array.from(one, (digit, at) =>
    (Number.parseInt(digit, HEXADECIMAL) | Number.parseInt(other[at] ?? '0', HEXADECIMAL)).toString(HEXADECIMAL),
  ).join('');
}

/** The tally with one more completed run. */
export function addLookUps(tally: LookUpTally | undefined, { read, asked = [] }: LookUps): LookUpTally {
  if (tally === undefined) return { runs: 1, read, asked: asked.slice(0, MOST_ASKED) };
  const more = asked.filter((name) => !tally.asked.includes(name));
  return {
    runs: tally.runs + 1,
    read: union(tally.read, read),
    asked: more.length === 0 ? tally.asked : [...tally.asked, ...more].slice(0, MOST_ASKED),
  };
}

/** Whether a parameter was looked up by a run of the study: `unknown` while too few runs have reported theirs. */
export type InputRead = 'read' | 'never' | 'unknown';

/** Whether each dispersed parameter of a study was looked up, in the order of `names`, which are all its parameters. */
export function inputsRead(
  dispersions: Readonly<Record<string, DispersionConfig>>,
  names: readonly string[],
  tally: LookUpTally | undefined,
): { name: string; read: InputRead }[] {
  const unread: InputRead = tally === undefined || tally.runs < LEAST_RUNS ? 'unknown' : 'never';
  const readOf = (at: number): InputRead => (tally !== undefined && isSet(tally.read, at) ? 'read' : unread);
  return names
    .map((name, at) => ({ name, read: readOf(at) }))
    .filter(({ name }) => dispersions[name]?.distribution.type !== 'fixed');
}
