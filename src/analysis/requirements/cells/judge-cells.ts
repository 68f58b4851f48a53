/**
 * A requirement in the cells of a study with scenarios. The study is met when every cell is met at the confidence: the least favourable cell
 * alone would have to be met wrongly, so no correction is needed (an intersection-union test; Berger, Technometrics 24 (1982) 295). Single
 * cells are called with the correction of Holm.
 */
import { scenarioText } from '../../../domain/scenarios/cells.ts';
import { plural } from '../../../domain/plural.ts';
import type { CellRule, CellVerdict, Requirement, Verdict } from '../../../contract/types.ts';
import { holm } from '../../numeric/holm.ts';
import type { JudgedRequirement, RequirementAnswer } from '../answer.ts';
import { oneSidedBounds } from '../bounds.ts';
import { judgeTable } from '../judge-table.ts';
import { outcomeReader, parseRequirement, type ParsedRequirement } from '../requirement.ts';
import { cellWeights, lowerMean, pooledShares, upperMean } from './pooled.ts';
import { binomialCdf, binomialSf } from '../../special/binomial.ts';
import type { RunTable, TableCells } from '../../table/run-table.ts';
import type { Warning } from '../../warning.ts';
import { requirementClaim, shareInPercent } from '../../wording.ts';
import { cellTables, groupCells } from '../../table/cell-tables.ts';
import { unfinishedWarnings } from '../../table/header.ts';
import type { CellsDecision } from './decision.ts';
import { verdictWord } from '../sentence.ts';

/** A cell with its verdict and what it is called. */
export interface JudgedCell {
  cell: number;
  answer: RequirementAnswer & { verdict: Verdict };
  called: 'met' | 'violated' | null;
  /** Its open runs may yet change its verdict, or what it is called. */
  isOpen: boolean;
}

/** The requirement in every cell. @throws RangeError when the requirement is not usable */
export function judgeCells(
  table: RunTable,
  of: TableCells,
  requirement: Requirement,
  study: readonly Requirement[],
): JudgedCell[] {
  const outputs = new Set([requirement, ...study].flatMap((it) => it.output ?? []));
  const tables = cellTables(table, of, { outputs, parameters: false });
  const cells: JudgedCell[] = [];
  const limits = table.settledRows === undefined ? [] : unfinishedWarnings(table);
  const judge = (it: RunTable, one: Requirement) => judgeTable(it, one, study, limits) as JudgedCell['answer'];
  for (const it of tables) {
    const answer = judge(it, requirement);
    const { look, verdict, settled } = answer;
    const cell = cells.length;
    if (look === 'once') {
      cells.push({
        cell,
        answer,
        called: null,
        isOpen: verdict === 'open' || (verdict === 'violated' && settled !== null),
      });
      continue;
    }
    // Of runs that are judged one by one each cell is called by a test of its own at the corrected level, which holds at every number of runs.
    const strict = judge(it, corrected(requirement, answer, of.cells.count)).verdict;
    const called = strict === 'met' || strict === 'violated' ? strict : null;
    cells.push({ cell, answer, called, isOpen: verdict === 'open' || (verdict === 'violated' && strict === 'open') });
  }
  if (cells[0]?.answer.look !== 'once') return cells;
  const calls = (verdict: 'met' | 'violated', p: readonly number[]): void => {
    for (const [at, adjusted] of holm(p).entries())
      if (adjusted! <= 1 - cells[at]!.answer.confidence) cells[at]!.called = verdict;
  };
  calls(
    'met',
    cells.map(({ answer }) => tail(answer, 'met')),
  );
  calls(
    'violated',
    cells.map(({ answer }) => tail(answer, 'violated')),
  );
  return cells;
}

const corrected = (requirement: Requirement, { confidence }: RequirementAnswer, cells: number): Requirement => ({
  ...requirement,
  confidence: 1 - (1 - confidence) / cells,
});

/** The probability of counts at least as favourable to the verdict, were the truth just on its other side; 1 while runs are open. */
function tail(
  { passed, failed, unknown, probability, verdict, settled }: RequirementAnswer,
  towards: 'met' | 'violated',
): number {
  if (verdict === 'open' || settled !== null) return 1;
  const judged = passed + failed + unknown;
  return towards === 'met'
    ? binomialSf(passed - 1, judged, probability)
    : binomialCdf(passed + unknown, judged, probability);
}

/** The verdict on the study: `met` in every cell, or `violated` in a cell that is called. */
function verdictOf(cells: readonly JudgedCell[]): Verdict {
  if (cells.some(({ called }) => called === 'violated')) return 'violated';
  if (cells.every(({ answer }) => answer.verdict === 'met')) return 'met';
  return cells.some(({ isOpen }) => isOpen) ? 'open' : 'not-shown';
}

/**
 * The answer about the study, of its cells. Its bounds are those of the least share over the cells: for each cell alone, `worst` with an upper bound that
 * holds for all cells at once.
 */
export function answerOfCells(
  cells: readonly JudgedCell[],
  of: TableCells,
  rule: CellRule | undefined,
  decision: CellsDecision | null = null,
): JudgedRequirement {
  const answers = cells.map((it) => it.answer);
  const first = answers[0]!;
  const sum = (name: 'passed' | 'failed' | 'unknown' | 'judged'): number =>
    answers.reduce((all, it) => all + it[name], 0);
  const count = (is: (cell: JudgedCell) => boolean): number => cells.filter(is).length;
  const known = cells.filter(({ answer }) => answer.estimate !== null);
  const worst = known.reduce<JudgedCell | undefined>(
    (least, it) => (least === undefined || it.answer.estimate! < least.answer.estimate! ? it : least),
    undefined,
  );
  // The first decision is final, although the cells of a study that does not stop are judged further.
  const verdict = decision?.verdict ?? verdictOf(cells);
  const counts = {
    of: cells.length,
    met: count(({ answer }) => answer.verdict === 'met'),
    called_met: count(({ called }) => called === 'met'),
    violated: count(({ answer }) => answer.verdict === 'violated'),
    called_violated: count(({ called }) => called === 'violated'),
    open: count(({ answer }) => answer.verdict === 'open'),
    ...(worst === undefined ? {} : { worst: of.cells.scenarioOf(worst.cell) }),
  };
  const answer: Omit<JudgedRequirement, 'sentence'> = {
    ...first,
    passed: sum('passed'),
    failed: sum('failed'),
    unknown: sum('unknown'),
    judged: sum('judged'),
    estimate: worst?.answer.estimate ?? null,
    wilson: null,
    lower: Math.min(...answers.map((it) => it.lower)),
    upper: rule === 'worst' ? leastUpper(answers) : Math.min(...answers.map((it) => it.upper)),
    ...(rule === undefined ? {} : { in: rule }),
    verdict,
    settled: decision === null ? null : 'sequential',
    settled_at_run_id: decision?.runId ?? null,
    log_e_met: null,
    log_e_violated: null,
    more_clean_runs: null,
    needed_clean_runs: null,
    failures_left: null,
    warnings: warningsOf(cells, of),
    cells: counts,
    course: [],
  };
  return { ...answer, sentence: sentenceOf(answer, cells, of) };
}

/** The upper bound of the least share: of each cell at the corrected level. */
const leastUpper = (answers: readonly RequirementAnswer[]): number =>
  Math.min(...answers.map((it) => oneSidedBounds(it, it.look, 1 - (1 - it.confidence) / answers.length)[1]));

/** The answer about the pooled share of a requirement. @throws RangeError when the requirement is not usable */
export function answerOfPool(
  table: RunTable,
  of: TableCells,
  requirement: Requirement,
  study: readonly Requirement[],
  cells: readonly JudgedCell[],
  decision: CellsDecision | null,
): JudgedRequirement {
  const parsed = parseRequirement(requirement, study) as ParsedRequirement;
  const shares = pooledShares(table, of, cellWeights(of.cells, requirement.weights), outcomeReader(table, parsed));
  const { probability, confidence } = parsed;
  const [lower, upper] = [lowerMean(shares.least, confidence), upperMean(shares.greatest, confidence)];
  const estimate = shares.known.count === 0 ? null : shares.known.sum / shares.known.count;
  const decided = lower >= probability ? 'met' : upper < probability ? 'violated' : 'not-shown';
  const verdict = decision?.verdict ?? (shares.open > 0 ? 'open' : decided);
  const answer = { ...answerOfCells(cells, of, 'pooled', decision), estimate, lower, upper, verdict } as const;
  const claim = `${requirementClaim(answer)} with pooled probability ${shareInPercent(probability)} at ${shareInPercent(confidence)} confidence`;
  const samples = `${plural(shares.least.count, 'sample')} of ${plural(cells.length, 'cell')}`;
  const unknown = shares.least.count - shares.known.count;
  const bounds = `${verdictWord(verdict)}: ${claim}; bounds ${shareInPercent(lower)} and ${shareInPercent(upper)} from ${samples}`;
  return { ...answer, sentence: unknown === 0 ? bounds : `${bounds}, ${unknown} of them with unknown cells` };
}

const OF_ALL_CELLS: ReadonlySet<string> = new Set(['not-independent', 'settled', 'stopped']);

/** The limits of the cells, each once, with the cell where it is not that of all. */
function warningsOf(cells: readonly JudgedCell[], of: TableCells): Warning[] {
  const byCode = new Map<string, { message: string; cells: number[] }>();
  for (const { cell, answer } of cells)
    for (const { code, message } of answer.warnings) {
      const known = byCode.get(code);
      if (known === undefined) byCode.set(code, { message, cells: [cell] });
      else known.cells.push(cell);
    }
  return [...byCode].map(([code, { message, cells: its }]) => {
    const first = scenarioText(of.cells.scenarioOf(its[0]!));
    const where = its.length === 1 ? `in ${first}` : `in ${its.length} of ${cells.length} cells, such as ${first}`;
    const isOfAll = its.length === cells.length && OF_ALL_CELLS.has(code);
    return { code, message: isOfAll ? message : `${where}: ${message}` };
  });
}

/** Cells that a sentence names. */
const MOST_CELLS = 3;

function sentenceOf(answer: Omit<JudgedRequirement, 'sentence'>, cells: readonly JudgedCell[], of: TableCells): string {
  const { verdict, probability, confidence } = answer;
  const claim = `${requirementClaim(answer)} with probability ${shareInPercent(probability)} at ${shareInPercent(confidence)} confidence`;
  const named = (which: readonly JudgedCell[]): string => {
    const shown = which.slice(0, MOST_CELLS).map(({ cell }) => `(${scenarioText(of.cells.scenarioOf(cell))})`);
    return which.length > MOST_CELLS ? `${shown.join(', ')} and ${which.length - MOST_CELLS} more` : shown.join(', ');
  };
  if (verdict === 'met')
    return `met: ${claim}, in each of ${plural(cells.length, 'cell')}; least lower bound ${shareInPercent(answer.lower)}`;
  const called = cells.filter((it) => it.called === 'violated');
  if (verdict === 'violated')
    return `violated: ${claim}; not in ${called.length} of ${plural(cells.length, 'cell')}, corrected for their number: ${named(called)}`;
  const missing = cells.filter((it) => it.answer.verdict !== 'met');
  return `${verdictWord(verdict)}: ${claim}; met in ${cells.length - missing.length} of ${plural(cells.length, 'cell')}, not in ${named(missing)}`;
}

/** The rows of a table of cells: one for each combination of the levels of the axes, in the order of cells. */
export function rowsByAxes(cells: readonly JudgedCell[], of: TableCells, by: readonly string[]): CellVerdict[] {
  return groupCells(of.cells, by).map(({ scenario, cells: members }) => {
    const its = members.map((cell) => cells[cell]!);
    const answers = its.map((it) => it.answer);
    const sum = (name: 'passed' | 'failed' | 'unknown'): number => answers.reduce((all, it) => all + it[name], 0);
    const estimates = answers.flatMap(({ estimate }) => estimate ?? []);
    const calls = its.map((it) => it.called);
    return {
      scenario,
      cells: its.length,
      passed: sum('passed'),
      failed: sum('failed'),
      unknown: sum('unknown'),
      estimate: estimates.length === 0 ? null : Math.min(...estimates),
      lower: Math.min(...answers.map((it) => it.lower)),
      upper: Math.min(...answers.map((it) => it.upper)),
      verdict: groupVerdict(answers.map((it) => it.verdict)),
      called: calls.includes('violated') ? 'violated' : calls.every((it) => it === 'met') ? 'met' : null,
    };
  });
}

/** A group of cells is violated when one is, and met when all are. */
function groupVerdict(verdicts: readonly Verdict[]): Verdict {
  for (const verdict of ['violated', 'open', 'not-shown'] as const) if (verdicts.includes(verdict)) return verdict;
  return 'met';
}
