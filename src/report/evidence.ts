/** The evidence about a study as one HTML page for a review, without scripts, that loads nothing. Pure. */
import { RELATION_WORDS } from '../contract/enums.ts';
import { formatNumber } from '../base/text/number-text.ts';
import { shortCode } from '../domain/code-name.ts';
import { intervalNote } from '../analysis/outputs/estimate-text.ts';
import { requirementClaim, shareInPercent } from '../analysis/wording.ts';
import type { EvidenceReport } from '../contract/types.ts';
import { commitText, time } from './facts-text.ts';
import type { ReportOrigin } from './collect.ts';
import { html, section, table, type Content, type Markup } from './html.ts';
import { page } from './page.ts';
import { runningEstimate } from './plots.ts';
import { outputsTable } from './results.ts';

/** The whole page. */
export function evidenceHtml(evidence: EvidenceReport, origin: ReportOrigin): string {
  const name = evidence.name ?? evidence.batch_id;
  return page(
    `${name}: evidence`,
    html`<header>
        <h1>Evidence: ${name}</h1>
        <p>
          ${evidence.status === null ? '' : html`<span class="pill">${evidence.status}</span> `}${evidence.results.sentence}
        </p>
        <p class="soft">
          Study <code>${evidence.batch_id}</code>, ${time(origin.generatedAt)}, simbatch ${origin.version},
          ${origin.endpoint}. simbatch has filled in what it knows; the dashed fields are for people.
        </p>
      </header>
      <main>
        ${limitsSection(evidence)} ${askedSection(evidence)} ${executedSection(evidence)} ${inputsSection(evidence)}
        ${resultsSection(evidence)} ${countedSection(evidence)} ${checksSection(evidence)} ${historySection(evidence)}
        ${factorsSection(evidence)}
      </main>`,
  );
}

/** A field that people fill in. */
const blank = (question: string): Markup => html`<div class="blank"><span class="soft">${question}</span></div>`;

const limitsSection = ({ limits }: EvidenceReport): Markup =>
  html`<aside class="notice">
    <h2>Not known, not checked, or limiting</h2>
    <ul>
      ${limits.map((it) => html`<li>${it}</li> `)}
    </ul>
  </aside> `;

function askedSection({ asked, results }: EvidenceReport): Markup {
  if (results.requirements.length === 0) return section('What was asked', html`<p>No requirement is declared.</p>`);
  const rows = results.requirements.map((it) => {
    const stated = asked.stated.find(({ name }) => name === it.name);
    return [
      it.name,
      html`<code>${requirementClaim(it)}</code>`,
      `>= ${shareInPercent(it.probability)} at ${shareInPercent(it.confidence)}`,
      statedText(stated),
      it.verdict ?? 'no verdict',
      html`${it.sentence}`,
    ];
  });
  return section(
    'What was asked',
    table([['requirement'], ['condition'], ['required, confidence'], ['stated'], ['verdict'], ['']], rows),
  );
}

function statedText(stated: EvidenceReport['asked']['stated'][number] | undefined): string {
  if (stated === undefined || stated.runs_ended === null) return 'not recorded';
  const when = stated.at === null ? '' : `, ${time(stated.at)}`;
  return stated.runs_ended === 0
    ? `before the first run ended${when}`
    : `after ${String(stated.runs_ended)} runs${when}`;
}

function executedSection({ executed }: EvidenceReport): Markup {
  const versions = executed.code.map((it) => [
    it.digest === null ? 'not known' : html`<code title="${it.digest}">${shortCode(it.digest)}</code>`,
    it.kind,
    it.git === undefined ? 'none' : html`<code>${it.git.commit.slice(0, 12)}</code> ${commitText(it)}`,
    it.runs,
    it.first_run_id ?? '-',
    it.image === undefined ? '-' : html`<code>${it.image.slice(0, 19)}</code>`,
    it.note ?? '',
  ]);
  const machines = executed.runners.map((it) => [
    it.id,
    it.registered ? (it.hostname ?? 'not stated') : 'not known any more',
    it.cpu_cores ?? '-',
    it.memory_gb === null ? '-' : formatNumber(it.memory_gb, 4),
    Object.entries(it.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ') || '-',
  ]);
  return section(
    'What was executed',
    html`<dl>
      <dt>simulation</dt>
      <dd>${executed.simulation}</dd>
      <dt>design</dt>
      <dd>${executed.design}</dd>
      <dt>configuration hash</dt>
      <dd><code>${executed.config_hash ?? 'not known'}</code></dd>
      ${
        executed.parent === null
          ? ''
          : html`<dt>came of</dt>
              <dd>${RELATION_WORDS[executed.parent.relation]} of <code>${executed.parent.batch_id}</code></dd>`
      }
      <dt>container image</dt>
      <dd>${executed.image ?? 'none'}</dd>
      <dt>reused runs</dt>
      <dd>${executed.reused_runs ?? 'not known'}</dd>
    </dl> `,
    table([['code'], ['kind'], ['commit'], ['runs', 'number'], ['first run', 'number'], ['image'], ['']], versions),
    table([['runner'], ['machine'], ['cores', 'number'], ['memory, GB', 'number'], ['states']], machines),
    machines.length === 0
      ? ''
      : html`<p class="soft">Machines as their runners state them now, not as of the time of the runs.</p>`,
  );
}

const READ: Readonly<Record<EvidenceReport['inputs'][number]['read'], string>> = {
  read: 'read',
  never: 'never read',
  unknown: 'unknown',
};
const EFFECT: Readonly<Record<EvidenceReport['inputs'][number]['effect'], string>> = {
  changes: 'changes outputs',
  none: 'none',
  unknown: 'unknown',
};

const inputsSection = ({ inputs }: EvidenceReport): Markup =>
  section(
    'Inputs and their pedigree',
    inputs.length === 0 ? html`<p>Not known: the submission is not at hand.</p>` : '',
    table(
      [['input'], ['units'], ['distribution'], ['source'], ['read'], ['effect']],
      inputs.map((it) => [
        it.name,
        it.units,
        it.distribution,
        it.source ?? blank('source'),
        it.varies ? html`<span class="${it.read === 'never' ? 'bad' : ''}">${READ[it.read]}</span>` : 'fixed',
        it.varies ? html`<span class="${it.effect === 'none' ? 'bad' : ''}">${EFFECT[it.effect]}</span>` : '-',
      ]),
    ),
  );

function resultsSection({ results, convergence, dependence }: EvidenceReport): Markup {
  const shown = results.outputs.filter((it) => it.count > 0);
  const note = intervalNote(shown);
  const units = (output: string): string | null => results.outputs.find((it) => it.name === output)?.units ?? null;
  return section(
    'Results with their uncertainty',
    html`<p>The figures use ${results.n_used} of ${results.of} runs.</p> `,
    outputsTable(shown),
    note === undefined ? '' : html`<p class="soft">${note}.</p> `,
    convergence.length === 0
      ? html`<p class="soft">No output is required or declared, so no convergence is shown.</p>`
      : html`<div class="plots">
          ${convergence.map(({ output, course }) => runningEstimate(output, units(output), course))}
        </div>`,
    dependence.map(({ output, sentence }) => html`<p><strong>${output}</strong>: ${sentence}</p> `),
  );
}

function countedSection({ counted, results, retries }: EvidenceReport): Markup {
  const repeated =
    retries === null
      ? 'Attempts that failed and were repeated: not known.'
      : `Attempts that failed and were repeated: ${String(retries.attempts)}. They are in no figure.`;
  return section(
    'Runs that failed, and how they count',
    table(
      [['class'], ['runs', 'number'], ['in statistics'], ['in verdicts']],
      counted.map((it) => [it.class, it.runs, it.statistics, it.verdicts]),
    ),
    html`<p>${repeated}</p> `,
    table(
      [['failures', 'number'], ['class'], ['message'], ['example run', 'number']],
      results.failures.map((it) => [it.count, it.class, it.pattern, it.example_run_id]),
    ),
  );
}

function checksSection({ audits }: EvidenceReport): Markup {
  return section(
    'Spot checks',
    audits.length === 0
      ? html`<p>None: no run was executed again to compare it.</p>`
      : table(
          [['spot check'], ['status'], ['runs', 'number'], ['compared', 'number'], ['differing', 'number'], ['']],
          audits.map((it) => [
            html`<code>${it.batch_id}</code>`,
            it.status,
            it.runs,
            it.compared,
            html`<span class="${it.differing > 0 ? 'bad' : ''}">${it.differing}</span>`,
            it.sentence,
          ]),
        ),
  );
}

function historySection({ history }: EvidenceReport): Markup {
  const rows = (history?.events ?? []).map((it): Content[] => [
    time(it.at),
    it.type,
    it.reason ?? Object.keys(it.after ?? {}).join(', '),
  ]);
  return section(
    'History and interventions',
    history === null ? html`<p>Not known.</p>` : '',
    table([['time'], ['event'], ['reason']], rows),
  );
}

const factorsSection = ({ factors }: EvidenceReport): Markup =>
  html`<div class="paper-break"></div>
    ${section(
      'Factors of NASA-STD-7009',
      html`<p class="soft">
        The first eight factors are those of NASA-STD-7009A (2016, appendix E, table 3), the last is of the first
        edition (2008). The first edition names and groups some otherwise, and revision B (2024) has eleven in two
        assessments. Levels are assigned by people. Facts that simbatch knows are listed; the rest is blank.
      </p> `,
      factors.map(
        (it) =>
          html`<h3>${it.title}</h3>
            <p class="soft">${it.meaning}</p>
            ${
              it.known.length === 0
                ? html`<p>simbatch knows nothing about it.</p>`
                : html`<ul>
                    ${it.known.map((known) => html`<li>${known}</li> `)}
                  </ul>`
            }
            ${it.to_state.map(blank)} ${blank('Level, by whom, when')}`,
      ),
    )}`;
