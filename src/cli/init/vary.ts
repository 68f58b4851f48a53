/** How inputs vary, as it is typed: `speed=5%, angle=35..45, mass=normal(40,1), n=1|2|4`, or `5%` for all. */
import {
  DISTRIBUTION_KINDS,
  DISTRIBUTIONS,
  distributionEntry,
  type DistributionValue,
} from '../../base/distributions/table.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import type { FoundInput } from './subject.ts';

export type Varied = ReadonlyMap<string, DistributionValue>;

const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?`;
const SHARE = new RegExp(`^(?:\\+-|±)?(${NUMBER})\\s*%$`);
const WITHIN = new RegExp(`^(?:\\+-|±)\\s*(${NUMBER})$`);
const RANGE = new RegExp(`^(${NUMBER})\\s*\\.\\.\\s*(${NUMBER})$`);
const CALL = /^([a-z_]+)\(([^()]*)\)$/;
const FORMS = '5% (a normal distribution), +-2, 35..45, normal(30,1), or 1|2|4';
/** Digits of a number that was computed from a share. */
const DIGITS = 6;

const round = (value: number): number => Number(value.toPrecision(DIGITS));
const usage = (text: string): Failure => new Failure(EXIT.usage, text);

/** Splits at commas outside of parentheses. */
const partsOf = (text: string): string[] =>
  [...text.matchAll(/(?:[^,()]|\([^()]*\))+/g)].map(([part]) => part.trim()).filter((part) => part !== '');

export interface HowVaried {
  varied: Varied;
  /** Inputs that `5%` for all leaves as they are, and why. */
  notes: string[];
}

/** @throws Failure naming the input and the forms that are understood */
export function readVaried(texts: readonly string[], inputs: readonly FoundInput[]): HowVaried {
  const varied = new Map<string, DistributionValue>();
  const notes: string[] = [];
  for (const part of texts.flatMap(partsOf)) {
    const [, name, spec] = /^([^=]+?)\s*=\s*(.+)$/.exec(part) ?? [undefined, 'all', part];
    if (name === 'all' && !inputs.some((it) => it.name === 'all')) varyAll(spec ?? '', inputs, varied, notes);
    else {
      const input = inputs.find((it) => it.name === name);
      if (input === undefined)
        throw usage(`there is no input ${name}; there are: ${inputs.map((it) => it.name).join(', ') || 'none'}`);
      varied.set(input.name, distributionOf(spec ?? '', input));
    }
  }
  return { varied, notes };
}

function varyAll(
  spec: string,
  inputs: readonly FoundInput[],
  varied: Map<string, DistributionValue>,
  notes: string[],
): void {
  if (!SHARE.test(spec))
    throw usage(`"${spec}" does not say which input it is of: write NAME=${spec}, or a share for all: 5%`);
  for (const input of inputs) {
    if (input.whole)
      notes.push(`${input.name} is a whole number and stays ${input.value}: vary it by ${input.name}=1|2|4`);
    else if (input.value === null || input.value === 0)
      notes.push(
        `${input.name} ${input.value === 0 ? 'is 0' : 'has no value'}, of which there is no share: vary it by ${input.name}=+-1 or ${input.name}=0..1`,
      );
    else varied.set(input.name, distributionOf(spec, input));
  }
}

function distributionOf(spec: string, { name, value, whole }: FoundInput): DistributionValue {
  const found = parsed(spec, name, value);
  if (whole && found.type !== 'discrete' && found.type !== 'fixed')
    throw usage(`${name} is a whole number: list its values: ${name}=1|2|4, not ${spec}`);
  return found;
}

function parsed(spec: string, name: string, value: number | null): DistributionValue {
  const from = (): number => {
    if (value !== null) return value;
    throw usage(`${name} has no value that "${spec}" could be of: write ${name}=35..45 or ${name}=normal(40,1)`);
  };
  const share = SHARE.exec(spec)?.[1];
  if (share !== undefined) {
    if (from() === 0) throw usage(`${name} is 0, of which ${spec} is 0: write ${name}=+-1 or ${name}=normal(0,1)`);
    return { type: 'normal', mean: from(), std_dev: round(Math.abs((from() * Number(share)) / 100)) };
  }
  const within = WITHIN.exec(spec)?.[1];
  if (within !== undefined) {
    const half = Math.abs(Number(within));
    return { type: 'uniform', min: round(from() - half), max: round(from() + half) };
  }
  const [, min, max] = RANGE.exec(spec) ?? [];
  if (min !== undefined) return { type: 'uniform', min: Number(min), max: Number(max) };
  const choices = spec.split('|').map((it) => Number(it.trim() === '' ? NaN : it));
  if (spec.includes('|') && choices.every((it) => Number.isFinite(it)))
    return { type: 'discrete', values: choices.map((it) => ({ value: it, weight: 1 })) };
  if (/^[-+.\d]/.test(spec) && Number.isFinite(Number(spec))) return { type: 'fixed', value: Number(spec) };
  const [, type = '', list = ''] = CALL.exec(spec) ?? [];
  const entry = distributionEntry(type);
  if (entry === undefined || type === '') throw usage(`${name}: "${spec}" is not understood: write ${FORMS}`);
  return called(type, entry.members, list, name);
}

/** `normal(30,1)`: the members of the distribution in their order. */
function called(
  type: string,
  members: (typeof DISTRIBUTIONS)['normal' | 'uniform']['members'] | Readonly<Record<string, unknown>>,
  list: string,
  name: string,
): DistributionValue {
  const kinds = Object.entries(members as Readonly<Record<string, { kind: string; optional: boolean }>>);
  const numbers = kinds.filter(([, it]) => it.kind === 'number');
  const given = list.split(',').map((it) => Number(it.trim() === '' ? NaN : it));
  const needed = numbers.filter(([, it]) => !it.optional);
  if (
    numbers.length !== kinds.length ||
    given.length < needed.length ||
    given.length > numbers.length ||
    given.some((it) => !Number.isFinite(it))
  ) {
    const form = numbers.length === kinds.length ? `${type}(${needed.map(([it]) => it).join(', ')})` : FORMS;
    throw usage(
      `${name}: ${type}(${list}) is not understood: write ${form}; there are ${DISTRIBUTION_KINDS.join(', ')}`,
    );
  }
  return {
    type,
    ...Object.fromEntries(given.map((it, at) => [(numbers[at] as [string, unknown])[0], it])),
  } as DistributionValue;
}
