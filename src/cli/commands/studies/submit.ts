/** `simbatch submit`: validates a study file, then submits it. `--check` only validates. */
import { Option, type Command } from 'commander';
import { ApiError, type Client } from '../../../client/client.ts';
import { withRareBudget } from '../../../domain/study/rare-event/settings.ts';
import { selectedRuns } from '../../../domain/runs/run-selection.ts';
import { cellsOf } from '../../../domain/scenarios/cells.ts';
import { precisionPlans, precisionWarnings } from '../../../analysis/precision/planning.ts';
import { planningWarnings, runsNeeded } from '../../../analysis/requirements/planning.ts';
import { samplingWarnings } from '../../../domain/sampling/warnings.ts';
import { parseLabel } from '../../../domain/study/labels.ts';
import { REUSE_RULES, type ReuseRule } from '../../../contract/enums.ts';
import type { BatchSubmission, SubmissionWarning } from '../../../contract/types.ts';
import type { CheckedStudy } from '../../study/check-study.ts';
import { checkedLines } from '../../study/study-sentences.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { plural, printable, shortId } from '../../terminal/format.ts';
import { INT32_MAX, LIMITS } from '../../../contract/limits.ts';
import { clientCommand, connect, integerBetween, labelTexts, type ClientFlags } from '../../options.ts';
import { note, writeJson, writeLine } from '../../terminal/output.ts';
import { randomUuid, systemClock } from '../../../base/clock.ts';
import { CREATED, reportCreated, type Created } from './growth.ts';

interface SubmitFlags extends ClientFlags {
  runsOverride?: number;
  watch?: boolean;
  strict?: boolean;
  check?: boolean;
  defaults?: boolean;
  reuse?: ReuseRule;
  idempotencyKey?: string;
  continue?: boolean;
  label?: string[];
}

export function submitCommand(): Command {
  return clientCommand('submit', 'submit a study (YAML or JSON)', CREATED)
    .argument('<study>', 'the study file, - for standard input')
    .option('--runs-override <n>', 'run only the first n runs of the study', integerBetween(0, INT32_MAX))
    .option('--label <key=value>', 'add this label, and each further one, to those of the file', labelTexts)
    .option('--watch', 'follow the study to its end; the exit code gives its outcome')
    .option('--strict', 'with --watch: exit with 3 when the study is Completed but runs failed')
    .option('--check', 'only check the file, without a coordinator')
    .option('--defaults', 'with --check: list the members that take their defaults')
    .option('--continue', 'continue the study of the same design: amend its requirements, add the runs that it lacks')
    .addOption(
      new Option('--reuse <rule>', 'take results of finished runs, as policy.reuse; with --check: say which').choices(
        REUSE_RULES,
      ),
    )
    .option('--idempotency-key <key>', 'a repeat with this key submits nothing again (for 24 hours)')
    .action(async (file: string, flags: SubmitFlags) => {
      if (flags.strict === true && flags.watch !== true)
        throw new Failure(EXIT.usage, '--strict changes the exit code of --watch: give both');
      if (flags.defaults === true && flags.check !== true)
        throw new Failure(EXIT.usage, '--defaults adds to the output of --check: give both');
      if (flags.continue === true && flags.idempotencyKey !== undefined)
        throw new Failure(
          EXIT.usage,
          '--idempotency-key has no meaning with --continue, whose repeat executes nothing: leave it out',
        );
      const { loadStudy } = await import('../../study/check-study.ts');
      const study = await loadStudy(file, { option: '--runs-override', runs: flags.runsOverride });
      addLabels(study.submission, flags.label);
      const { submission } = study;
      if (flags.reuse !== undefined) submission.policy = { ...submission.policy, reuse: flags.reuse };
      if (flags.check === true) return reportChecked(file, study, flags);
      return submit(study, flags);
    });
}

/** Adds labels to those of the file; a label of the command line takes the place of one with its key. */
function addLabels(submission: BatchSubmission, texts: readonly string[] = []): void {
  if (texts.length === 0) return;
  const added = texts.map((text) => parseLabel(text) as readonly [string, string]);
  submission.labels = { ...submission.labels, ...Object.fromEntries(added) };
  const count = Object.keys(submission.labels).length;
  if (count > LIMITS.labels)
    throw new Failure(EXIT.invalid, `the study has ${count} labels; the limit is ${LIMITS.labels}`);
}

/** Says what the study does and what its requirements take, in sentences, and on request which members it leaves to their defaults. */
async function reportChecked(file: string, given: CheckedStudy, flags: SubmitFlags): Promise<void> {
  const study = { ...given, submission: withRareBudget(given.submission) };
  const { submission, defaults } = study;
  const runs = selectedRuns(submission.config, submission.runs_override).count;
  const warnings = [
    ...samplingWarnings(submission.config, runs),
    ...planningWarnings(submission, runs),
    ...precisionWarnings(submission, runs),
  ];
  const requirements = runsNeeded(submission, runs);
  // Only this part of the check asks the coordinator.
  const reuse = flags.reuse === undefined ? undefined : await (await connect(flags)).reuseForecast(submission);
  if (flags.format === 'json') {
    const precision = precisionPlans(submission);
    const cells = cellsOf(submission.config)?.count;
    return writeJson({
      valid: true,
      runs,
      ...(cells && { cells }),
      requirements,
      precision,
      warnings,
      defaults,
      ...(reuse && { reuse }),
    });
  }
  warn(warnings, study);
  const shown = flags.defaults === true ? study : { ...study, defaults: [] };
  for (const line of checkedLines(file === '-' ? '<stdin>' : file, shown, runs)) await writeLine(line);
  if (reuse !== undefined) await writeLine(printable(reuse.sentence));
  if (flags.defaults !== true && defaults.length > 0)
    note(`${plural(defaults.length, 'member')} left to defaults: see --check --defaults`);
}

async function submit(study: CheckedStudy, flags: SubmitFlags): Promise<void> {
  const client = await connect(flags);
  const created = await createStudy(client, study, flags);
  if (created.isPresent && flags.format === 'json' && flags.watch !== true) return writeJson(created.present);
  await reportCreated(client, created, flags);
}

type CreatedStudy = Created & {
  /** No study was created: a study of the same design continues. */
  isPresent: boolean;
  /** The answer of the coordinator, of a study that continues. */
  present?: object;
};

/** Submits the study or continues it; the lines say what was created. */
export async function createStudy(
  client: Client,
  study: CheckedStudy,
  flags: Pick<SubmitFlags, 'continue' | 'idempotencyKey'>,
): Promise<CreatedStudy> {
  // With a key, a repeat after a lost reply creates no second study.
  const idempotencyKey = flags.idempotencyKey ?? randomUuid(systemClock);
  const sent =
    flags.continue === true
      ? client.changes.continue(study.submission)
      : client.submit(study.submission, { idempotencyKey });
  const answer = await sent.catch((error: unknown) => {
    throw withPlaces(error, study);
  });
  warn(answer.warnings ?? [], study);
  const isAdaptive = study.submission.config.adaptive !== undefined;
  const isRare = study.submission.config.adaptive?.algorithm === 'rare_event';
  const what = isRare
    ? 'a study of rare events, whose rounds the coordinator appends,'
    : isAdaptive
      ? 'an adaptive study, which waits for rows,'
      : plural(answer.total_jobs, 'run');
  const { continuation } = answer;
  if (continuation !== undefined) note(printable(continuation.sentence));
  if (continuation?.created === false) {
    const { extension = answer } = continuation;
    const lines =
      continuation.extension === undefined
        ? [`study ${answer.batch_id} has ${plural(continuation.runs, 'run')}`]
        : [
            `${plural(extension.total_jobs, 'further run')} of ${answer.batch_id} submitted as study ${extension.batch_id}`,
          ];
    return { answer: { ...answer, batch_id: extension.batch_id }, lines, isPresent: true, present: answer };
  }
  const [, ...repeats] = answer.studies ?? [];
  const beside = repeats.length === 0 ? '' : `, and with other seeds as ${repeats.map((it) => shortId(it)).join(', ')}`;
  const lines = [`submitted ${what} as study ${answer.batch_id}${beside}`];
  if (isRare) lines.push(`read the probability and its bounds: simbatch rare ${shortId(answer.batch_id)}`);
  else if (isAdaptive) lines.push(`append a round: simbatch append ${shortId(answer.batch_id)} rows.csv --key NAME`);
  return { answer, lines, isPresent: false };
}

/** Returns a failure with the faults that only the coordinator found, with their positions in the file. */
function withPlaces(error: unknown, study: CheckedStudy): unknown {
  if (!(error instanceof ApiError) || error.faults.length === 0) return error;
  const lines = error.faults.map((fault) => `  ${study.named(fault.pointer)} ${fault.detail}`);
  return new Failure(EXIT.invalid, `the coordinator refused the study: ${plural(lines.length, 'fault')}`, lines);
}

function warn(warnings: readonly SubmissionWarning[], study: CheckedStudy): void {
  for (const { pointer, detail } of warnings) note(`warning: ${printable(study.named(pointer))}: ${printable(detail)}`);
}
