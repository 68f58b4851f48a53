/** The sections of a report about results: outputs, plots, failures and their causes. Pure. */
import { formatNumber } from '../base/text/number-text.ts';
import { describedOutputs } from '../domain/runs/described-outputs.ts';
import { shortId } from '../domain/ids.ts';
import { limitsOf } from '../domain/study/condition.ts';
import { intervalNote, meanText, quantileOf } from '../analysis/outputs/estimate-text.ts';
import { listed, shareInPercent } from '../analysis/wording.ts';
import type { StudyAttribution, StudySummary } from '../contract/types.ts';
import type { OutputAnswers, ReportData } from './collect.ts';
import { html, section, table, type Content, type Markup } from './html.ts';
import { histogram, runningEstimate, type Histogram, type Mark } from './plots.ts';
import { tornado } from './tornado.ts';

type OutputSummary = StudySummary['outputs'][number];

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '-' : formatNumber(value, 5);

/** A quantile with its interval. */
function quantile(output: OutputSummary, p: number): Content {
  const [value = '-', interval] = quantileOf(output, p) ?? [];
  return html`${value}${interval === undefined ? '' : html`<br /><span class="soft">${interval}</span>`}`;
}

/** How near the study came to the precisions at which it stops; nothing without any. */
export function precisionSection({ summary }: ReportData): Markup {
  const precision = summary?.precision ?? [];
  if (precision.length === 0) return html``;
  const end = (value: number | null, unbounded: string): string => (value === null ? unbounded : number(value));
  const rows = precision.map((it) => [
    html`<code>${it.output}</code>`,
    it.condition === null ? it.quantity : html`${it.quantity} <code>${it.condition}</code>`,
    html`<span class="${it.state === 'reached' ? 'good' : 'warn'}">${it.state.replaceAll('-', ' ')}</span>`,
    it.n,
    it.unknown,
    number(it.value),
    `${end(it.interval[0], '-inf')} to ${end(it.interval[1], 'inf')}`,
    number(it.half_width),
    it.relative === null ? number(it.target) : `${shareInPercent(it.relative)} of the value`,
    it.method,
  ]);
  return section(
    'Precision',
    html`<p class="soft">
      The intervals are those of confidence sequences: they hold at every number of runs, hence where the study stops.
    </p> `,
    precision.map((it) => html`<p>${it.sentence}</p> `),
    table(
      [
        ['output'],
        ['quantity'],
        ['state'],
        ['runs', 'number'],
        ['unknown', 'number'],
        ['value', 'number'],
        ['interval', 'number'],
        ['half-width', 'number'],
        ['wanted', 'number'],
        ['sequence'],
      ],
      rows,
      'compact',
    ),
  );
}

export function outputsSection({ summary, submission }: ReportData): Markup {
  const shown = (summary?.outputs ?? []).filter((it) => it.count > 0);
  const note = intervalNote(shown);
  return section(
    'Outputs',
    html`<p class="soft">Over the completed runs.${note === undefined ? '' : ` ${note}.`}</p> `,
    outputsTable(shown, (name) => submission.outputs?.[name]?.description),
  );
}

/** The statistics of outputs that have values. @param meaning the description of an output, if there is one. */
export function outputsTable(
  shown: readonly OutputSummary[],
  meaning: (output: string) => string | undefined = () => undefined,
): Markup {
  const rows = shown.map((it) => {
    const description = meaning(it.name);
    return [
      html`${it.name}${it.units === null || it.units === '' ? '' : ` [${it.units}]`}${description === undefined || description === '' ? '' : html`<br /><span class="soft">${description}</span>`}`,
      it.count,
      it.missing,
      meanText(it.mean, it.mean_interval),
      number(it.sd),
      number(it.min),
      quantile(it, 0.05),
      quantile(it, 0.5),
      quantile(it, 0.95),
      number(it.max),
    ];
  });
  const texts = shown.filter((it) => it.text_values !== undefined);
  return html`${table(
    [
      ['output'],
      ['runs', 'number'],
      ['missing', 'number'],
      ['mean', 'number'],
      ['sd', 'number'],
      ['min', 'number'],
      ['P5', 'number'],
      ['P50', 'number'],
      ['P95', 'number'],
      ['max', 'number'],
    ],
    rows.filter((_, at) => shown[at]?.text_values === undefined),
    'compact',
  )}
  ${texts.map(
    (it) =>
      html`<p>
        <strong>${it.name}</strong>:
        ${(it.text_values ?? []).map(({ value, count }) => `${value ?? 'others'} ${count}`).join(', ')}
      </p> `,
  )}`;
}

/** Plots beyond those of requirements and declared outputs would fill pages. */
const MOST_PLOTS = 12;

export function plotsSection({ distributions, summary, submission, outputs }: ReportData): Markup {
  const requirements = submission.requirements ?? [];
  const named = new Set([
    ...requirements.flatMap((it) => it.output ?? []),
    ...Object.keys(describedOutputs(submission)),
  ]);
  const all = (distributions?.variables ?? []).filter((it) => it.kind === 'output');
  const first = all.filter((it) => named.has(it.name));
  const rest = all.filter((it) => !named.has(it.name) && it.name !== 'execution_secs');
  const shown = [...first, ...rest].slice(0, MOST_PLOTS);
  const marksOf = ({ name }: Histogram): Mark[] => {
    const limits = requirements
      .filter((it) => it.output === name)
      .flatMap(({ condition = '' }) =>
        limitsOf(condition).map((value): Mark => ({ value, name: condition, isLimit: true })),
      );
    const quantiles = summary?.outputs.find((it) => it.name === name)?.quantiles ?? [];
    const marked = quantiles
      .filter(({ p }) => p === 0.05 || p === 0.5 || p === 0.95)
      .map(({ p, value }): Mark => ({ value, name: `P${100 * p}`, isLimit: false }));
    return [...limits, ...marked];
  };
  const running = outputs.map(({ output, convergence }) =>
    convergence === undefined
      ? ''
      : runningEstimate(output, summary?.outputs.find((it) => it.name === output)?.units ?? null, convergence),
  );
  if (shown.length === 0 && running.every((it) => it === '')) return html``;
  const left = all.length - shown.length - (all.some((it) => it.name === 'execution_secs') ? 1 : 0);
  return section(
    'Plots',
    html`<div class="plots">${shown.map((it) => histogram(it, marksOf(it)))}${running}</div>
      ${left > 0 ? html`<p class="soft">Without the distributions of ${left} further outputs.</p>` : ''}`,
  );
}

export function failuresSection({ summary, attribution, outputs, status }: ReportData): Markup {
  const failures = summary?.failures ?? [];
  const patterns = table(
    [['runs', 'number'], ['share', 'number'], ['class'], ['message, without numbers and names'], ['example']],
    failures.map((it) => [
      it.count,
      shareInPercent(it.share),
      it.class,
      it.pattern,
      html`<code>simbatch run ${shortId(status.batch.id)}/${it.example_run_id}</code>`,
    ]),
  );
  return html`${section('Failures', patterns, causes(attribution))}${section('What the required outputs depend on', outputs.map(dependence))}`;
}

function causes(attribution: ReportData['attribution']): Content {
  if (attribution === undefined) return '';
  const separated = attribution.parameters.filter((it) => it.told_apart);
  const rows = separated.map((it) => [
    it.name,
    number(it.median_failing),
    number(it.median_passing),
    formatNumber(it.p_holm, 2),
    it.best_interval.sentence,
  ]);
  const heads = [
    ['parameter'],
    ['median failing', 'number'],
    ['passing', 'number'],
    ['p (Holm)', 'number'],
    ['most failures'],
  ] as const;
  const apart = attribution.causes.map(
    (it) => html`<p><strong>${it.pattern}</strong> (${it.class}, ${it.failing} runs): ${it.sentence}</p>`,
  );
  return html`${apart}
    <p>${attribution.sentence}</p>
    ${levels(attribution.levels ?? [])}${table(heads, rows)}`;
}

/** Levels beyond these, without a difference that is told apart or with a smaller one, are left out. */
const MOST_LEVELS = 12;

const levels = (all: NonNullable<StudyAttribution['levels']>): Markup =>
  table(
    [
      ['level'],
      ['told apart'],
      ['failing', 'number'],
      ['of', 'number'],
      ['difference', 'number'],
      ['p (Holm)', 'number'],
    ],
    all
      .slice(0, MOST_LEVELS)
      .map((it) => [
        `${it.axis} = ${it.level}`,
        it.told_apart ? 'yes' : 'no',
        it.failing,
        it.of,
        number(it.difference),
        formatNumber(it.p_holm, 2),
      ]),
  );

/** Parameters of one output that are shown. */
const MOST_PARAMETERS = 8;

function dependence({ output, sensitivity, worst, direction }: OutputAnswers): Content {
  const parameters = (sensitivity?.parameters ?? []).slice(0, MOST_PARAMETERS);
  const parametersTable = table(
    [
      ['parameter'],
      ['told apart'],
      ['first-order Sobol’ index', 'number'],
      ['noise floor', 'number'],
      ['PRCC', 'number'],
    ],
    parameters.map((it) => [
      it.name,
      it.told_apart === null ? '-' : it.told_apart ? 'yes' : 'no',
      number(it.sobol_cosine),
      number(it.noise_floor),
      number(it.prcc),
    ]),
  );
  const extremes = (worst?.runs ?? []).map((it) => `${it.run_id} (${number(it.value)})`);
  return html`${
    sensitivity === undefined
      ? ''
      : html`<p><strong>${output}</strong>: ${sensitivity.sentence}</p>
          <div class="plots">${tornado(output, parameters)}</div>
          ${parametersTable}`
  }${
    extremes.length === 0
      ? ''
      : html`<p>
          Runs with the ${direction} values of ${output}: ${listed(extremes)}.
          <code>simbatch replay STUDY/RUN</code> executes one again.
        </p> `
  }`;
}
