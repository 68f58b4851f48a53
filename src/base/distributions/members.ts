/** The members of a distribution as data: the kind of each value, its range, its description and its first value in a form. */

/** One value of a `discrete` distribution. */
export interface WeightedValue {
  value: number;
  /** In proportion to the other weights, > 0. */
  weight: number;
}

/** The kinds of value that a member of a distribution may have. */
export interface MemberKinds {
  number: number;
  numbers: number[];
  weighted: WeightedValue[];
}

/** Adds one fault: `path` is a JSON Pointer relative to the member, '' for the member itself. */
export type Report = (path: string, detail: string) => void;

export interface Member<Kind extends keyof MemberKinds = keyof MemberKinds, Optional extends boolean = boolean> {
  readonly kind: Kind;
  /** An optional member may be absent or null, which mean the same. */
  readonly optional: Optional;
  /** One sentence for the schema. */
  readonly description: string;
  /** The value a form starts with; an optional member starts absent. */
  readonly example: MemberKinds[Kind] | null;
  /** The least and greatest number of items of a list. */
  readonly items?: { readonly min: number; readonly max: number };
  /** Reports every fault of a value that is present. */
  check(value: unknown, report: Report): void;
}

export type Members = Readonly<Record<string, Member>>;

type OptionalNames<M extends Members> = {
  [Name in keyof M]: M[Name] extends Member<keyof MemberKinds, true> ? Name : never;
}[keyof M];

/** The value of a distribution with these members, without its `type`. */
export type MembersOf<M extends Members> = {
  -readonly [Name in Exclude<keyof M, OptionalNames<M>>]: MemberKinds[M[Name]['kind']];
} & { -readonly [Name in OptionalNames<M>]?: MemberKinds[M[Name]['kind']] | null };

/** The range of a number: a phrase for the fault, or undefined when the number is inside. */
type Range = (value: number) => string | undefined;

const anyFinite: Range = () => undefined;
export const notNegative: Range = (value) => (value < 0 ? 'must be >= 0' : undefined);
export const positive: Range = (value) => (value <= 0 ? 'must be > 0' : undefined);
export const positiveUpTo =
  (limit: number): Range =>
  (value) =>
    value > limit ? `must be <= ${limit}` : positive(value);

/** A required number in a range; any finite number without one. */
export function number(description: string, example: number, range: Range = anyFinite): Member<'number', false> {
  return { kind: 'number', optional: false, description, example, check: numberCheck(range) };
}

/** A number that may be absent. */
export function optionalNumber(description: string): Member<'number', true> {
  return { kind: 'number', optional: true, description, example: null, check: numberCheck(anyFinite) };
}

/** A list of finite numbers. */
export function numbers(
  description: string,
  example: number[],
  items: { min: number; max: number },
): Member<'numbers', false> {
  const check = listCheck(items, numberCheck(anyFinite));
  return { kind: 'numbers', optional: false, description, example, items, check };
}

/** A list of values with weights. */
export function weightedValues(
  description: string,
  example: WeightedValue[],
  items: { min: number; max: number },
): Member<'weighted', false> {
  return { kind: 'weighted', optional: false, description, example, items, check: listCheck(items, checkWeighted) };
}

function numberCheck(range: Range): (value: unknown, report: Report) => void {
  return (value, report) => {
    const broken = typeof value === 'number' && Number.isFinite(value) ? range(value) : 'must be a finite number';
    if (broken === undefined) return;
    report('', `${broken}, ${found(value)}`);
  };
}

const checkFinite = numberCheck(anyFinite);
const checkPositive = numberCheck(positive);

function checkWeighted(item: unknown, report: Report): void {
  const { value, weight } = (typeof item === 'object' && item !== null ? item : {}) as Partial<WeightedValue>;
  checkFinite(value, (_, detail) => report('/value', detail));
  checkPositive(weight, (_, detail) => report('/weight', detail));
}

/** Faults beyond this many in one list are not reported: one wrong column would give a thousand. */
const MAX_LIST_FAULTS = 10;

function listCheck(
  { min, max }: { min: number; max: number },
  checkItem: (item: unknown, report: Report) => void,
): (value: unknown, report: Report) => void {
  return (value, report) => {
    if (!Array.isArray(value)) {
      report('', `must be a list, ${found(value)}`);
      return;
    }
    if (value.length < min || value.length > max) {
      report('', `must have ${min} to ${max} items, not ${value.length}`);
      return;
    }
    let faults = 0;
    for (let index = 0; index < value.length && faults < MAX_LIST_FAULTS; index++) {
      checkItem(value[index], (path, detail) => {
        faults++;
        report(`/${index}${path}`, detail);
      });
    }
  };
}

function found(value: unknown): string {
  return value === undefined ? 'is missing' : `not ${typeof value === 'number' ? value : typeof value}`;
}
