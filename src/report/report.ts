/** The report of a study: one HTML page without scripts that loads nothing and says what it does not know. Pure. */
import { formatDuration } from '../base/text/number-text.ts';
import type { AnswerLevel, Finding, Verdict as VerdictWord } from '../contract/types.ts';
import { requirementClaim, shareInPercent } from '../analysis/wording.ts';
import { historiesSection } from './bands.ts';
import { boundsSection } from './scenarios/bounds.ts';
import { cellsSection } from './scenarios/cells.ts';
import type { ReportData, ReportOrigin } from './collect.ts';
import { configurationSection, studyFileSection, versionsSection } from './configuration.ts';
import { time } from './facts-text.ts';
import { html, section, table, type Content, type Markup } from './html.ts';
import { page } from './page.ts';
import { failuresSection, outputsSection, precisionSection, plotsSection } from './results.ts';
import { verdictWord } from '../analysis/requirements/sentence.ts';

/** The whole page. */
export function reportHtml(data: ReportData, origin: ReportOrigin): string {
  const { batch } = data.status;
  return page(
    `${batch.name}: report`,
    html`<header>
        ${answerLine(data)}
        <h1>${batch.name}</h1>
        <p><span class="pill ${statusClass(batch.status)}">${batch.status}</span> ${headline(data)}</p>
        <p class="soft">Study <code>${batch.id}</code>, report of ${time(origin.generatedAt)}.</p>
      </header>
      <main>
        ${limitsNotice(data)} ${verdictsSection(data)} ${cellsSection(data)} ${boundsSection(data)}
        ${precisionSection(data)} ${runsSection(data)} ${outputsSection(data)} ${plotsSection(data)}
        ${historiesSection(data)} ${failuresSection(data)} ${findingsSection(data.findings)} ${historySection(data)}
        ${configurationSection(data)} ${versionsSection(data, origin)} ${studyFileSection(data)}
      </main>`,
  );
}

const LEVEL_CLASS: Readonly<Record<AnswerLevel, string>> = {
  ok: 'good',
  not_ok: 'bad',
  not_enough: 'warn',
  blocked: 'bad',
  running: 'soft',
  cancelled: 'warn',
};

/** The sentence: the first line of the page. */
const answerLine = ({ answer }: ReportData): Markup =>
  answer === undefined ? html`` : html`<p class="answer ${LEVEL_CLASS[answer.level]}">${answer.sentence}</p> `;

const isOpen = ({ status }: ReportData): boolean =>
  status.batch.status === 'Pending' || status.batch.status === 'Running';

const statusClass = (status: string): string =>
  status === 'Completed' ? 'good' : status === 'Failed' ? 'bad' : 'warn';

/** The verdicts, and how many runs ended well, in a line. */
function headline({ status, verdicts }: ReportData): Content {
  const { batch, jobs_by_status: counts } = status;
  const judged = (verdicts?.requirements ?? []).map(
    (it) =>
      html` <span class="pill ${VERDICT_CLASS[it.verdict ?? 'none']}">${it.name}: ${verdictWord(it.verdict)}</span>`,
  );
  return html`${counts.Completed} of ${batch.total_jobs} runs completed, ${counts.Failed + counts.Timeout} failed,
  ${counts.Cancelled} cancelled.${judged}`;
}

const VERDICT_CLASS: Record<VerdictWord | 'none', string> = {
  none: 'warn',
  met: 'good',
  violated: 'bad',
  'not-shown': 'warn',
  open: 'warn',
};

/** Everything that limits the figures below: open runs, limits of the answers, doubts, and parts that are missing. */
function limitsNotice(data: ReportData): Markup {
  const { summary, verdicts, attribution, distributions, outputs, boxes, findings, absent, status, submission } = data;
  const messages = new Set<string>();
  if (isOpen(data)) messages.add(`The study is ${status.batch.status}: every figure is provisional.`);
  if (status.batch.cancel_reason !== undefined)
    messages.add(
      `${status.batch.stopped_at_run_id === undefined ? 'The study was cancelled' : 'The study stopped by itself'}: ${status.batch.cancel_reason}.`,
    );
  const answers = [summary, verdicts, distributions, attribution, ...outputs.map((it) => it.sensitivity), ...boxes];
  for (const answer of answers) for (const { message } of answer?.warnings ?? []) messages.add(message);
  for (const { warnings } of verdicts?.requirements ?? [])
    for (const { code, message } of warnings) if (code !== 'unknown-decides') messages.add(message);
  for (const { severity, message } of findings)
    if (severity === 'doubtful' || severity === 'warning') messages.add(message);
  const lacking = (summary?.outputs ?? []).filter((it) => it.missing > 0);
  if (lacking.length > 0)
    messages.add(
      `completed runs without a value: ${lacking.map((it) => `${it.name} ${it.missing}`).join(', ')}; they are in no statistic of the output`,
    );
  const { enabled, shadow, conditions } = submission.config.early_termination;
  if (conditions.length > 0 && !enabled)
    messages.add('the early-termination conditions are not enabled: no run was checked');
  else if (conditions.length > 0 && shadow === true)
    messages.add('the early-termination conditions are in shadow: they were evaluated, and ended no run');
  if ((submission.requirements ?? []).length + (submission.policy?.precision ?? []).length === 0)
    messages.add('the study declares no requirement: nothing is judged');
  for (const part of absent) messages.add(`this part of the report is missing: ${part}`);
  if (messages.size === 0) return html``;
  return html`<aside class="notice">
    <h2>What limits these figures</h2>
    <ul>
      ${[...messages].map((it) => html`<li>${it}</li>`)}
    </ul>
  </aside> `;
}

function verdictsSection({ verdicts }: ReportData): Markup {
  const judged = verdicts?.requirements ?? [];
  const sentences = judged.map((it) => html`<p><strong>${it.name}</strong>: ${it.sentence}</p> `);
  const rows = judged.map((it) => [
    it.name,
    html`<span class="${VERDICT_CLASS[it.verdict ?? 'none']}">${verdictWord(it.verdict)}</span>`,
    html`<code>${requirementClaim(it)}</code>`,
    `>= ${shareInPercent(it.probability)} at ${shareInPercent(it.confidence)}`,
    it.passed,
    it.failed,
    it.unknown,
    it.estimate === null ? '-' : shareInPercent(it.estimate),
    `${shareInPercent(it.lower)} to ${shareInPercent(it.upper)}`,
  ]);
  return section(
    'Verdicts',
    sentences,
    table(
      [
        ['requirement'],
        ['verdict'],
        ['condition'],
        ['required, confidence'],
        ['passed', 'number'],
        ['failed', 'number'],
        ['unknown', 'number'],
        ['share', 'number'],
        ['one-sided bounds', 'number'],
      ],
      rows,
    ),
  );
}

function runsSection({ status, summary }: ReportData): Markup {
  const { batch, jobs_by_status: counts } = status;
  const { started_at: started, ended_at: ended } = batch;
  const took =
    started === undefined || ended === undefined ? undefined : (Date.parse(ended) - Date.parse(started)) / 1000;
  const classes = Object.entries(summary?.excluded ?? {}).filter(([, count]) => count > 0);
  return section(
    'Runs',
    html`<dl>
      <dt>submitted</dt>
      <dd>${time(batch.created_at)}</dd>
      ${
        started === undefined
          ? ''
          : html`<dt>started</dt>
              <dd>${time(started)}</dd>`
      }${
        ended === undefined
          ? ''
          : html`<dt>ended</dt>
              <dd>${time(ended)}</dd>`
      }
      ${
        took === undefined
          ? ''
          : html`<dt>took</dt>
              <dd>${formatDuration(took)}</dd>`
      }
      <dt>by state</dt>
      <dd>
        ${Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([state, count]) => `${count} ${state}`)
          .join(', ')}
      </dd>
      ${
        summary === undefined
          ? ''
          : html`<dt>in the statistics</dt>
              <dd>
                ${summary.n_used} of
                ${summary.of}${classes.length === 0 ? '' : `; left out: ${classes.map(([name, count]) => `${count} ${name}`).join(', ')}`}
              </dd>`
      }
      ${
        batch.reused_jobs === undefined
          ? ''
          : html`<dt>reused</dt>
              <dd>
                ${batch.reused_jobs} runs have the results of finished runs with the same key and were not executed
              </dd>`
      }
      ${
        batch.terminated_jobs === undefined
          ? ''
          : html`<dt>ended early</dt>
              <dd>${batch.terminated_jobs} failed runs met an early-termination condition: answers, not faults</dd>`
      }
    </dl> `,
  );
}

function findingsSection(findings: readonly Finding[]): Markup {
  const rows = findings.map((it) => [it.severity, it.message, it.severity === 'fine' ? '' : it.remedy]);
  return section('Findings', table([['severity'], ['finding'], ['remedy']], rows));
}

function historySection({ history }: ReportData): Markup {
  const rows = history.events.map((it) => [time(it.at), it.type, it.reason ?? '']);
  return section('History', table([['time'], ['event'], ['reason']], rows));
}
