/** The engines of a runner: which there are, and the settings that each may have of its own. */
import { closestMatch } from '../../base/text/closest-match.ts';
import { boolean, codePatterns, ENGINE_NAME, entrypoint as entrypointOf, list, modules, Unfit } from './values.ts';
import type { FieldName } from './fields.ts';
import type { Given } from './values.ts';

/** A simulation this runner can execute: the name is matched against `simulation.name`, `*` matches every name. */
export interface Engine {
  name: string;
  /** Absolute path, or `image:` and an absolute path inside the image. */
  entrypoint: string;
  /** Whether its runs are forks of a process that has imported its modules. */
  warm?: boolean;
  /** The modules it imports. Undefined: those that the entrypoint imports at its top. */
  preload?: readonly string[];
  /** Patterns of its code files, relative to the folder of the entrypoint. Undefined: those of git, or of its language. */
  code?: readonly string[];
}

/** Settings that an engine may have of its own, as `<engine>_<member>` and `SVC_RUNNER_<ENGINE>_<MEMBER>`. */
const ENGINE_MEMBERS = ['entrypoint', 'warm', 'preload', 'code'] as const;
type EngineMember = (typeof ENGINE_MEMBERS)[number];

interface OwnSetting {
  engine: string;
  member: EngineMember;
}

/** The engine and the member of a field such as `rocket_entrypoint`. */
export function engineField(name: string): OwnSetting | undefined {
  const [, engine, member] = /^(.+)_(entrypoint|warm|preload|code)$/.exec(name) ?? [];
  return engine === undefined ? undefined : { engine, member: member as EngineMember };
}

/** The engine and the member of a variable such as `SVC_RUNNER_ROCKET_ENTRYPOINT`. */
export function engineVariable(name: string): OwnSetting | undefined {
  const [, engine, member = ''] = /^SVC_RUNNER_(.+)_(ENTRYPOINT|WARM|PRELOAD|CODE)$/.exec(name) ?? [];
  return engine === undefined ? undefined : { engine, member: member.toLowerCase() as EngineMember };
}

/** Collects the settings of all sources, and every fault, so that all are reported at once. */
export class Settings {
  readonly given = new Map<string, Given>();
  /** The values that engines have of their own, for each member by the name of the engine (as far as the source can spell it). */
  readonly own: Readonly<Record<EngineMember, Map<string, Given>>> = {
    entrypoint: new Map(),
    warm: new Map(),
    preload: new Map(),
    code: new Map(),
  };
  readonly faults: string[] = [];
  readonly notes: string[] = [];

  read<T>(name: FieldName, judge: (given: Given) => T, fallback: T): T {
    const given = this.given.get(name);
    return given === undefined ? fallback : (this.judged(name, given, judge) ?? fallback);
  }

  judged<T>(name: string, given: Given, judge: (given: Given) => T): T | undefined {
    try {
      return judge(given);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      const value = error.isSecret ? '' : `is ${JSON.stringify(given.value)} and `;
      this.faults.push(`${given.where}: ${name} ${value}${error.message}`);
      return undefined;
    }
  }

  /** A variable's name cannot spell every engine; so a later source finds the engine an earlier one named. */
  putOwn(member: EngineMember, engine: string, given: Given): void {
    const known = this.own[member];
    const same = [...known.keys()].find((it) => spelling(it) === spelling(engine));
    known.set(same ?? engine, given);
  }

  /** The engine's own value, else the one for all that have none, and the name of the setting. */
  ofEngine(member: EngineMember, engine: string): { name: string; given: Given | undefined } {
    const own = [...this.own[member]].find(([known]) => spelling(known) === spelling(engine));
    if (own !== undefined) return { name: `${engine}_${member}`, given: own[1] };
    return { name: member, given: this.given.get(member) };
  }

  /** The value of a member that may be left out. */
  readOwn<T>(member: EngineMember, engine: string, judge: (given: Given) => T): T | undefined {
    const { name, given } = this.ofEngine(member, engine);
    return given === undefined ? undefined : this.judged(name, given, judge);
  }
}

/** An engine's name as in `SVC_RUNNER_<ENGINE>_ENTRYPOINT`. */
function spelling(engine: string): string {
  return engine.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

export function engines(settings: Settings): readonly Engine[] {
  const hasShared = settings.given.has('entrypoint');
  const own = settings.own.entrypoint;
  const listed = settings.given.get('engines');
  const fallback = own.size > 0 ? [...own.keys()] : hasShared ? ['*'] : [];
  const names = listed === undefined ? fallback : (settings.judged('engines', listed, list) ?? []);
  const allowsFunctions = settings.read('allow_functions', boolean, false);
  if (names.length === 0 && settings.faults.length === 0 && !allowsFunctions) {
    settings.faults.push(
      'no engine: say what to execute, e.g. --entrypoint ./simulation.py, or engines and <engine>_entrypoint in the file',
    );
  }
  const found: Engine[] = [];
  const used = new Map<string, string>();
  for (const name of names) {
    const where = listed?.where ?? own.get(name)?.where ?? 'engines';
    const twin = used.get(spelling(name));
    if (!ENGINE_NAME.test(name)) {
      settings.faults.push(`${where}: engine ${JSON.stringify(name)} must be letters, digits, ".", "_", "-", or *`);
      continue;
    }
    if (twin !== undefined) settings.faults.push(`${where}: engines ${twin} and ${name} differ in no variable's name`);
    used.set(spelling(name), name);
    const { name: field, given } = settings.ofEngine('entrypoint', name);
    const entrypoint = given === undefined ? undefined : settings.judged(field, given, entrypointOf);
    if (given === undefined) settings.faults.push(missingEntrypoint(name, where, own.keys()));
    if (entrypoint !== undefined)
      found.push({ name, entrypoint, ...warmth(settings, name), ...codeOf(settings, name) });
  }
  noteUnused(settings, used);
  return found;
}

function warmth(settings: Settings, name: string): Pick<Engine, 'warm' | 'preload'> {
  const warm = settings.readOwn('warm', name, boolean);
  const preload = settings.readOwn('preload', name, modules);
  if (preload !== undefined && warm !== true) {
    settings.notes.push(`engine ${name} is not warm; its preload is not used`);
  }
  return { ...(warm === undefined ? {} : { warm }), ...(preload === undefined ? {} : { preload }) };
}

function codeOf(settings: Settings, name: string): Pick<Engine, 'code'> {
  const code = settings.readOwn('code', name, codePatterns);
  return code === undefined ? {} : { code };
}

function noteUnused(settings: Settings, used: ReadonlyMap<string, string>): void {
  for (const member of ENGINE_MEMBERS) {
    for (const [name, given] of settings.own[member]) {
      if (!used.has(spelling(name)))
        settings.notes.push(`${given.where}: ${name} is not in engines; its ${member} is not used`);
    }
  }
}

function missingEntrypoint(name: string, where: string, given: Iterable<string>): string {
  const near = closestMatch(name, given);
  const hint = near === undefined ? '' : ` (${near}_entrypoint is given: did you mean that?)`;
  return `${where}: engine ${name} has no entrypoint; set ${name}_entrypoint or SIMBATCH_RUNNER_${spelling(name)}_ENTRYPOINT${hint}`;
}
