/** Bugs that are injected into the compiled program, each with the test that must fail then. A new one joins the list of its subject. */
import { EXTRACTION_BUGS } from './extractions.ts';
import { FILE_BUGS } from './files.ts';
import { HISTORY_BUGS } from './histories.ts';
import type { InjectedBug } from './injected-bug.ts';
import { KERNEL_BUGS } from './kernel.ts';
import { LAUNCHER_BUGS } from './launcher.ts';
import { REUSE_BUGS } from './reuse.ts';
import { ROUND_BUGS } from './rounds.ts';
import { RUNNER_BUGS } from './runner.ts';
import { STUDY_BUGS } from './studies.ts';

export const INJECTED_BUGS: readonly InjectedBug[] = [
  ...KERNEL_BUGS,
  ...LAUNCHER_BUGS,
  ...EXTRACTION_BUGS,
  ...FILE_BUGS,
  ...HISTORY_BUGS,
  ...REUSE_BUGS,
  ...ROUND_BUGS,
  ...RUNNER_BUGS,
  ...STUDY_BUGS,
];
