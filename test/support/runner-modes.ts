/** The ways in which a runner starts runs, for tests of the run contract: each test of it holds in all of them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package.ts';
import { SIMULATION } from './runner-process.ts';

export const PYTHON_SIMULATION = join(packageRoot, 'test/support/simulations/behave.py');

export interface RunnerMode {
  name: string;
  /** Flags of the runner. */
  args: readonly string[];
  /** The simulation of `test/support/simulations` that it executes. */
  simulation: string;
  isWarm: boolean;
  /** Of the studies; absent: a process for each run. */
  isolation?: 'shared';
  /** Why this machine cannot have it. */
  missing: string | undefined;
}

export function pythonFault(): string | undefined {
  try {
    execFileSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no Python 3.9 or later';
  }
}

/** Answers as a Python that is too old to start programs for the runner. */
const OLD_PYTHON = join(packageRoot, 'test/support/simulations/old-python.sh');

export const MODES: readonly RunnerMode[] = [
  { name: 'cold', args: [], simulation: SIMULATION, isWarm: false, missing: undefined },
  {
    name: 'cold, started by the runner itself',
    args: ['--python-executable', OLD_PYTHON],
    simulation: SIMULATION,
    isWarm: false,
    missing: undefined,
  },
  {
    name: 'forked by a warm Python',
    args: ['--warm', '--entrypoint', PYTHON_SIMULATION],
    simulation: PYTHON_SIMULATION,
    isWarm: true,
    missing: pythonFault(),
  },
  { name: 'in a Node that waits', args: ['--warm'], simulation: SIMULATION, isWarm: true, missing: undefined },
];

/** The runs of a study with `isolation: shared`. */
export const SHARED: RunnerMode = {
  name: 'in an interpreter that executes run after run',
  args: ['--warm', '--entrypoint', PYTHON_SIMULATION],
  simulation: PYTHON_SIMULATION,
  isWarm: true,
  isolation: 'shared',
  missing: pythonFault(),
};
