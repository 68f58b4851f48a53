/** Injected bugs of extractions; the seeded worlds find most of them. */
import type { InjectedBug } from './injected-bug.ts';

const EXTRACT = 'src/coordinator/studies/growth/extract.js';
const PLACES = 'src/coordinator/scheduling/batches/file-places.js';
const PARENT_FILES = 'src/coordinator/files/parent-files.js';
const worlds = { test: 'sim/simulation.test.js', title: 'keeps its promises in' };
const PUT = 'turn.put(keys.result(jobId), encodeResult(expectUpload(parts, turn, { jobId, runnerId }, result)));';

export const EXTRACTION_BUGS: readonly InjectedBug[] = [
  {
    name: 'an extraction is started twice by a repeated request',
    file: EXTRACT,
    find: 'createDerived(parts, batchId, options, async',
    replace: 'createDerived(parts, batchId, {}, async',
    ...worlds,
  },
  {
    name: 'two extractions that are asked for at once have one name',
    file: EXTRACT,
    find: 'check: (turn) =>',
    replace: 'unchecked: (turn) =>',
    test: 'coordinator/studies/growth/extract.test.js',
    title: 'numbers extractions, and refuses a name twice',
  },
  {
    name: 'a run is given to a runner without its files',
    file: PLACES,
    find: 'for (const place of [runnerId, undefined]) {',
    replace: 'for (const place of [runnerId, undefined, ...this.#queues.keys()]) {',
    ...worlds,
  },
  {
    name: 'a requeued run is given to a runner without its files',
    file: 'src/coordinator/scheduling/scheduler.js',
    find: 'places?.reaches(request.runnerId, run.runId) === false',
    replace: 'false',
    ...worlds,
  },
  {
    name: 'the queues of the places are lost at a restart',
    file: 'src/coordinator/scheduling/live-queries.js',
    find: 'return extraction && new FilePlaces(extraction);',
    replace: 'return batch.completed > 0 ? undefined : extraction && new FilePlaces(extraction);',
    ...worlds,
  },
  {
    name: 'an extraction changes the result of the finished run',
    file: 'src/coordinator/runs/reports.js',
    find: PUT,
    replace: `{ ${PUT} const { parent } = turn.state('batch', batchIdOf(jobId)).context; if (parent?.relation === 'extraction') turn.put(keys.result(jobId.replace(batchIdOf(jobId).slice(0, -8), parent.batchId.slice(0, -8))), encodeResult(result)); }`,
    ...worlds,
  },
  {
    name: 'the files of another attempt are read',
    file: PARENT_FILES,
    find: 'attempt: found.attempt,',
    replace: 'attempt: 1,',
    ...worlds,
  },
  {
    name: 'the files of the next run are read',
    file: PARENT_FILES,
    find: 'run_id: runIdOf(owner),',
    replace: 'run_id: runIdOf(owner) + 1,',
    ...worlds,
  },
  {
    name: 'a formula of outputs needs the telemetry of another runner',
    file: PARENT_FILES,
    find: 'const addresses = read(found.result);',
    replace: 'const addresses = found.result.telemetry_data == null ? [] : [found.result.telemetry_data];',
    ...worlds,
  },
  {
    name: 'runs whose deleted files a runner did not find are not counted',
    file: 'src/coordinator/reads/extractions.js',
    find: "if (reason !== 'files-gone')",
    replace: '',
    ...worlds,
  },
  {
    name: 'runs whose files are known to be gone at the start are not counted',
    file: EXTRACT,
    find: 'const stored = { name, places, ...(withoutFiles === undefined ? {} : { withoutFiles }) };',
    replace: 'const stored = { name, places };',
    test: 'coordinator/studies/growth/extract.test.js',
    title: 'leaves out a run that has the result of a run of a deleted study',
  },
];
