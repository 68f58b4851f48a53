/** The sections of a report about the configuration: study, dispersions, versions and the study file. Pure. */
import { designMethod, methodOfCell } from '../domain/study/design-method.ts';
import { stringifyExact } from '../base/json/json-writing.ts';
import { distributionText } from '../domain/sampling/distribution-text.ts';
import { shortCode } from '../domain/code-name.ts';
import type { BatchSubmission } from '../contract/types.ts';
import type { ReportData, ReportOrigin } from './collect.ts';
import { commitText } from './facts-text.ts';
import { html, section, table, type Content, type Markup } from './html.ts';

export function configurationSection({ submission, status }: ReportData): Markup {
  const { config, policy, labels } = submission;
  const { simulation, monte_carlo: design, dispersions, early_termination: rules, telemetry, compute } = config;
  const dispersed = Object.entries(dispersions).map(([name, { distribution, units, source = '' }]) => [
    name,
    units,
    distributionText(distribution),
    source,
  ]);
  const hasSources = dispersed.some(([, , , source]) => source !== '');
  const pairs: [string, Content][] = [
    ['simulation', `${simulation.name}, version ${simulation.version}`],
    ['sampling', samplingText(submission)],
    ['runs of the design', design.runs],
    ['runs of this study', status.batch.total_jobs],
    ['seed', design.seed === undefined || design.seed === null ? 'not known' : String(design.seed)],
    ...(design.run_ids == null ? [] : ([['selected runs', design.run_ids]] as [string, Content][])),
    ...(design.replicates == null ? [] : ([['replicates', design.replicates]] as [string, Content][])),
    ...(design.replicate == null ? [] : ([['replicate', design.replicate]] as [string, Content][])),
    ['time limit of a run', compute.job_timeout_seconds === 0 ? 'none' : `${compute.job_timeout_seconds} s`],
    ['container image', compute.container.image === '' ? 'none' : compute.container.image],
    ['telemetry variables', telemetry.variables.length === 0 ? 'all' : telemetry.variables.join(', ')],
    ['configuration hash', html`<code>${status.batch.config_hash}</code>`],
    ...Object.entries(policy ?? {}).map(([name, value]): [string, Content] => [
      `policy: ${name}`,
      typeof value === 'string' ? value : stringifyExact(value),
    ]),
    ...Object.entries(labels ?? {}).map(([name, value]): [string, Content] => [`label ${name}`, value]),
  ];
  const conditions = rules.conditions.map((it) => [it.variable, html`<code>${it.condition}</code>`, it.description]);
  return section(
    'Configuration',
    html`<dl>
      ${pairs.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd> `,
      )}
    </dl> `,
    table(
      [['parameter'], ['units'], ['distribution'], ...(hasSources ? ([['source']] as const) : [])],
      dispersed.map((row) => (hasSources ? row : row.slice(0, 3))),
    ),
    conditions.length === 0
      ? ''
      : html`<p>Early termination${rules.enabled ? (rules.shadow === true ? ', in shadow' : '') : ', not enabled'}:</p>
          ${table([['variable'], ['condition'], ['meaning']], conditions)}`,
    config.correlations == null
      ? ''
      : html`<p>The parameters are correlated: the study file at the end has the matrix.</p>`,
  );
}

/** Capabilities that say what a runner is. */
const VERSION = /version|python|node|image|platform|os$/i;

/** The versions of the code that made the results. */
function codeTable(versions: ReportData['codeVersions']): Content {
  if (versions === undefined || versions.length === 0) return '';
  const rows = versions.map((it) => [
    it.digest === null ? 'not known' : html`<code>${shortCode(it.digest)}</code>`,
    it.kind,
    commitText(it),
    it.runs,
    it.note ?? '',
  ]);
  return table([['code'], ['kind'], ['commit'], ['runs'], ['']], rows);
}

export function versionsSection({ runners, codeVersions, status }: ReportData, origin: ReportOrigin): Markup {
  const used = (runners?.runners ?? []).map((it) => {
    const stated = Object.entries(it.capabilities).flatMap(([name, value]) =>
      VERSION.test(name) && typeof value === 'string' ? [`${name} ${value}`] : [],
    );
    const extra = Object.entries((it.capabilities as { versions?: Record<string, unknown> }).versions ?? {}).map(
      ([name, value]) => `${name} ${String(value)}`,
    );
    return [it.id, [...stated, ...extra].join(', ') || '-'];
  });
  return section(
    'Origin',
    html`<dl>
        <dt>report</dt>
        <dd>simbatch ${origin.version}, ${origin.generatedAt}</dd>
        <dt>coordinator</dt>
        <dd>${origin.endpoint}</dd>
        <dt>each run with its digest</dt>
        <dd><code>simbatch manifest ${status.batch.id}</code></dd>
      </dl>
      ${used.length === 0 ? '' : html`<p class="soft">Runners that are registered now, and what they state; the study may have used others.</p>`}`,
    codeTable(codeVersions),
    table([['runner'], ['states']], used),
  );
}

/** Everything that decides the runs, as submitted; the function that a study carries is named by its digest there. */
export function studyFileSection({ submission }: ReportData): Markup {
  const { code: _, ...study }: BatchSubmission = submission;
  return html`<div class="paper-break"></div>
    ${section('Study file', html`<pre>${stringifyExact(study, 1)}</pre>`)}`;
}

/** The method of the design; of a study with scenarios that of each cell. */
function samplingText(submission: BatchSubmission): string {
  const method = designMethod(submission);
  return method === 'scenarios' ? `${methodOfCell(submission.config)}, the same runs in each cell` : method;
}
