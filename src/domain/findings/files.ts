/** Findings about files of runs: a bucket that cannot be used, files that runners have still to send, files that are lost. */
import { plural } from '../plural.ts';
import { MOST_NAMED, type AwaitedLack, type OutboxPlace, type Rule } from './finding.ts';

/** A runner that has sent nothing for so long is not just busy with large files. */
const STALLED_MS = 600_000;

const STORE_UNUSABLE: Rule = {
  code: 'object-store-unusable',
  find({ storeFault }) {
    if (storeFault === undefined) return undefined;
    const { message, remedy } = storeFault;
    return { severity: 'warning', message: `files of runs cannot be uploaded: ${message}`, remedy };
  },
};

/** `runner r7 (machine node3) in /scratch/out/<batch>`. */
const whereOf = ({ runnerId, hostname }: OutboxPlace, folder: string): string =>
  `runner ${runnerId}${hostname === undefined ? '' : ` (machine ${hostname})`} in ${folder}`;

/** The runner was a pod, and is gone: no command can be run where its files were. Allocations begin with the name of their engine. */
const isGonePod = ({ isGone, allocation }: OutboxPlace): boolean =>
  isGone && allocation?.startsWith('kubernetes/') === true;

const FILES_NOT_SENT: Rule = {
  code: 'files-not-sent',
  find({ batchId, outbox }) {
    const places = (outbox ?? [])
      .filter(({ reason, isGone, idleMs }) => reason !== undefined || isGone || idleMs > STALLED_MS)
      // Runners that do not send first: they need a person.
      .toSorted((a, b) => Number(b.isGone) - Number(a.isGone) || b.files - a.files);
    const [first] = places;
    if (first === undefined) return undefined;
    const files = places.reduce((sum, it) => sum + it.files, 0);
    const runs = places.reduce((sum, it) => sum + it.runs, 0);
    const { root, hostname, isGone, reason, runnerId, allocation } = first;
    const more = places.length > 1 ? `, and on ${plural(places.length - 1, 'more runner')}` : '';
    const why = isGonePod(first)
      ? `the runner was a pod (${allocation ?? ''}) that is gone, and its own disk with it: the files are lost unless this folder is on a volume`
      : isGone
        ? 'the runner is gone'
        : (reason ?? 'it has sent nothing for ten minutes');
    const machine = hostname === undefined ? 'its machine' : `machine ${hostname}`;
    const push = `run \`simbatch files push ${batchId} --output-root ${root}\` on ${machine}`;
    return {
      severity: 'warning',
      message: `${plural(files, 'file')} of ${plural(runs, 'run')} ${files === 1 ? 'is' : 'are'} not in the object store: on ${whereOf(first, `${root}/${batchId}`)}${more}: ${why}`,
      remedy: isGonePod(first)
        ? `on a volume: run \`simbatch files push ${batchId} --output-root DIR\` where it is mounted; else execute the runs again with \`simbatch rerun ${batchId} --run-ids ...\`; the numbers of their results are not lost`
        : isGone
          ? `${push}, or start runner ${runnerId} there again`
          : `correct the cause; the runner tries again at least every 30 s. When it has left: ${push}`,
      count: runs,
      runners: places.slice(0, MOST_NAMED).map((it) => it.runnerId),
      runs: places.flatMap(({ examples }) => examples).slice(0, MOST_NAMED),
    };
  },
};

const UPLOADS_FAILED: Rule = {
  code: 'uploads-failed',
  find({ unsent }) {
    if (unsent === undefined) return undefined;
    const { files, runs, examples, detail } = unsent;
    return {
      severity: 'warning',
      message: `${plural(files, 'file')} of ${plural(runs, 'run')} could not be uploaded and will not be; the latest: ${detail}`,
      remedy:
        'nothing may change or remove the files of a run before they are sent; a file that is still there can be copied with `simbatch fetch` from a runner with `--serve-files`',
      count: runs,
      runs: [...examples],
    };
  },
};

const FILES_GONE: Rule = {
  code: 'files-gone',
  find({ filesGone }) {
    if (filesGone === undefined) return undefined;
    const { runs, run_ids: ids, why } = filesGone;
    const shown = ids.length > 200 ? `${ids.slice(0, 200)}...` : ids;
    return {
      severity: 'warning',
      message: `nothing could be computed of ${plural(runs, 'finished run')} (${shown}), whose files are gone: ${why}`,
      remedy:
        'execute these runs again with `simbatch rerun --run-ids ...` of the study that they are of, with the outputs in `config.derived` of a new submission; or leave them out',
      count: runs,
    };
  },
};

/** A reason why no run of an extraction starts. */
export const FILES_ELSEWHERE: Rule = {
  code: 'files-elsewhere',
  find({ awaited, jobsByStatus, simulation }) {
    if (awaited === undefined) return undefined;
    const [first] = awaited.runners;
    if (first === undefined || awaited.runs < jobsByStatus.Pending) return undefined;
    const more = awaited.runners.length > 1 ? ` and ${plural(awaited.runners.length - 1, 'more runner')}` : '';
    const isOne = awaited.runners.length === 1;
    const { says, remedy } = lackOf(awaited.lack, { first, isOne, simulation });
    return {
      severity: 'blocked',
      message: `${plural(awaited.runs, 'pending run')} must wait for runner ${first}${more}, which ${says} and ${isOne ? 'has' : 'have'} the files of the finished runs`,
      remedy: `${remedy}; or cancel the study`,
      count: awaited.runs,
      runners: awaited.runners.slice(0, MOST_NAMED),
    };
  },
};

function lackOf(
  lack: AwaitedLack,
  { first, isOne, simulation }: { first: string; isOne: boolean; simulation: string },
): { says: string; remedy: string } {
  const again = `start runner ${first} again, with its id and its output root`;
  if (lack === 'offline') return { says: `${isOne ? 'is' : 'are'} not connected`, remedy: again };
  if (lack === 'program')
    return {
      says: `${isOne ? 'does' : 'do'} not take the simulation "${simulation}"`,
      remedy: `${again}, and with "${simulation}" among its simulations`,
    };
  const why = lack.drained === '' ? '' : ` (${lack.drained})`;
  return { says: `${isOne ? 'is' : 'are'} drained${why}`, remedy: `resume it: simbatch resume ${first}` };
}

export const FILE_RULES: readonly Rule[] = [STORE_UNUSABLE, FILES_NOT_SENT, UPLOADS_FAILED, FILES_GONE];
