/**
 * `RARE_LINES=FILE RARE_PYTHON=PYTHON node dist/bench/validation/rare/peers.js`: OpenTURNS' SubsetSampling and NAIS on the problems of the
 * coverage of rare events, beside its studies in FILE. The interpreter has openturns; the scores are computed here, by the same functions.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { FRESH } from './fresh.ts';
import { Lines, type Line, METHODS } from './lines.ts';
import { STUDIES } from './measure.ts';
import type { Problem } from './problem.ts';
import { SHAPED } from './shaped.ts';
import { noiseOf } from './study.ts';

/** Scores that climb by steps alone: NAIS does not end on them. */
const STEPS = ['a flag', 'a step: three values'];
/** The problems of at most ten parameters: in more, single studies of these methods take minutes. */
export const COMPARED = [...FRESH, ...SHAPED].filter(({ name, d }) => d <= 10 && !STEPS.includes(name));

/** A request of the program for scores, whose points follow. */
interface ScoreRequest {
  problem: number;
  seed: number;
  count: number;
}
/** An answer of one of its methods. */
type PeerAnswer = Omit<Line, 'problem' | 'd'> & { problem: number };

function scoresOf({ d, score }: Problem, points: Buffer, seed: number, noise: () => number): Buffer {
  const z = new Float64Array(d);
  const count = points.length / 8 / d;
  const scores = Buffer.alloc(8 * count);
  for (let at = 0; at < count; at++) {
    for (let i = 0; i < d; i++) z[i] = points.readDoubleLE(8 * (at * d + i));
    scores.writeDoubleLE(score(z, noiseOf(seed, noise())), 8 * at);
  }
  return scores;
}

/** Makes both methods' answers for the seeds of a range that the file lacks for some problem. */
async function measure(python: string, lines: Lines): Promise<void> {
  const lacks = (seed: number): boolean =>
    COMPARED.some(({ name, d }) => METHODS.slice(1).some((method) => !lines.has({ problem: name, d, method, seed })));
  const first = Array.from({ length: STUDIES }, (_, at) => at + 1).find(lacks);
  if (first === undefined) return;
  const script = join(packageRoot, 'bench', 'validation', 'rare', 'peers.py');
  const args = [script, String(first), String(STUDIES), COMPARED.map(({ d }) => d).join()];
  const program = spawn(python, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  // A method's answer ends its study.
  let runs = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const message = JSON.parse(rest.toString('utf8', 0, end)) as ScoreRequest | PeerAnswer;
      const problem = COMPARED[message.problem]!;
      const { name, d } = problem;
      if (!('count' in message)) {
        rest = rest.subarray(end + 1);
        lines.add({ ...message, problem: name, d });
        runs = 0;
        continue;
      }
      const { count, seed } = message;
      const size = 8 * count * d;
      if (rest.length < end + 1 + size) break;
      const points = rest.subarray(end + 1, end + 1 + size);
      program.stdin.write(scoresOf(problem, points, seed, () => runs++));
      rest = rest.subarray(end + 1 + size);
    }
  }
}

if (process.argv[1]?.endsWith('rare/peers.js') === true) {
  const { RARE_PYTHON: python, RARE_LINES: path } = process.env;
  if (python === undefined || path === undefined)
    throw new Error(
      'RARE_PYTHON and RARE_LINES are missing: name an interpreter that has openturns, and a file for the studies',
    );
  await measure(python, new Lines(path));
}
