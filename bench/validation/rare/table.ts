/** The tables of the coverage of rare events. */
import type { ValidationTable } from '../tables.ts';
import { FRESH } from './fresh.ts';
import { type Line, Lines, METHODS } from './lines.ts';
import { measured, STUDIES } from './measure.ts';
import { COMPARED } from './peers.ts';
import type { Problem } from './problem.ts';
import { SHAPED } from './shaped.ts';

const share = (count: number, of: number): string => (of === 0 ? '-' : (count / of).toFixed(3));

/** The middle one of sorted values. */
function median(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? '-' : sorted[Math.floor(sorted.length / 2)]!.toFixed(2);
}

const mean = (values: readonly number[]): number => values.reduce((total, it) => total + it, 0) / values.length;

const covers = (p: number, { lower, upper }: Pick<Line, 'lower' | 'upper'>): boolean =>
  lower <= p && (upper === null || upper >= p);

/** The hulls of neighbours with an estimate, as of two studies with different seeds. */
function hullsOf(all: readonly Line[]): { lower: number; upper: number | null; areApart: boolean }[] {
  return all.flatMap((first, at) => {
    const second = all[at + 1];
    if (at % 2 === 1 || second === undefined || first.estimate === null || second.estimate === null) return [];
    const uppers = [first.upper, second.upper];
    const upper = uppers.includes(null) ? null : Math.max(first.upper!, second.upper!);
    const areApart = first.lower > (second.upper ?? 1) || second.lower > (first.upper ?? 1);
    return [{ lower: Math.min(first.lower, second.lower), upper, areApart }];
  });
}

function rowOf(lines: Lines, { name, d, p }: Problem): string[] {
  const all = lines.of({ problem: name, d, method: 'rare_event' }, STUDIES);
  const found = all.filter((it) => it.estimate !== null);
  const uppers = found.flatMap((it) => it.upper ?? []);
  const hulls = hullsOf(all);
  const count = (holds: (it: Line) => boolean): string => share(found.filter(holds).length, found.length);
  return [
    name,
    String(d),
    p.toExponential(2),
    String(all.length),
    count((it) => covers(p, it)),
    count((it) => it.lower <= p),
    count((it) => it.upper === null || it.upper >= p),
    share(hulls.filter((it) => covers(p, it)).length, hulls.length),
    share(hulls.filter((it) => it.areApart).length, hulls.length),
    found.length === 0 ? '-' : mean(found.map((it) => it.estimate! / p)).toFixed(2),
    median(found.map((it) => it.lower / p)),
    median(uppers.map((it) => it / p)),
    share(found.length - uppers.length, found.length),
    String(all.length - found.length),
    mean(all.map((it) => it.runs)).toFixed(0),
  ];
}

/** The table of all problems, or of those that were written after the method was fixed. */
function tableOf(name: string, lines: Lines, problems: readonly Problem[]): ValidationTable {
  return {
    name,
    head: [
      'problem',
      'parameters',
      'P',
      'studies',
      'covered',
      'lower holds',
      'upper holds',
      'hull of two covers',
      'two are apart',
      'mean estimate / P',
      'median lower / P',
      'median upper / P',
      'no upper bound',
      'without an estimate',
      'mean runs',
    ],
    rows: problems.map((it) => rowOf(lines, it)),
  };
}

/** The studies of the environment's file as they are; without a file all are made now. */
const studiesOf = (problems: readonly Problem[]): Lines =>
  process.env['RARE_LINES'] === undefined ? measured(problems) : new Lines(process.env['RARE_LINES']);

export const rareFresh = (): ValidationTable => tableOf('rare-fresh', studiesOf(FRESH), FRESH);
export const rareCoverage = (): ValidationTable => tableOf('rare-coverage', studiesOf(SHAPED), SHAPED);

/** Both methods of OpenTURNS beside it, as far as the environment's file has their answers. */
export function rarePeers(): ValidationTable {
  const lines = new Lines(process.env['RARE_LINES']);
  const rows = COMPARED.map(({ name, d, p }) => {
    const cells = METHODS.flatMap((method) => {
      const all = lines.of({ problem: name, d, method }, STUDIES);
      const found = all.filter((it) => it.estimate !== null);
      const bias = found.length === 0 ? '-' : mean(found.map((it) => it.estimate! / p)).toFixed(2);
      const runs = all.length === 0 ? '-' : mean(all.map((it) => it.runs)).toFixed(0);
      return [share(found.filter((it) => covers(p, it)).length, found.length), bias, runs];
    });
    const studies = Math.min(...METHODS.map((method) => lines.of({ problem: name, d, method }, STUDIES).length));
    return [name, String(d), p.toExponential(2), String(studies), ...cells];
  });
  const of = (method: string): string[] => [`${method}: covered`, 'mean estimate / P', 'mean runs'];
  return {
    name: 'rare-peers',
    head: ['problem', 'parameters', 'P', 'studies', ...of('this method'), ...of('SubsetSampling'), ...of('NAIS')],
    rows,
  };
}
