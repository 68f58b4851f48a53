/** Follows a study to its end: a line of progress, findings and verdicts so far, drawn over again on a terminal. */
import { UnreachableError, type Client } from '../../client/client.ts';
import type { BatchStatusResponse, Finding, StudyAnswer, Uuid } from '../../contract/types.ts';
import { EXIT } from '../exit-codes.ts';
import { answerOf, answerTone, rareLine } from './answer-line.ts';
import { progressLine, precisionProgressLine } from '../study/answer-text.ts';
import { findingLines, findingTone } from '../study/findings.ts';
import { Failure } from '../failure.ts';
import { formatDuration } from '../terminal/format.ts';
import { note } from '../terminal/output.ts';
import { EtaEstimator } from './eta.ts';
import { LiveBlock } from './live-block.ts';
import { doneOf, percentDone, progressText, waitingText } from './progress-text.ts';
import { statusTone } from '../terminal/colour.ts';
import { sleep, systemClock } from '../../base/clock.ts';

const POLL_MS = 1_000;
/** How long to wait for a coordinator that restarts. */
const PATIENCE_MS = 120_000;
/** Share of progress after which a line is written where there is no terminal; at the latest after a minute. */
const LINE_SHARE = 0.05;
const LINE_MS = 60_000;
/** Findings are read again after this time. */
const FINDINGS_MS = 5_000;
/** The requirements whose verdicts have a line of their own. */
const SHOWN_REQUIREMENTS = 10;

/** A study as it is seen at one time. */
interface Sight {
  status: BatchStatusResponse;
  /** Findings that something is wrong; undefined of a study that has ended. */
  findings: readonly Finding[] | undefined;
  progress: string;
  /** Undefined where it is not shown. */
  answer: StudyAnswer | undefined;
  /** Of a study of rare events: its phase, level, and estimate and bounds so far. */
  rare: string | undefined;
}

interface Display {
  show(sight: Sight): void;
  say(line: string): void;
}

/** How a study is followed. */
export interface Following {
  /** No progress is shown; the coordinator is still waited for. */
  isSilent?: boolean;
  /** Milliseconds after which the following ends with a failure. */
  limitMs?: number;
}

/**
 * Returns the final status, or that of a study whose canary has failed: nothing more is executed until a person decides.
 * @throws Failure when `signal` is aborted, when the limit is reached, or when the coordinator stays unreachable
 */
export async function follow(
  client: Client,
  batchId: Uuid,
  signal: AbortSignal,
  { isSilent = false, limitMs = Number.POSITIVE_INFINITY }: Following = {},
): Promise<BatchStatusResponse> {
  const display = isSilent ? SILENT : process.stderr.isTTY ? new BlockDisplay() : new LineDisplay();
  const pace = new EtaEstimator();
  const startedMs = systemClock.now();
  let unreachableSinceMs: number | undefined;
  let findings: Finding[] = [];
  let answer: StudyAnswer | undefined;
  let rare: string | undefined;
  let findingsAtMs = Number.NEGATIVE_INFINITY;
  let waitSecs = 0;
  for (;;) {
    if (signal.aborted)
      throw new Failure(EXIT.interrupted, `stopped watching; the study continues: simbatch watch ${batchId}`);
    const now = systemClock.now();
    try {
      const status = await client.batch(batchId, waitSecs, signal);
      const isOpen = isStudyOpen(status) || (await hasOpenRepeat(client, status));
      if (!isSilent && isOpen && now - findingsAtMs >= FINDINGS_MS) {
        findings = (await client.findings(batchId)).filter(({ severity }) => severity !== 'fine');
        if (display instanceof BlockDisplay) answer = (await answerOf(client, batchId)) ?? answer;
        if (status.batch.budget !== undefined) rare = await rareLine(client, batchId);
        findingsAtMs = now;
      }
      unreachableSinceMs = undefined;
      // The coordinator answers at once about a study that has ended or waits for rows.
      const mayWait = isStudyOpen(status) && status.batch.waiting_for_rows !== true && limitMs >= POLL_MS;
      waitSecs = mayWait ? POLL_MS / 1000 : 0;
      pace.see(systemClock.now(), doneOf(status.jobs_by_status));
      const progress = progressText(status, pace, systemClock.now());
      display.show({
        status,
        findings: isOpen ? findings : undefined,
        progress,
        answer: isOpen ? answer : undefined,
        rare: isOpen ? rare : undefined,
      });
      if (!isOpen || status.batch.canary_failed === true) return status;
    } catch (error) {
      if (signal.aborted) continue;
      if (!(error instanceof UnreachableError)) throw error;
      waitSecs = 0;
      if (unreachableSinceMs === undefined)
        display.say(`the coordinator does not answer; retrying for ${formatDuration(PATIENCE_MS / 1000)}`);
      unreachableSinceMs ??= systemClock.now();
      if (systemClock.now() - unreachableSinceMs > PATIENCE_MS) throw error;
    }
    if (systemClock.now() - startedMs >= limitMs)
      throw new Failure(
        EXIT.conflict,
        `the study ${batchId} has not ended after ${formatDuration(limitMs / 1000)}: it continues`,
      );
    if (waitSecs === 0) await sleep(systemClock, Math.min(POLL_MS, limitMs), signal);
  }
}

const isStudyOpen = ({ batch: { status } }: BatchStatusResponse): boolean =>
  status === 'Pending' || status === 'Running';

/** True while a study that was submitted together with this one has not ended: they are answered together. */
async function hasOpenRepeat(client: Client, { batch: { children = [] } }: BatchStatusResponse): Promise<boolean> {
  for (const { batch_id: id, relation } of children)
    if (relation === 'repeat' && isStudyOpen(await client.batch(id))) return true;
  return false;
}

const SILENT: Display = { show: () => {}, say: () => {} };

const BAR = 16;

/** `████████░░░░░░░░`: the share of runs that have ended. */
function barText({ jobs_by_status: counts, batch }: BatchStatusResponse): string {
  const full = Math.floor((BAR * percentDone(doneOf(counts), batch.total_jobs)) / 100);
  return '█'.repeat(full) + '░'.repeat(BAR - full);
}

function waitingLines({ batch }: BatchStatusResponse): { text: string; isProse: true }[] {
  const text = waitingText(batch, systemClock.now());
  return text === undefined ? [] : [{ text: `waits ${text}`, isProse: true }];
}

class BlockDisplay implements Display {
  readonly #block = new LiveBlock(process.stderr);

  show({ status, findings, progress, answer, rare }: Sight): void {
    // The outcome of a study that has ended is printed with its verdicts.
    const requirements = findings === undefined ? [] : (status.requirements ?? []);
    const precision = findings === undefined ? [] : (status.precision ?? []);
    this.#block.show([
      ...(answer === undefined ? [] : [{ text: answer.sentence, tone: answerTone(answer), isProse: true } as const]),
      { text: `${progress}  ${barText(status)}`, tone: 'strong' },
      ...(rare === undefined ? [] : [{ text: rare, isProse: true } as const]),
      ...waitingLines(status),
      ...(findings ?? []).flatMap((it) =>
        findingLines([it]).map((text) => ({ text, tone: findingTone(it), isProse: true }) as const),
      ),
      ...requirements.slice(0, SHOWN_REQUIREMENTS).map((it) => ({
        text: progressLine(it),
        tone: statusTone(it.verdict ?? 'none'),
        isProse: true,
      })),
      ...precision.slice(0, SHOWN_REQUIREMENTS).map((it) => ({
        text: precisionProgressLine(it),
        tone: statusTone(it.state === 'reached' ? 'met' : 'open'),
        isProse: true,
      })),
    ]);
  }

  say(line: string): void {
    this.#block.say(line);
  }
}

/** The display where there is no terminal: a line when there is news. */
class LineDisplay implements Display {
  #lastDone = -1;
  #lastMs = 0;
  #lastStatus = '';
  #lastVerdicts = '';
  #lastFindings = '';
  #wasWaiting = false;
  #lastRare: string | undefined;

  show({ status, findings, progress, rare }: Sight): void {
    if (findings !== undefined) this.#showFindings(findings);
    const { batch, jobs_by_status: counts, requirements = [] } = status;
    const isWaiting = batch.waiting_for_rows === true;
    if (isWaiting && !this.#wasWaiting) for (const { text } of waitingLines(status)) note(text);
    this.#wasWaiting = isWaiting;
    if (rare !== undefined && rare !== this.#lastRare) note(rare);
    this.#lastRare = rare;
    const done = doneOf(counts);
    const now = systemClock.now();
    const verdicts = requirements.map((it) => it.verdict).join();
    const isNews = done - this.#lastDone >= batch.total_jobs * LINE_SHARE && done > this.#lastDone;
    const isSame = batch.status === this.#lastStatus && verdicts === this.#lastVerdicts;
    if (!isNews && isSame && now - this.#lastMs < LINE_MS) return;
    this.#lastDone = done;
    this.#lastMs = now;
    this.#lastStatus = batch.status;
    this.#lastVerdicts = verdicts;
    note(progress);
    for (const it of requirements) note(`  ${progressLine(it)}`);
    for (const it of status.precision ?? []) note(`  ${precisionProgressLine(it)}`);
  }

  /** The findings when they change; when none is left, that they are gone. */
  #showFindings(findings: readonly Finding[]): void {
    const lines = findingLines(findings);
    const text = findings.map(({ code }) => code).join();
    if (text === this.#lastFindings) return;
    this.#lastFindings = text;
    for (const line of lines) note(line);
    if (lines.length === 0) note('OK: nothing hinders the study any more');
  }

  say(line: string): void {
    note(line);
  }
}
