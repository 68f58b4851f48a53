/** The parts of the program in which mutants are drawn, with the tests nearest to each. */

export interface Area {
  name: string;
  /** Files, or folders with all files below. */
  sources: readonly string[];
  /** Test files, or folders with all files below `test/`. */
  quick: readonly string[];
  /** The same of simulations and of tests that start programs: run on the mutants that the quick ones do not find. */
  slow: readonly string[];
}

export const AREAS: readonly Area[] = [
  {
    name: 'judgement',
    sources: ['src/coordinator/judgement', 'src/analysis/requirements'],
    quick: [
      'coordinator/judgement',
      'analysis/requirements',
      'analysis/questions.test.ts',
      'coordinator/slices.long.test.ts',
    ],
    slow: ['sim/stopping.long.test.ts'],
  },
  {
    name: 'checkpoints',
    sources: ['src/coordinator/files/checkpoints', 'src/runner/checkpoints'],
    quick: ['coordinator/files/checkpoints', 'runner/checkpoints'],
    slow: ['e2e/runner/checkpoints.test.ts', 'e2e/object-store/checkpoints.test.ts'],
  },
  {
    name: 'warm launch',
    sources: ['src/runner/launch'],
    quick: ['runner/launch', 'machines/warm.test.ts'],
    slow: [
      'e2e/runner/launch/starter.test.ts',
      'e2e/runner/launch/warm-python.test.ts',
      'e2e/runner/launch/same-node.test.ts',
    ],
  },
  {
    name: 'launcher',
    sources: ['src/launcher/config', 'src/launcher/decision', 'src/launcher/loop', 'src/launcher/state'],
    quick: ['launcher'],
    slow: ['sim/launcher/launcher.long.test.ts', 'e2e/launcher/slurm.test.ts'],
  },
  {
    name: 'growth',
    sources: ['src/coordinator/studies/growth', 'src/domain/study/growth.ts'],
    quick: [
      'coordinator/studies/growth',
      'coordinator/studies/run-selection.test.ts',
      'coordinator/slices.long.test.ts',
    ],
    slow: [],
  },
  {
    name: 'files',
    sources: ['src/coordinator/files', 'src/runner/files'],
    quick: ['coordinator/files', 'runner/files', 'runner/parts.test.ts', 'runner/durability.test.ts'],
    slow: ['e2e/runner/files/serve-files.test.ts', 'e2e/object-store/uploads.test.ts'],
  },
  {
    name: 'webhooks',
    sources: ['src/coordinator/notifications', 'machines/notification'],
    quick: ['machines/notification.test.ts', 'coordinator/notifications'],
    slow: ['sim/notifications.long.test.ts'],
  },
  {
    name: 'questions',
    sources: ['src/analysis/questions', 'src/analysis/compare', 'src/analysis/conclusion', 'src/coordinator/answers'],
    quick: [
      'analysis/questions.test.ts',
      'analysis/compare',
      'analysis/conclusion',
      'analysis/outputs/convergence.test.ts',
      'analysis/table',
      'coordinator/answers',
      'coordinator/histories',
      'coordinator/reads/study-answer.test.ts',
      'http/new-question.long.test.ts',
    ],
    slow: ['coordinator/slices.long.test.ts', 'analysis/studies.test.ts'],
  },
  {
    name: 'histories',
    sources: [
      'src/coordinator/histories',
      'src/domain/histories',
      'src/coordinator/answers/worker/histories',
      'src/runner/telemetry/histories',
    ],
    quick: [
      'domain/histories',
      'coordinator/histories',
      'runner/telemetry/histories',
      'coordinator/answers/band.test.ts',
    ],
    slow: [],
  },
  {
    name: 'rare events',
    sources: ['src/analysis/rare', 'src/domain/study/rare-event', 'src/coordinator/rounds/rare-events.ts'],
    quick: [
      'analysis/rare',
      'domain/study/rare-event.test.ts',
      'coordinator/rounds/rare-events.long.test.ts',
      'coordinator/rounds/rare-close.test.ts',
    ],
    slow: [],
  },
  {
    name: 'canary',
    sources: [
      'src/coordinator/studies/lost-canaries.ts',
      'src/coordinator/studies/flow.ts',
      'src/coordinator/studies/cancel.ts',
      'src/domain/probe',
      'machines/batch-parts',
    ],
    quick: [
      'coordinator/studies/canary.test.ts',
      'coordinator/studies/canary-records.test.ts',
      'coordinator/studies/flow.test.ts',
      'machines/batch.test.ts',
      'machines/batch-parts',
      'domain/probe',
    ],
    slow: ['e2e/inputs/canary.test.ts'],
  },
  {
    name: 'reuse',
    sources: ['src/coordinator/reuse', 'src/domain/reuse'],
    quick: ['coordinator/reuse', 'domain/reuse'],
    slow: ['e2e/whole/reuse.test.ts'],
  },
];
