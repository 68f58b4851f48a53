/** Writes the report of a study as a file, as `simbatch report` does. */
import type { ReportOrigin, ReportSource } from '../../../src/report/collect.ts';
import type { EvidenceReport, Uuid } from '../../../src/contract/types.ts';
import { answerTo } from './use-answer.ts';
import { ENDPOINT } from './place.ts';
import { saveFile } from './download.ts';

/** Makes the page with the evidence about a study and lets the browser save it. The code is loaded when it is asked for. */
export async function saveEvidence(batchId: Uuid, name: string): Promise<void> {
  const [{ evidenceHtml }, evidence, origin] = await Promise.all([
    import('../../../src/report/evidence.ts'),
    ask<EvidenceReport>(`/batches/${batchId}/evidence`),
    currentOrigin(),
  ]);
  saveFile(new Blob([evidenceHtml(evidence, origin)], { type: 'text/html' }), `${name} evidence`, 'html');
}

/** Collects the answers, makes the page and lets the browser save it. The code is loaded when it is asked for. */
export async function saveReport(batchId: Uuid, name: string): Promise<void> {
  const [{ collectReport }, { reportHtml }] = await Promise.all([
    import('../../../src/report/collect.ts'),
    import('../../../src/report/report.ts'),
  ]);
  const data = await collectReport(sourceOf(batchId));
  const page = reportHtml(data, await currentOrigin());
  saveFile(new Blob([page], { type: 'text/html' }), name, 'html');
}

async function currentOrigin(): Promise<ReportOrigin> {
  const { info } = await ask<{ info: { version: string } }>('/openapi.json');
  return { generatedAt: new Date().toISOString(), endpoint: ENDPOINT, version: info.version };
}

const ask = <T>(path: string): Promise<T> => answerTo<T>(path, new AbortController().signal);

function sourceOf(batchId: Uuid): ReportSource {
  const of = <T>(question: string): Promise<T> => ask<T>(`/batches/${batchId}${question}`);
  const about = <T>(question: string, output: string, more = ''): Promise<T> =>
    of<T>(`/${question}?output=${encodeURIComponent(output)}${more}`);
  return {
    answer: () => of('/answer'),
    status: () => of(''),
    submission: () => of('/submission'),
    history: () => of('/history'),
    findings: () => of('/findings'),
    runners: () => ask('/runners'),
    codeVersions: () => of('/code-versions'),
    summary: () => of('/summary'),
    verdicts: (by) => of(by.length === 0 ? '/verdicts' : `/verdicts?by=${by.map(encodeURIComponent).join()}`),
    distributions: () => of('/distributions'),
    attribution: () => of('/attribution'),
    sensitivity: (output) => about('sensitivity', output),
    convergence: (output) => about('convergence', output),
    pbox: (output) => about('pbox', output),
    band: (history) => of(`/band?history=${encodeURIComponent(history)}`),
    worst: (output, direction) => about('worst', output, `&k=5&direction=${direction}`),
  };
}
