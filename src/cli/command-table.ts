/** The table of commands: each with its name, its group in the help, and the module that has it. */
import type { Entry } from './command-entry.ts';
import { OTHER_COMMANDS, SERVER_COMMANDS } from './server-commands.ts';

const STUDY = 'Studies:';
const ANSWERS = 'Answers about a study:';
const POOL = 'Runner pool:';

/** All commands. */
export const COMMANDS: readonly Entry[] = [
  ...SERVER_COMMANDS,
  {
    name: 'init',
    group: STUDY,
    summary: 'write a study file for a Python simulation',
    load: async () => (await import('./commands/studies/init.ts')).initCommand(),
  },
  {
    name: 'submit',
    group: STUDY,
    summary: 'check and submit a study',
    load: async () => (await import('./commands/studies/submit.ts')).submitCommand(),
  },
  {
    name: 'watch',
    group: STUDY,
    summary: 'follow a study to its end',
    load: async () => (await import('./commands/studies/watch.ts')).watchCommand(),
  },
  {
    name: 'wait',
    group: STUDY,
    summary: 'wait until studies have ended',
    load: async () => (await import('./commands/studies/wait.ts')).waitCommand(),
  },
  {
    name: 'status',
    group: STUDY,
    summary: 'progress of a study, and why it is not running',
    load: async () => (await import('./commands/studies/status.ts')).statusCommand(),
  },
  {
    name: 'top',
    group: STUDY,
    summary: 'studies and runners on the whole screen',
    load: async () => (await import('./commands/top.ts')).topCommand(),
  },
  {
    name: 'open',
    group: STUDY,
    summary: 'show a study or a run in a browser',
    load: async () => (await import('./commands/open.ts')).openCommand(),
  },
  {
    name: 'studies',
    alias: 'batches',
    group: STUDY,
    summary: 'list studies',
    load: async () => (await import('./commands/studies/studies.ts')).studiesCommand(),
  },
  {
    name: 'study',
    group: STUDY,
    summary: 'show a study as it was submitted',
    load: async () => (await import('./commands/studies/study.ts')).studyCommand(),
  },
  {
    name: 'runs',
    alias: 'jobs',
    group: STUDY,
    summary: 'list runs',
    load: async () => (await import('./commands/runs/runs.ts')).runsCommand(),
  },
  {
    name: 'run',
    alias: 'job',
    group: STUDY,
    summary: 'one run: parameters, attempts, result',
    load: async () => (await import('./commands/runs/run.ts')).runCommand(),
  },
  {
    name: 'table',
    alias: 'results',
    group: STUDY,
    summary: 'the runs of a study as a table, or as a file',
    load: async () => (await import('./commands/runs/table.ts')).tableCommand(),
  },
  {
    name: 'files',
    group: STUDY,
    summary: 'list the files of runs',
    load: async () => (await import('./commands/runs/files.ts')).filesCommand(),
  },
  {
    name: 'logs',
    group: STUDY,
    summary: 'what a run printed',
    load: async () => (await import('./commands/runs/logs.ts')).logsCommand(),
  },
  {
    name: 'fetch',
    group: STUDY,
    summary: 'copy files of runs to this machine',
    load: async () => (await import('./commands/runs/fetch.ts')).fetchCommand(),
  },
  {
    name: 'extend',
    group: STUDY,
    summary: 'more runs of the design of a study',
    load: async () => (await import('./commands/studies/growth.ts')).extendCommand(),
  },
  {
    name: 'rerun',
    group: STUDY,
    summary: 'selected runs of a study again',
    load: async () => (await import('./commands/studies/growth.ts')).rerunCommand(),
  },
  {
    name: 'compare',
    group: STUDY,
    summary: 'a whole study again, under another version',
    load: async () => (await import('./commands/studies/growth.ts')).compareCommand(),
  },
  {
    name: 'pause',
    group: STUDY,
    summary: 'assign no new runs of a study',
    load: async () => (await import('./commands/studies/flow.ts')).pauseCommand(),
  },
  {
    name: 'resume',
    group: STUDY,
    summary: 'assign runs of a paused study, or work to a drained runner, again',
    load: async () => (await import('./commands/studies/flow.ts')).resumeCommand(),
  },
  {
    name: 'release',
    group: STUDY,
    summary: 'assign the runs after the canary runs of a study',
    load: async () => (await import('./commands/studies/flow.ts')).releaseCommand(),
  },
  {
    name: 'cancel',
    group: STUDY,
    summary: 'cancel a study or a run',
    load: async () => (await import('./commands/studies/cancel.ts')).cancelCommand(),
  },
  {
    name: 'delete',
    group: STUDY,
    summary: 'delete a study that has ended, with its results',
    load: async () => (await import('./commands/studies/cancel.ts')).deleteCommand(),
  },
  {
    name: 'sample',
    group: STUDY,
    summary: 'the parameters of every run of a study file',
    load: async () => (await import('./commands/studies/sample.ts')).sampleCommand(),
  },
  {
    name: 'summary',
    group: ANSWERS,
    summary: 'statistics, failures and verdicts of a study',
    load: async () => (await import('./commands/analysis/summary.ts')).summaryCommand(),
  },
  {
    name: 'verdict',
    group: ANSWERS,
    summary: 'whether a study meets its requirements',
    load: async () => (await import('./commands/analysis/verdict.ts')).verdictCommand(),
  },
  {
    name: 'why',
    group: ANSWERS,
    summary: 'which parameters drive the failures',
    load: async () => (await import('./commands/analysis/causes.ts')).whyCommand(),
  },
  {
    name: 'sensitivity',
    group: ANSWERS,
    summary: 'which parameters drive an output',
    load: async () => (await import('./commands/analysis/causes.ts')).sensitivityCommand(),
  },
  {
    name: 'diff',
    group: ANSWERS,
    summary: 'compare two studies',
    load: async () => (await import('./commands/analysis/causes.ts')).diffCommand(),
  },
  {
    name: 'worst',
    group: ANSWERS,
    summary: 'the runs with the most extreme values',
    load: async () => (await import('./commands/analysis/summary.ts')).worstCommand(),
  },
  {
    name: 'convergence',
    group: ANSWERS,
    summary: 'how an estimate settles',
    load: async () => (await import('./commands/analysis/summary.ts')).convergenceCommand(),
  },
  {
    name: 'ask',
    group: ANSWERS,
    summary: 'any question about a study, by its name in the API',
    load: async () => (await import('./commands/analysis/ask.ts')).askCommand(),
  },
  {
    name: 'report',
    group: ANSWERS,
    summary: 'one HTML file about a study, for the screen and for paper',
    load: async () => (await import('./commands/analysis/report.ts')).reportCommand(),
  },
  {
    name: 'audit',
    group: ANSWERS,
    summary: 'repeat a part of the runs elsewhere, and compare',
    load: async () => (await import('./commands/studies/audit.ts')).auditCommand(),
  },
  {
    name: 'manifest',
    group: ANSWERS,
    summary: 'write or verify the manifest of a study',
    load: async () => (await import('./commands/analysis/manifest.ts')).manifestCommand(),
  },
  {
    name: 'runners',
    group: POOL,
    summary: 'list runners',
    load: async () => (await import('./commands/pool/runners.ts')).runnersCommand(),
  },
  {
    name: 'drain',
    group: POOL,
    summary: 'stop new work for a runner',
    load: async () => (await import('./commands/pool/runners.ts')).drainCommand(),
  },
  {
    name: 'forget',
    group: POOL,
    summary: 'remove a runner that is gone',
    load: async () => (await import('./commands/pool/runners.ts')).forgetCommand(),
  },
  {
    name: 'doctor',
    group: POOL,
    summary: 'check this machine, the coordinator and its runners',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  ...OTHER_COMMANDS,
];
