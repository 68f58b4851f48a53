/** The faults of scenarios: of their names, their levels, their sizes, and of the members of a study that they exclude. Accepts incomplete input. */
import { closestMatch } from '../../../base/text/closest-match.ts';
import { member } from '../../../base/json/member.ts';
import { pointerToken } from '../../../base/json/json-pointer.ts';
import { RUN_COLUMN_NAMES } from '../../../contract/enums.ts';
import { INT32_MAX, LIMITS } from '../../../contract/limits.ts';
import type { BatchConfig, Epistemic, Fault, Scenario, Scenarios } from '../../../contract/types.ts';
import { MAX_RANGES, countOf } from '../../runs/run-ranges.ts';
import { RunSelection, beyondDesign } from '../../runs/run-selection.ts';
import { distributionFaults, dispersionFaults } from '../../sampling/dispersions.ts';
import { axesOf, Cells, combinationsOf, levelsOf, SKIP, type Axis } from '../../scenarios/cells.ts';
import { epistemicFaults, isReadableEpistemic, scenariosOf } from '../../scenarios/epistemic.ts';
import { requirementFaults, weightlessFaults } from './requirement-faults.ts';
import { declaredDispersions, distributionOf } from '../../scenarios/overrides.ts';

const AT = '/config/scenarios';
/** Combinations before any is skipped. */
const MOST_COMBINATIONS = 100_000;
/** Pairs of a requirement and a cell. */
const MOST_JUDGED = 100_000;
/** Likewise in a study that stops when they are settled: each has tests of its own, whose state is stored. */
const MOST_STOPPING = 1_000;
/** Characters that separate axes and levels in questions. */
const SEPARATORS = /[,:=]|\p{Cc}/u;
const RESERVED: ReadonlySet<string> = new Set([...RUN_COLUMN_NAMES, SKIP]);

/** Members of a study that do not go with scenarios, and the reason. */
const EXCLUDED: readonly { path: readonly string[]; is?: (value: unknown) => boolean; why: string }[] = [
  {
    path: ['config', 'monte_carlo', 'sampling_method'],
    is: (value) => value === 'adaptive',
    why: 'is "adaptive", whose runs are appended in rounds, and scenarios have the same samples in every cell',
  },
  {
    path: ['config', 'monte_carlo', 'sampling_method'],
    is: (value) => value === 'saltelli',
    why: 'is "saltelli", whose blocks are of one scenario; submit a study for each scenario',
  },
  {
    path: ['config', 'adaptive'],
    why: 'does not go with scenarios, which have the same samples in every cell; leave one of them out',
  },
  {
    path: ['policy', 'canary'],
    why: 'is of one scenario: the nominal run of which cell is not defined; use canary_runs, which begin with the first sample of every cell',
  },
  {
    path: ['policy', 'stop_when'],
    is: (value) => value === 'precise',
    why: 'is "precise", and a half-width is that of one sample, which the runs of all cells together are not; use "settled", or submit a study for each cell',
  },
  {
    path: ['policy', 'precision'],
    why: 'is for `stop_when: precise`, which does not go with scenarios: a half-width is that of one sample; leave it out',
  },
];

/** Returns these faults of a presumed BatchSubmission; members of an undocumented shape are skipped. */
export function scenarioFaults(submission: unknown): Fault[] {
  const config = member(submission, 'config');
  const [own, epistemic] = [member(config, 'scenarios'), member(config, 'epistemic')];
  const requirements = member(submission, 'requirements');
  if (own === undefined && epistemic === undefined)
    return [...withoutScenarios(config), ...requirementFaults(requirements, [])];
  if (own !== undefined && !isReadableScenarios(own)) return [];
  if (epistemic !== undefined && !isReadableEpistemic(epistemic)) return [];
  const intervals = epistemic === undefined ? [] : epistemicFaults(epistemic, own ?? {});
  if (intervals.length > 0) return intervals;
  const scenarios = scenariosOf({ scenarios: own, epistemic })!;
  const axes = axesOf(scenarios);
  const placed = (faults: readonly Fault[]): Fault[] =>
    faults.map((it) => ({ ...it, pointer: pointerOf(it.pointer, own, epistemic) }));
  const faults = [
    ...excluded(submission),
    ...axesFaults(scenarios, axes),
    ...requirementFaults(requirements, axes, epistemic !== undefined),
  ];
  if (faults.length > 0) return placed(faults);
  const sizes = sizeFaults(scenarios, axes, submission);
  if (sizes.length > 0) return placed(sizes);
  return isDesign(config) ? placed([...overrideFaults(config, scenarios, axes), ...unionFaults(config)]) : [];
}

function withoutScenarios(config: unknown): Fault[] {
  if (member(config, 'monte_carlo', 'cell_run_ids') === undefined) return [];
  const detail = 'is for studies with scenarios, and this one has none; give run_ids';
  return [{ pointer: '/config/monte_carlo/cell_run_ids', detail }];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOverride = (it: unknown): boolean => typeof it === 'number' || typeof member(it, 'type') === 'string';

/** True for scenarios of the documented shape. */
export const isReadableScenarios = (scenarios: unknown): scenarios is Scenarios =>
  isObject(scenarios) &&
  Object.entries(scenarios).every(([name, axis]) =>
    name === SKIP
      ? Array.isArray(axis) &&
        axis.every((it) => isObject(it) && Object.values(it).every((level) => typeof level === 'string'))
      : isObject(axis) && Object.values(axis).every((it) => isObject(it) && Object.values(it).every(isOverride)),
  );

const isDesign = (config: unknown): config is BatchConfig =>
  isObject(member(config, 'dispersions')) &&
  isObject(member(config, 'monte_carlo')) &&
  Object.values(member(config, 'dispersions') as object).every(
    (it) => typeof member(it, 'distribution', 'type') === 'string',
  );

const excluded = (submission: unknown): Fault[] =>
  EXCLUDED.flatMap(({ path, is = (value) => value !== undefined && value !== null, why }) =>
    is(member(submission, ...path)) ? [{ pointer: path.map(pointerToken).join(''), detail: why }] : [],
  );

function axesFaults(scenarios: Scenarios, axes: readonly Axis[]): Fault[] {
  const faults: Fault[] = [];
  if (axes.length === 0) faults.push({ pointer: AT, detail: 'has no axis; name at least one, or leave scenarios out' });
  if (axes.length > LIMITS.axes) {
    faults.push({ pointer: AT, detail: `has ${axes.length} axes; at most ${LIMITS.axes} are allowed: take some out` });
  }
  for (const { name, levels } of axes) {
    const pointer = AT + pointerToken(name);
    const fault = nameFault(name);
    if (fault !== undefined) faults.push({ pointer, detail: fault });
    if (levels.length === 0) faults.push({ pointer, detail: 'has no level; give at least one, such as {"calm": {}}' });
    const level = levels.find((it) => it === '' || !it.isWellFormed());
    if (level !== undefined)
      faults.push({
        pointer: pointer + pointerToken(level),
        detail: 'the name of a level must be valid Unicode, and not empty',
      });
  }
  return [...faults, ...skipFaults((scenarios[SKIP] ?? []) as Scenario[], axes)];
}

function nameFault(name: string): string | undefined {
  if (RESERVED.has(name) || name.startsWith('parameters.') || name.startsWith('outputs.'))
    return `the name is that of a column of the table of runs; choose another name than "${name}"`;
  if (name === '' || !name.isWellFormed()) return 'the name of an axis must be valid Unicode, and not empty';
  if (SEPARATORS.test(name))
    return 'the name of an axis has none of `,`, `:`, `=` and control characters; choose another name';
  return undefined;
}

function skipFaults(skip: readonly Scenario[], axes: readonly Axis[]): Fault[] {
  const faults: Fault[] = [];
  for (const [index, entry] of skip.entries()) {
    const pointer = `${AT}/${SKIP}/${index}`;
    if (Object.keys(entry).length === 0)
      faults.push({ pointer, detail: 'names no level, so that every cell would be skipped; name at least one' });
    for (const [name, level] of Object.entries(entry)) {
      const axis = axes.find((it) => it.name === name);
      const at = pointer + pointerToken(name);
      if (axis === undefined)
        faults.push({
          pointer: at,
          detail: `is not an axis of this study${nearest(
            name,
            axes.map((it) => it.name),
          )}`,
        });
      else if (!axis.levels.includes(level))
        faults.push({
          pointer: at,
          detail: `is ${JSON.stringify(level)}, which is not a level of ${name}${nearest(level, axis.levels)}`,
        });
    }
  }
  return faults;
}

/** Most names that a remedy lists. */
const LISTED = 20;

function nearest(name: string, names: readonly string[]): string {
  const near = closestMatch(name, names);
  if (near !== undefined) return `; did you mean ${JSON.stringify(near)}?`;
  const more = names.length > LISTED ? `, and ${names.length - LISTED} more` : '';
  return `; name one of ${names.slice(0, LISTED).join(', ')}${more}`;
}

/** The faults of the number of cells and of runs. */
function sizeFaults(scenarios: Scenarios, axes: readonly Axis[], submission: unknown): Fault[] {
  const combinations = combinationsOf(axes);
  const tooMany = (count: number): Fault[] => [
    {
      pointer: AT,
      detail: `has ${count} cells; at most ${LIMITS.cells} are allowed: take levels or axes out, or skip cells`,
    },
  ];
  if (combinations > MOST_COMBINATIONS) return tooMany(combinations);
  const cells = new Cells(scenarios);
  const { count } = cells;
  if (count > LIMITS.cells) return tooMany(count);
  if (count === 0) return [{ pointer: `${AT}/${SKIP}`, detail: 'skips every cell; leave at least one' }];
  const requirements = member(submission, 'requirements');
  if (Array.isArray(requirements) && requirements.length * count > MOST_JUDGED) {
    const detail = `has ${requirements.length} requirements in each of ${count} cells; at most ${MOST_JUDGED} pairs are judged: take requirements or levels out`;
    return [{ pointer: '/requirements', detail }];
  }
  const isStopping = member(submission, 'policy', 'stop_when') !== undefined;
  if (isStopping && Array.isArray(requirements) && requirements.length * count > MOST_STOPPING) {
    const detail = `is for at most ${MOST_STOPPING} pairs of a requirement and a cell; ${requirements.length} in each of ${count} cells are ${requirements.length * count}: leave it out, or take requirements or levels out`;
    return [{ pointer: '/policy/stop_when', detail }];
  }
  const weightless = weightlessFaults(requirements, cells);
  if (weightless.length > 0) return weightless;
  const monteCarlo = member(submission, 'config', 'monte_carlo');
  const runs = member(monteCarlo, 'runs');
  if (typeof runs !== 'number') return [];
  if (runs * count > INT32_MAX) {
    const detail = `is ${runs} in each of ${count} cells, ${runs * count} runs; a study has at most ${INT32_MAX}`;
    return [{ pointer: '/config/monte_carlo/runs', detail }];
  }
  return selectionFaults(monteCarlo, runs, count);
}

function selectionFaults(monteCarlo: unknown, runs: number, cells: number): Fault[] {
  const pointer = '/config/monte_carlo/cell_run_ids';
  const samples = member(monteCarlo, 'run_ids');
  const selected = typeof samples === 'string' ? RunSelection.parse(samples) : '';
  // Samples at a distance are a range of runs each.
  const parts =
    typeof selected === 'string' ? 0 : selected.ranges.reduce((sum, it) => sum + (it.step === 1 ? 1 : countOf(it)), 0);
  if (parts > MAX_RANGES)
    return [
      {
        pointer: '/config/monte_carlo/run_ids',
        detail: `selects ${parts} single samples; with scenarios at most ${MAX_RANGES}`,
      },
    ];
  const runIds = member(monteCarlo, 'cell_run_ids');
  if (typeof runIds !== 'string') return [];
  if (typeof member(monteCarlo, 'run_ids') === 'string')
    return [{ pointer, detail: 'is given beside run_ids; give one of the two' }];
  const selection = RunSelection.parse(runIds);
  const detail = typeof selection === 'string' ? selection : beyondDesign(selection, runs * cells);
  return detail === undefined ? [] : [{ pointer, detail }];
}

/** The pointer of a fault, whose axis may be an epistemic input. */
function pointerOf(pointer: string, own: Scenarios | undefined, epistemic: Epistemic = {}): string {
  const name = Object.keys(epistemic).find((it) => `${pointer}/`.startsWith(`${AT}${pointerToken(it)}/`));
  if (name !== undefined) return `/config/epistemic${pointerToken(name)}`;
  return own === undefined && pointer === AT ? '/config/epistemic' : pointer;
}

/** The faults of what levels make of inputs, each alone. */
function overrideFaults(config: BatchConfig, scenarios: Scenarios, axes: readonly Axis[]): Fault[] {
  const faults: Fault[] = [];
  const owners = new Map<string, string>();
  const correlated = new Set((config.correlations ?? []).flatMap((it) => it.parameters));
  for (const { name: axis } of axes) {
    for (const [level, overrides] of Object.entries(levelsOf(scenarios, axis))) {
      for (const [parameter, override] of Object.entries(overrides)) {
        const pointer = AT + [axis, level, parameter].map(pointerToken).join('');
        const owner = owners.get(parameter) ?? axis;
        owners.set(parameter, owner);
        if (owner !== axis) {
          const detail = `replaces ${JSON.stringify(parameter)}, as the axis ${owner} does; one axis replaces a parameter`;
          faults.push({ pointer, detail });
        }
        const distribution = distributionOf(override);
        if (correlated.has(parameter) && (distribution.type === 'fixed' || distribution.type === 'table')) {
          faults.push({
            pointer,
            detail: 'is of a correlated parameter, which needs a random number in every cell; give a distribution',
          });
        }
        if (distribution.type === 'chosen')
          faults.push({
            pointer: `${pointer}/type`,
            detail: 'is "chosen", which only an adaptive study has; give a distribution',
          });
        else if (typeof override !== 'number')
          faults.push(...distributionFaults(distribution, config.monte_carlo.runs, pointer));
      }
    }
  }
  return faults;
}

/** The faults of the parameters of all cells together: names that levels add, and their number. */
function unionFaults(config: BatchConfig): Fault[] {
  const { dispersions, monte_carlo } = config;
  const union = declaredDispersions(config);
  const names = Object.keys(union);
  if (names.length > LIMITS.dispersions) {
    const detail = `has ${names.length} parameters with those of the study; at most ${LIMITS.dispersions} are allowed`;
    return [{ pointer: AT, detail }];
  }
  const added = Object.fromEntries(Object.entries(union).filter(([name]) => !Object.hasOwn(dispersions, name)));
  const faults = dispersionFaults({ dispersions: union, monte_carlo }).filter(
    ({ pointer }) => pointer === '/config/dispersions',
  );
  const ofNames = dispersionFaults({ dispersions: added, monte_carlo }).filter(({ detail }) =>
    detail.startsWith('the name'),
  );
  return [
    ...faults,
    ...ofNames.map(({ pointer, detail }) => ({ pointer: pointer.replace('/config/dispersions', AT), detail })),
  ];
}
