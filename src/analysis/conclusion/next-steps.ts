/** The next steps of the answer about a study, each as a page of the dashboard and a command. Pure. */
import { quoted } from '../../base/text/shell.ts';
import { jobId, shortId } from '../../domain/ids.ts';
import { plural } from '../../domain/plural.ts';
import type { AnswerLevel, Finding, StudyAnswer, Uuid } from '../../contract/types.ts';
import type { RequirementEvidence, StudyEvidence } from './evidence.ts';

type Step = StudyAnswer['next'][number];

export const MOST_STEPS = 3;

function page(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const parameters = new URLSearchParams(query).toString();
  return `/#/${path.map(encodeURIComponent).join('/')}${parameters === '' ? '' : `?${parameters}`}`;
}

interface Decided {
  level: AnswerLevel;
  isAlike: boolean;
  blocked: Finding | undefined;
  /** The canary study that the runs wait for. */
  canary: Uuid | undefined;
  /** The requirement that the sentence is about. */
  requirement: RequirementEvidence | undefined;
}

/** The steps in the order of their use; each rule gives one where it applies. */
export function nextSteps(evidence: StudyEvidence, decided: Decided): Step[] {
  const steps = decided.isAlike ? ofAlike(evidence) : BY_LEVEL[decided.level](evidence, decided);
  return steps.slice(0, MOST_STEPS);
}

const BY_LEVEL: Readonly<Record<AnswerLevel, (evidence: StudyEvidence, decided: Decided) => Step[]>> = {
  ok: (evidence) => [...rare(evidence), read(evidence), report(evidence)],
  not_ok: (evidence, decided) => [
    ...rare(evidence),
    ...violating(evidence, decided),
    ...why(evidence),
    ...rerunFailed(evidence),
    report(evidence),
  ],
  not_enough: (evidence, decided) => [
    ...rare(evidence),
    ...extend(evidence, decided),
    ...violating(evidence, decided),
    ...rerunFailed(evidence),
    read(evidence),
  ],
  blocked: (evidence, { blocked }) => unblock(evidence, blocked),
  running: (evidence, decided) => [
    ...(decided.canary === undefined ? [] : [showCanary(decided.canary)]),
    follow(evidence),
    ...violating(evidence, decided),
    ...showFailed(evidence),
  ],
  cancelled: (evidence, decided) => [
    ...violating(evidence, decided),
    ...rerunCancelled(evidence),
    ...showFailed(evidence),
    ...(evidence.counts.ok > 0 ? [read(evidence)] : []),
  ],
};

const study = ({ batch_id: id }: StudyEvidence): string => shortId(id);
const overview = ({ batch_id: id }: StudyEvidence): string => page(['batches', id]);
const runs = ({ batch_id: id }: StudyEvidence, query: Record<string, string>): string =>
  page(['batches', id, 'runs'], query);

function ofAlike(evidence: StudyEvidence): Step[] {
  const [failure] = evidence.failures;
  const run = failure?.example_run_id ?? 0;
  return [
    {
      label: `Show the output of run ${run}`,
      action: {
        page: page(['jobs', jobId(evidence.batch_id, run)]),
        command: `simbatch logs ${study(evidence)}/${run}`,
      },
    },
    {
      label: `Execute run ${run} again here`,
      action: {
        page: page(['jobs', jobId(evidence.batch_id, run)]),
        command: `simbatch replay ${study(evidence)}/${run}`,
      },
    },
    rerun(evidence, failure?.count ?? evidence.total, 'failed', '--state Failed,Timeout', { status: 'Failed,Timeout' }),
  ];
}

/** The answer of a study of rare events with its warnings. */
function rare(evidence: StudyEvidence): Step[] {
  if (typeof evidence.rare?.phase !== 'string') return [];
  return [
    {
      label: 'Read the probability and its warnings',
      action: { page: overview(evidence), command: `simbatch rare ${study(evidence)}` },
    },
  ];
}

function violating(evidence: StudyEvidence, { requirement: it }: Decided): Step[] {
  if (it === undefined || it.violating === 0) return [];
  const label = it.violating === 1 ? 'Show the violating run' : `Show the ${it.violating} violating runs`;
  const command = `simbatch table ${study(evidence)} --where ${quoted(it.where)}`;
  return [{ label, action: { page: runs(evidence, { where: it.where }), command } }];
}

function why(evidence: StudyEvidence): Step[] {
  const { cause } = evidence;
  if (cause === null) return [];
  const range = `p.${cause.parameter}:${cause.first ?? ''}..${cause.last ?? ''}`;
  return [
    {
      label: `Why: ${cause.condition}`,
      action: {
        page: page(['batches', evidence.batch_id, 'explore'], { select: range }),
        command: `simbatch why ${study(evidence)} --failing ${quoted(cause.failing)}`,
      },
    },
  ];
}

function rerun(
  evidence: StudyEvidence,
  count: number,
  which: string,
  option: string,
  query: Record<string, string>,
): Step {
  return {
    label: count === 1 ? `Rerun the run that ${which}` : `Rerun the ${count} that ${which}`,
    action: { page: runs(evidence, query), command: `simbatch rerun ${study(evidence)} ${option}` },
  };
}

/** The class with the most runs that did not give an answer. */
function rerunFailed(evidence: StudyEvidence): Step[] {
  const { crashed, timeout, lost } = evidence.counts;
  const most = Math.max(crashed, timeout, lost);
  if (most === 0) return [];
  const [kind, words] =
    crashed === most ? ['crashed', 'crashed'] : timeout === most ? ['timeout', 'timed out'] : ['lost', 'were lost'];
  const said = kind === 'lost' && most === 1 ? 'was lost' : words;
  return [rerun(evidence, most, said, `--failure-kind ${kind}`, { where: `class = ${kind}` })];
}

function rerunCancelled(evidence: StudyEvidence): Step[] {
  const { cancelled } = evidence.counts;
  if (cancelled === 0) return [];
  const which = cancelled === 1 ? 'was cancelled' : 'were cancelled';
  return [rerun(evidence, cancelled, which, '--state Cancelled', { status: 'Cancelled' })];
}

function showFailed(evidence: StudyEvidence): Step[] {
  const { crashed, timeout, lost, terminated } = evidence.counts;
  const failed = crashed + timeout + lost + terminated;
  if (failed === 0) return [];
  return [
    {
      label: failed === 1 ? 'Show the failed run' : `Show the ${failed} failed runs`,
      action: {
        page: runs(evidence, { status: 'Failed,Timeout' }),
        command: `simbatch runs ${study(evidence)} --status Failed,Timeout`,
      },
    },
  ];
}

function extend(evidence: StudyEvidence, { requirement: it }: Decided): Step[] {
  const more = it === undefined ? runsToPrecision(evidence) : it.more_clean_runs;
  if (more === null) return [];
  return [
    {
      label: `Extend the study by ${plural(more, 'run')}`,
      action: {
        page: overview(evidence),
        command: `simbatch extend ${study(evidence)} --runs ${evidence.total + more}`,
      },
    },
  ];
}

/** The runs that the precisions are expected to take beyond those of the study; null where the runs so far do not say. */
function runsToPrecision({ precision, total }: StudyEvidence): number | null {
  const expected = precision.filter(({ state }) => state !== 'reached').map((it) => it.runs_expected);
  if (expected.length === 0 || expected.includes(null)) return null;
  const more = Math.max(...(expected as number[])) - total;
  return more > 0 ? more : null;
}

const read = (evidence: StudyEvidence): Step => ({
  label: 'Read the statistics',
  action: { page: overview(evidence), command: `simbatch summary ${study(evidence)}` },
});

const report = (evidence: StudyEvidence): Step => ({
  label: 'Write the report',
  action: { page: overview(evidence), command: `simbatch report ${study(evidence)} -o report.html` },
});

const follow = (evidence: StudyEvidence): Step => ({
  label: 'Follow the study',
  action: { page: overview(evidence), command: `simbatch watch ${study(evidence)}` },
});

const showCanary = (id: Uuid): Step => ({
  label: 'Show the canary study',
  action: { page: page(['batches', id]), command: `simbatch status ${shortId(id)}` },
});

function unblock(evidence: StudyEvidence, blocked: Finding | undefined): Step[] {
  const cancel: Step = {
    label: 'Cancel the study',
    action: { page: overview(evidence), command: `simbatch cancel ${study(evidence)}` },
  };
  return [...removals(evidence, blocked), cancel];
}

function removals(evidence: StudyEvidence, { code, runners = [], study: other }: Partial<Finding> = {}): Step[] {
  const pool = page(['runners']);
  switch (code) {
    case 'paused':
      return [
        {
          label: 'Resume the study',
          action: { page: overview(evidence), command: `simbatch resume ${study(evidence)}` },
        },
      ];
    case 'canary-failed':
      return [
        ...(other === undefined ? showFailed(evidence) : [showCanary(other)]),
        {
          label: 'Release the other runs',
          action: { page: overview(evidence), command: `simbatch release ${study(evidence)}` },
        },
      ];
    case 'no-runner':
    case 'all-offline':
      return [{ label: 'Start a runner', action: { page: pool, command: 'simbatch runner' } }];
    case 'all-drained':
      return runners.slice(0, 1).map((id) => ({
        label: `Resume the runner ${id}`,
        action: { page: pool, command: `simbatch resume ${quoted(id)}` },
      }));
    default:
      return [{ label: 'Show the pool', action: { page: pool, command: 'simbatch runners' } }];
  }
}
