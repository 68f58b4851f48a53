/** The factors of credibility of NASA-STD-7009A (2016, appendix E, table 3), and the people of the first edition (2008), each with the facts that are known and the parts that only people can state. Pure. */
import { formatNumber } from '../../base/text/number-text.ts';
import type { EvidenceFactorId, EvidenceReport } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { listed } from '../wording.ts';

type Report = Omit<EvidenceReport, 'factors' | 'limits' | 'sentence'>;
type Factor = EvidenceReport['factors'][number];

/** Names in a sentence. */
const MOST_NAMED = 8;

interface Definition {
  title: string;
  meaning: string;
  known: (report: Report) => string[];
  toState: (report: Report) => string[];
}

const FACTORS: Readonly<Record<EvidenceFactorId, Definition>> = {
  'data-pedigree': {
    title: 'Data pedigree',
    meaning: 'Are the data known from which the model was developed, and are they accurate?',
    known: () => [],
    toState: () => ['The data from which the model was developed, their accuracy and their owner.'],
  },
  verification: {
    title: 'Verification',
    meaning: 'Were the models implemented correctly, and what is the numerical error?',
    known: (report) => [...codeSentences(report), ...auditSentences(report)],
    toState: () => [
      'The tests and reviews of this version of the code.',
      'The numerical errors: step sizes, grids, tolerances, and how they were estimated.',
    ],
  },
  validation: {
    title: 'Validation',
    meaning:
      'Did the results of the model compare favourably with those of the real system, and how close is that system to the real one of this use?',
    known: () => [],
    toState: () => ['The comparisons with measurements, their conditions, and how far they are from this use.'],
  },
  'input-pedigree': {
    title: 'Input pedigree',
    meaning: 'How well known are the inputs of this study?',
    known: inputSentences,
    toState({ inputs }) {
      const without = inputs.filter(({ source }) => source === null).map(({ name }) => name);
      return without.length === 0
        ? ['Who has checked the sources.']
        : [`The sources of ${named(without)}.`, 'Who has checked the sources.'];
    },
  },
  'uncertainty-characterization': {
    title: 'Uncertainty characterization',
    meaning: 'What is the uncertainty of the results, and are its sources known?',
    known: uncertaintySentences,
    toState: () => [
      'The uncertainty of the model itself: the intervals here are those of a limited number of runs, and no others.',
      'The uncertainties that this study does not disperse.',
    ],
  },
  'results-robustness': {
    title: 'Results robustness',
    meaning: 'How much do the results change with the inputs, and are these sensitivities known?',
    known: ({ dependence, inputs }) => [
      ...dependence.map(({ output, sentence }) => `${output}: ${sentence}`),
      ...effectSentences(inputs),
    ],
    toState: () => ['Whether the sensitivities are those of the real system.'],
  },
  'ms-history': {
    title: 'M&S history',
    meaning: 'How much is the model like earlier ones, and was it used successfully for such questions before?',
    known: () => [],
    toState: () => ['Earlier models like this one, earlier uses of it, and their outcome.'],
  },
  management: {
    title: 'M&S process/product management',
    meaning: 'Is the work managed: configuration, records, reviews?',
    known: managementSentences,
    toState: () => [
      'The process of this work, its reviews and approvals.',
      'Where the code, the study and its manifest are kept.',
    ],
  },
  'people-qualifications': {
    title: 'People qualifications',
    meaning: 'Are the people who developed, ran and judged it qualified?',
    known: () => [],
    toState: () => [
      'The people who developed the model, submitted the study and judged its results, and their qualifications.',
    ],
  },
};

export const factorsOf = (report: Report): Factor[] =>
  Object.entries(FACTORS).map(([id, { title, meaning, known, toState }]) => ({
    id: id as EvidenceFactorId,
    title,
    meaning,
    known: known(report),
    to_state: toState(report),
  }));

/** `mass, drag and 3 others`. */
export function named(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const left = names.length - shown.length;
  return listed(left === 0 ? shown : [...shown, plural(left, 'other')]);
}

function codeSentences({ executed: { code } }: Report): string[] {
  const known = code.filter(({ digest }) => digest !== null);
  const dirty = known.filter(({ git }) => git?.dirty === true);
  const committed = known.filter(({ git }) => git?.dirty === false);
  return [
    ...(known.length === 0
      ? []
      : [`${plural(known.length, 'version')} of the code executed the runs; each run names its own.`]),
    ...(committed.length === 0
      ? []
      : [
          `${plural(committed.length, 'version')} of it ${committed.length === 1 ? 'is' : 'are'} exactly as committed.`,
        ]),
    ...(dirty.length === 0
      ? []
      : [`${plural(dirty.length, 'version')} of it ${dirty.length === 1 ? 'differs' : 'differ'} from the commit.`]),
  ];
}

const auditSentences = ({ audits }: Report): string[] => audits.map(({ sentence }) => `Spot check: ${sentence}.`);

function inputSentences({ inputs }: Report): string[] {
  const varying = inputs.filter(({ varies }) => varies);
  const sourced = inputs.filter(({ source }) => source !== null);
  const looked = varying.filter(({ read }) => read === 'read');
  return inputs.length === 0
    ? []
    : [
        `${String(sourced.length)} of ${plural(inputs.length, 'input')} ${sourced.length === 1 ? 'has' : 'have'} a stated source.`,
        `${String(looked.length)} of ${plural(varying.length, 'varying input')} ${looked.length === 1 ? 'is' : 'are'} known to be looked up by the simulation.`,
      ];
}

function uncertaintySentences({ results, executed, convergence }: Report): string[] {
  return [
    `Design: ${executed.design}.`,
    `The figures use ${String(results.n_used)} of ${plural(results.of, 'run')}.`,
    ...results.requirements.map(({ name, sentence }) => `${name}: ${sentence}.`.replace(/\.\.$/, '.')),
    ...(results.precision ?? []).map(({ sentence }) => `${sentence}.`.replace(/\.\.$/, '.')),
    ...convergence.flatMap(({ output, course }) => {
      const last = course.points.at(-1);
      return last === undefined || last.low === null || last.high === null
        ? []
        : [
            `The mean of ${output} after ${plural(last.n, 'run')} is between ${formatNumber(last.low, 5)} and ${formatNumber(last.high, 5)} (95 %).`,
          ];
    }),
  ];
}

function effectSentences(inputs: Report['inputs']): string[] {
  const none = inputs.filter(({ effect }) => effect === 'none').map(({ name }) => name);
  const some = inputs.filter(({ effect }) => effect === 'changes').map(({ name }) => name);
  return [
    ...(some.length === 0 ? [] : [`In the probe outputs changed with ${named(some)}.`]),
    ...(none.length === 0 ? [] : [`In the probe no output changed with ${named(none)}.`]),
  ];
}

function managementSentences({ batch_id: id, executed, history }: Report): string[] {
  return [
    ...(executed.config_hash === null ? [] : [`The configuration has the digest ${executed.config_hash}.`]),
    `\`simbatch manifest ${id}\` writes every run with its digest, chained.`,
    ...(history === null
      ? []
      : [
          `${plural(history.events.length, 'event')} of the study ${history.events.length === 1 ? 'is' : 'are'} recorded, with reasons where they were given.`,
        ]),
  ];
}
