/** Collects the answers that a report shows. An answer that cannot be had is replaced by its reason, which the report says. */
import type {
  BatchHistory,
  BatchStatusResponse,
  BatchSubmission,
  CodeVersionList,
  Convergence,
  Finding,
  HistoryBand,
  OutputBox,
  RunnerListResponse,
  StudyAnswer,
  StudyAttribution,
  StudyDistributions,
  StudySensitivity,
  StudySummary,
  StudyVerdicts,
  WorstRuns,
} from '../contract/types.ts';
import { historyName } from '../domain/histories/points.ts';
import { axesOfStudy } from '../domain/scenarios/cells.ts';

/** Where and when a report is made. */
export interface ReportOrigin {
  /** Time of the report, in ISO 8601. */
  generatedAt: string;
  /** The address of the coordinator. */
  endpoint: string;
  /** Version of the program that writes it. */
  version: string;
}

/** The questions of a report about one study. */
export interface ReportSource {
  answer(): Promise<StudyAnswer>;
  status(): Promise<BatchStatusResponse>;
  submission(): Promise<BatchSubmission>;
  history(): Promise<BatchHistory>;
  findings(): Promise<Finding[]>;
  runners(): Promise<RunnerListResponse>;
  codeVersions(): Promise<CodeVersionList>;
  summary(): Promise<StudySummary>;
  /** `by`: the axes of its scenarios, for the verdicts of its cells; none of a study without. */
  verdicts(by: readonly string[]): Promise<StudyVerdicts>;
  distributions(): Promise<StudyDistributions>;
  attribution(): Promise<StudyAttribution>;
  sensitivity(output: string): Promise<StudySensitivity>;
  convergence(output: string): Promise<Convergence>;
  worst(output: string, direction: 'largest' | 'smallest'): Promise<WorstRuns>;
  band(history: string): Promise<HistoryBand>;
  pbox(output: string): Promise<OutputBox>;
}

/** The answers about one output of a requirement. */
export interface OutputAnswers {
  output: string;
  /** The extreme that a requirement limits. */
  direction: 'largest' | 'smallest';
  sensitivity: StudySensitivity | undefined;
  convergence: Convergence | undefined;
  worst: WorstRuns | undefined;
}

export interface ReportData {
  answer: StudyAnswer | undefined;
  status: BatchStatusResponse;
  submission: BatchSubmission;
  history: BatchHistory;
  findings: readonly Finding[];
  runners: RunnerListResponse | undefined;
  codeVersions: CodeVersionList | undefined;
  summary: StudySummary | undefined;
  verdicts: StudyVerdicts | undefined;
  distributions: StudyDistributions | undefined;
  attribution: StudyAttribution | undefined;
  outputs: readonly OutputAnswers[];
  /** Of the histories that the study declares. */
  bands: readonly HistoryBand[];
  /** The bounds of the outputs over the cells of a study with epistemic inputs. */
  boxes: readonly OutputBox[];
  /** Parts of the report that are missing, each with its reason. */
  absent: readonly string[];
}

/** Outputs with answers of their own: those of the first requirements. */
const MOST_OUTPUTS = 4;

/** @throws what the source throws for the study itself; other answers may be absent */
export async function collectReport(source: ReportSource): Promise<ReportData> {
  const [status, submission] = await Promise.all([source.status(), source.submission()]);
  const axes = axesOfStudy(submission.config);
  const absent: string[] = [];
  const attempt = async <T>(part: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask();
    } catch (error) {
      absent.push(`${part}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  const [answer, history, findings, runners, codeVersions, summary, verdicts, distributions, attribution] =
    await Promise.all([
      attempt('answer', () => source.answer()),
      source.history(),
      source.findings(),
      attempt('runners', () => source.runners()),
      attempt('code versions', () => source.codeVersions()),
      attempt('statistics', () => source.summary()),
      attempt('verdicts', () => source.verdicts(axes.map(({ name }) => name))),
      attempt('distributions', () => source.distributions()),
      status.batch.failed_jobs === 0 ? undefined : attempt('causes of failures', () => source.attribution()),
    ]);
  const outputs: OutputAnswers[] = [];
  const boxes: OutputBox[] = [];
  for (const [output, direction] of limitedOutputs(submission)) {
    const hasValues = summary?.outputs.some((it) => it.name === output && it.count > 0) ?? false;
    if (!hasValues) continue;
    outputs.push({
      output,
      direction,
      sensitivity: await attempt(`sensitivity of ${output}`, () => source.sensitivity(output)),
      convergence: await attempt(`convergence of ${output}`, () => source.convergence(output)),
      worst: await attempt(`worst runs of ${output}`, () => source.worst(output, direction)),
    });
    if (submission.config.epistemic === undefined) continue;
    const box = await attempt(`bounds of ${output}`, () => source.pbox(output));
    if (box !== undefined) boxes.push(box);
  }
  const bands: HistoryBand[] = [];
  for (const name of (submission.config.histories ?? []).map(historyName)) {
    const band = await attempt(`band of ${name}`, () => source.band(name));
    if (band !== undefined) bands.push(band);
  }
  return {
    answer,
    status,
    submission,
    history,
    findings,
    runners,
    codeVersions,
    summary,
    verdicts,
    distributions,
    attribution,
    outputs,
    bands,
    boxes,
    absent,
  };
}

/** The outputs of the requirements, each with the end that its condition limits. */
function limitedOutputs({ requirements = [] }: BatchSubmission): [string, 'largest' | 'smallest'][] {
  const found = new Map<string, 'largest' | 'smallest'>();
  for (const { output, condition = '' } of requirements)
    if (output !== undefined && !found.has(output))
      found.set(output, condition.trim().startsWith('>') ? 'smallest' : 'largest');
  return [...found].slice(0, MOST_OUTPUTS);
}
