/** Which runs of a study count as failing and which as passing, by the user's choice. */
import { closestMatch } from '../../base/text/closest-match.ts';
import { normalizeMessage } from '../../domain/runs/failure-groups.ts';
import { failurePatterns } from '../failure-patterns.ts';
import type { Requirement } from '../../contract/types.ts';
import { outcomeReader, parseRequirement } from '../requirements/requirement.ts';
import { CLASS_CODES, RUN_CLASSES, type RunClass } from '../table/run-class.ts';
import { type RunTable, classOf } from '../table/run-table.ts';
import { evaluateWhere } from '../where/evaluate.ts';
import { parseWhere } from '../where/parse.ts';
import { shortForm } from '../where/short-forms.ts';
import { whereColumns } from '../where/table-columns.ts';
import { FAILING, IN_NEITHER, PASSING } from './attribution.ts';

/** The default choice: ended early, crashed or timed out against completed. */
export const FAILED = 'failed';
const FAILED_CLASSES: ReadonlySet<RunClass> = new Set(['terminated', 'crashed', 'timeout']);
/** Classes of runs that are in neither group, whatever the user chooses. */
const NEITHER: ReadonlySet<RunClass> = new Set(['cancelled', 'lost', 'open']);
/** The classes that can be chosen. */
const CLASSES = RUN_CLASSES.filter((name) => name !== 'ok' && !NEITHER.has(name));

/**
 * The group of each run. `failing` is `failed`, a failure class, the name of a requirement, the id of a failure pattern, or a `where`
 * expression, in this order of precedence. Against them: completed runs; of a requirement, those that pass it; of a `where`, those
 * for which its negation is true. Cancelled, lost and open runs are in neither group.
 * @throws RangeError when the choice is none of these; WhereError when it is an expression that cannot be used.
 */
export function failingGroups(
  table: RunTable,
  failing: string = FAILED,
  requirements: readonly Requirement[] = [],
): Int8Array<ArrayBuffer> {
  if (failing === FAILED) return groupsBy(table, (name) => FAILED_CLASSES.has(name));
  if (CLASSES.some((it) => it === failing)) return groupsBy(table, (name) => name === failing);
  const requirement = requirements.find((it) => it.name === failing);
  if (requirement !== undefined) return requirementGroups(table, requirement, requirements);
  const pattern = failurePatterns(table).find((it) => it.id === failing);
  if (pattern !== undefined) {
    const code = table.patterns.values.indexOf(normalizeMessage(pattern.pattern));
    return groupsBy(table, (name, row) => name === pattern.class && table.patterns.codes[row] === code);
  }
  const isWord = /^[^\s()=!<>,'"]*$/.test(failing);
  if (isWord && shortForm(failing, 1) === undefined) throw unknownChoice(failing, requirements);
  return whereGroups(table, failing);
}

/** Groups the runs that `fails` selects against the completed runs. */
function groupsBy(table: RunTable, fails: (name: RunClass, row: number) => boolean): Int8Array<ArrayBuffer> {
  return Int8Array.from({ length: table.rows }, (_, row) => {
    const name = classOf(table, row);
    if (fails(name, row)) return FAILING;
    return name === 'ok' ? PASSING : IN_NEITHER;
  });
}

function requirementGroups(
  table: RunTable,
  requirement: Requirement,
  requirements: readonly Requirement[],
): Int8Array<ArrayBuffer> {
  const parsed = parseRequirement(requirement, requirements);
  if (typeof parsed === 'string') throw new RangeError(`requirement "${requirement.name}" is not usable: ${parsed}`);
  const outcomeOf = outcomeReader(table, parsed);
  return Int8Array.from({ length: table.rows }, (_, row) => {
    const outcome = outcomeOf(row);
    if (outcome === 'fail') return FAILING;
    return outcome === 'pass' ? PASSING : IN_NEITHER;
  });
}

function whereGroups(table: RunTable, where: string): Int8Array<ArrayBuffer> {
  const expression = parseWhere(where);
  const columns = whereColumns(table);
  const selected = evaluateWhere(expression, columns, table.rows);
  const others = evaluateWhere({ kind: 'not', term: expression }, columns, table.rows);
  return Int8Array.from({ length: table.rows }, (_, row) => {
    if (NEITHER.has(classOf(table, row))) return IN_NEITHER;
    if (selected[row] === 1) return FAILING;
    return others[row] === 1 && table.classes[row] === CLASS_CODES.ok ? PASSING : IN_NEITHER;
  });
}

function unknownChoice(failing: string, requirements: readonly Requirement[]): RangeError {
  const names = [FAILED, ...CLASSES, ...requirements.map((it) => it.name)];
  const nearest = closestMatch(failing, names);
  const remedy =
    nearest === undefined
      ? `give one of ${names.join(', ')}, the id of a failure pattern, or a condition such as "outputs.miss_m > 50"`
      : `did you mean "${nearest}"?`;
  return new RangeError(
    `failing runs not chosen: "${failing}" is not a class, requirement or failure pattern; ${remedy}`,
  );
}
