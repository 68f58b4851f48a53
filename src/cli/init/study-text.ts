/** The text of the study file: what is its own, in a line for each input that varies. */
import { stringify } from 'yaml';
import type { FoundInput, Subject } from './subject.ts';
import type { Varied } from './vary.ts';

export interface Goal {
  output: string;
  condition: string;
  probability: number;
}

export interface StudyChoices {
  /** The study file. */
  file: string;
  runs: number;
  varied: Varied;
  goal?: Goal | undefined;
}

const plain = (value: unknown): string => stringify(value, { lineWidth: 0 }).trim();
const flow = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

/** Where nothing varies yet, each input is a line to edit. */
export function studyText({ name, inputs }: Subject, { file, runs, varied, goal }: StudyChoices): string {
  const listed =
    varied.size === 0 ? inputs.filter((it) => it.value !== null) : inputs.filter((it) => varied.has(it.name));
  const others = varied.size === 0 ? [] : inputs.filter((it) => !varied.has(it.name) && it.value !== null);
  const line = (input: FoundInput): string => {
    const distribution = varied.get(input.name) ?? { type: 'fixed', value: input.value };
    const units = input.units === undefined || input.units === '' ? {} : { units: input.units };
    const example = varied.has(input.name) ? '' : exampleOf(input);
    return `    ${plain(input.name)}: ${flow({ distribution, ...units })}${example}`;
  };
  return [
    `# ${plain(name)}, by simbatch init. Check: simbatch submit --check ${file}; distributions: docs/sampling.md`,
    `name: ${plain(name)}`,
    'config:',
    `  simulation: ${flow({ name })}`,
    `  monte_carlo: { runs: ${runs}, seed: 1 }`,
    ...(others.length === 0
      ? []
      : [`  # not varied: ${others.map((it) => `${it.name} = ${it.value}`.replaceAll(/[\r\n]/g, ' ')).join(', ')}`]),
    `  dispersions:${listed.length === 0 ? ' {}' : ''}`,
    ...listed.map(line),
    ...(goal === undefined
      ? []
      : [
          `requirements: [${flow({ name: `${goal.output} ${goal.condition}`, output: goal.output, condition: goal.condition, probability: goal.probability })}]`,
        ]),
    '',
  ].join('\n');
}

const exampleOf = ({ value }: FoundInput): string =>
  value === 0
    ? '  # or { type: normal, mean: 0, std_dev: 1 }'
    : `  # or { type: normal, mean: ${value}, std_dev: ${Number((Math.abs(value ?? 0) / 20).toPrecision(3))} }`;
