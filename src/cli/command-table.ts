/** The table of commands: each with its name, its group in the help, and the module that has it. */
import type { Command } from 'commander';

/** A command of the program. */
export interface Entry {
  name: string;
  /** Another name of the command, from the API's words. */
  alias?: string;
  /** Text of the list of commands; the command's own help has details. */
  summary: string;
  group: string;
  load: () => Promise<Command>;
}

/** The commands of one group of the help, by their names. */
const inGroup = (group: string, commands: Readonly<Record<string, Omit<Entry, 'name' | 'group'>>>): Entry[] =>
  Object.entries(commands).map(([name, it]) => ({ name, group, ...it }));

/** All commands, in the order of the help. */
export const COMMANDS: readonly Entry[] = [
  ...inGroup('Coordinator and runners:', {
    demo: {
      summary: 'run the example study here: coordinator, runners, result',
      load: async () => (await import('./commands/demo.ts')).demoCommand(),
    },
    serve: {
      summary: 'start the coordinator',
      load: async () => (await import('./commands/server/serve.ts')).serveCommand(),
    },
    runner: {
      summary: 'execute runs on this machine',
      load: async () => (await import('./commands/pool/runner.ts')).runnerCommand(),
    },
    kit: {
      summary: 'write the runner as one archive for machines without npm',
      load: async () => (await import('./commands/server/kit.ts')).kitCommand(),
    },
    launcher: {
      summary: 'start runners on a cluster while runs wait',
      load: async () => (await import('./commands/launcher/launcher.ts')).launcherCommand(),
    },
    'run-one': {
      summary: 'execute one run configuration here, without a coordinator',
      load: async () => (await import('./commands/runs/run-one.ts')).runOneCommand(),
    },
    try: {
      summary: 'execute one run of a study file here',
      load: async () => (await import('./commands/runs/try.ts')).tryCommand(),
    },
    replay: {
      summary: 'execute a run of a study again, here',
      load: async () => (await import('./commands/runs/replay.ts')).replayCommand(),
    },
    telemetry: {
      summary: 'copy the samples of a running run into a Parquet file',
      load: async () => (await import('./commands/runs/telemetry.ts')).telemetryCommand(),
    },
    backup: {
      summary: 'copy all data of a running coordinator into a file or an object store',
      load: async () => (await import('./commands/server/backup/backup.ts')).backupCommand(),
    },
    restore: {
      summary: 'make a data directory from a backup',
      load: async () => (await import('./commands/server/backup/backup.ts')).restoreCommand(),
    },
    verify: {
      summary: 'check a whole data directory',
      load: async () => (await import('./commands/server/verify.ts')).verifyCommand(),
    },
    'audit-log': {
      summary: 'check the audit log of a coordinator',
      load: async () => (await import('./commands/server/audit-log.ts')).auditLogCommand(),
    },
    repair: {
      summary: 'save what is whole of a damaged data directory',
      load: async () => (await import('./commands/server/verify.ts')).repairCommand(),
    },
    selftest: {
      summary: 'check on this machine that killed processes change no result',
      load: async () => (await import('./commands/selftest.ts')).selftestCommand(),
    },
    token: {
      summary: 'create, list and revoke access tokens',
      load: async () => (await import('./commands/server/token.ts')).tokenCommand(),
    },
  }),
  ...inGroup('Studies:', {
    init: {
      summary: 'write a study file for a Python simulation',
      load: async () => (await import('./commands/studies/init.ts')).initCommand(),
    },
    submit: {
      summary: 'check and submit a study',
      load: async () => (await import('./commands/studies/submit.ts')).submitCommand(),
    },
    watch: {
      summary: 'follow a study to its end',
      load: async () => (await import('./commands/studies/watch.ts')).watchCommand(),
    },
    wait: {
      summary: 'wait until studies have ended',
      load: async () => (await import('./commands/studies/wait.ts')).waitCommand(),
    },
    status: {
      summary: 'progress of a study, and why it is not running',
      load: async () => (await import('./commands/studies/status.ts')).statusCommand(),
    },
    top: {
      summary: 'studies and runners on the whole screen',
      load: async () => (await import('./commands/top.ts')).topCommand(),
    },
    open: {
      summary: 'show a study or a run in a browser',
      load: async () => (await import('./commands/open.ts')).openCommand(),
    },
    studies: {
      alias: 'batches',
      summary: 'list studies',
      load: async () => (await import('./commands/studies/studies.ts')).studiesCommand(),
    },
    study: {
      summary: 'show a study in detail, or as it was submitted',
      load: async () => (await import('./commands/studies/study.ts')).studyCommand(),
    },
    runs: {
      alias: 'jobs',
      summary: 'list runs',
      load: async () => (await import('./commands/runs/runs.ts')).runsCommand(),
    },
    run: {
      alias: 'job',
      summary: "execute a study file here; or one run's story",
      load: async () => (await import('./commands/runs/run.ts')).runCommand(),
    },
    table: {
      alias: 'results',
      summary: 'the runs of a study as a table, or as a file',
      load: async () => (await import('./commands/runs/table.ts')).tableCommand(),
    },
    files: {
      summary: 'list the files of runs',
      load: async () => (await import('./commands/files/files.ts')).filesCommand(),
    },
    logs: {
      summary: 'what a run printed',
      load: async () => (await import('./commands/runs/logs.ts')).logsCommand(),
    },
    fetch: {
      summary: 'copy files of runs to this machine',
      load: async () => (await import('./commands/files/fetch.ts')).fetchCommand(),
    },
    evaluate: {
      summary: 'evaluate a simulation at the points of a file',
      load: async () => (await import('./commands/rounds/evaluate.ts')).evaluateCommand(),
    },
    bridge: {
      summary: 'serve a simulation to clients of UM-Bridge',
      load: async () => (await import('./commands/rounds/bridge.ts')).bridgeCommand(),
    },
    append: {
      summary: 'append a round of runs to an adaptive study',
      load: async () => (await import('./commands/rounds/append.ts')).appendCommand(),
    },
    rounds: {
      summary: 'list the rounds of an adaptive study, and check them',
      load: async () => (await import('./commands/rounds/rounds.ts')).roundsCommand(),
    },
    close: {
      summary: 'close an adaptive study',
      load: async () => (await import('./commands/rounds/append.ts')).closeCommand(),
    },
    'code-versions': {
      summary: 'which versions of the code executed the runs',
      load: async () => (await import('./commands/runs/code-versions.ts')).codeVersionsCommand(),
    },
    extend: {
      summary: 'more runs of the design of a study',
      load: async () => (await import('./commands/studies/growth.ts')).extendCommand(),
    },
    rerun: {
      summary: 'selected runs of a study again',
      load: async () => (await import('./commands/studies/growth.ts')).rerunCommand(),
    },
    compare: {
      summary: 'a whole study again, under another version',
      load: async () => (await import('./commands/studies/growth.ts')).compareCommand(),
    },
    pause: {
      summary: 'assign no new runs of a study',
      load: async () => (await import('./commands/studies/flow.ts')).pauseCommand(),
    },
    resume: {
      summary: 'assign runs of a paused study, or work to a drained runner, again',
      load: async () => (await import('./commands/studies/flow.ts')).resumeCommand(),
    },
    release: {
      summary: 'assign the runs that wait for the canary runs or the canary study of a study',
      load: async () => (await import('./commands/studies/flow.ts')).releaseCommand(),
    },
    cancel: {
      summary: 'cancel a study or a run',
      load: async () => (await import('./commands/studies/cancel.ts')).cancelCommand(),
    },
    delete: {
      summary: 'delete a study that has ended, with its results',
      load: async () => (await import('./commands/studies/cancel.ts')).deleteCommand(),
    },
    sample: {
      summary: 'the parameters of every run of a study file',
      load: async () => (await import('./commands/studies/sample.ts')).sampleCommand(),
    },
  }),
  ...inGroup('Answers about a study:', {
    summary: {
      summary: 'statistics, failures and verdicts of a study',
      load: async () => (await import('./commands/analysis/summary.ts')).summaryCommand(),
    },
    amend: {
      summary: 'judge the runs of a study by other requirements',
      load: async () => (await import('./commands/analysis/amend.ts')).amendCommand(),
    },
    verdict: {
      summary: 'whether a study meets its requirements',
      load: async () => (await import('./commands/analysis/verdict.ts')).verdictCommand(),
    },
    why: {
      summary: 'which parameters drive the failures',
      load: async () => (await import('./commands/analysis/causes.ts')).whyCommand(),
    },
    sensitivity: {
      summary: 'which parameters drive an output',
      load: async () => (await import('./commands/analysis/causes.ts')).sensitivityCommand(),
    },
    indices: {
      summary: "Sobol' indices of an output, with a design for them",
      load: async () => (await import('./commands/analysis/indices.ts')).indicesCommand(),
    },
    rare: {
      summary: 'the probability of a rare violation, with bounds',
      load: async () => (await import('./commands/rounds/rare.ts')).rareCommand(),
    },
    diff: {
      summary: 'compare two studies',
      load: async () => (await import('./commands/analysis/causes.ts')).diffCommand(),
    },
    worst: {
      summary: 'the runs with the most extreme values',
      load: async () => (await import('./commands/analysis/summary.ts')).worstCommand(),
    },
    band: {
      summary: 'the band of a history over all runs',
      load: async () => (await import('./commands/histories/band.ts')).bandCommand(),
    },
    histories: {
      summary: 'the histories of a study, and their values',
      load: async () => (await import('./commands/histories/histories.ts')).historiesCommand(),
    },
    convergence: {
      summary: 'how an estimate settles',
      load: async () => (await import('./commands/analysis/summary.ts')).convergenceCommand(),
    },
    ask: {
      summary: 'any question about a study, by its name in the API',
      load: async () => (await import('./commands/analysis/ask.ts')).askCommand(),
    },
    report: {
      summary: 'one HTML file about a study, for the screen and for paper',
      load: async () => (await import('./commands/analysis/report.ts')).reportCommand(),
    },
    probe: {
      summary: 'which inputs are read, and what each changes',
      load: async () => (await import('./commands/rounds/probe.ts')).probeCommand(),
    },
    audit: {
      summary: 'repeat a part of the runs elsewhere, and compare',
      load: async () => (await import('./commands/studies/audit.ts')).auditCommand(),
    },
    extract: {
      summary: 'ask finished runs new questions, of their telemetry',
      load: async () => (await import('./commands/histories/extract.ts')).extractCommand(),
    },
    manifest: {
      summary: 'write or verify the manifest of a study',
      load: async () => (await import('./commands/analysis/manifest.ts')).manifestCommand(),
    },
  }),
  ...inGroup('Runner pool:', {
    runners: {
      summary: 'list runners',
      load: async () => (await import('./commands/pool/runners.ts')).runnersCommand(),
    },
    drain: {
      summary: 'stop new work for a runner',
      load: async () => (await import('./commands/pool/runners.ts')).drainCommand(),
    },
    forget: {
      summary: 'remove a runner that is gone',
      load: async () => (await import('./commands/pool/runners.ts')).forgetCommand(),
    },
    doctor: {
      summary: 'check this machine, the coordinator and its runners',
      load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
    },
  }),
  ...inGroup('Keeping and explaining:', {
    snapshot: {
      summary: 'export, inspect, replay and import the records of a coordinator',
      load: async () => (await import('./commands/server/snapshot.ts')).snapshotCommand(),
    },
  }),
  ...inGroup('Shell:', {
    completion: {
      summary: 'completion script for bash, zsh or fish',
      load: async () => (await import('./commands/completion.ts')).completionCommand(),
    },
  }),
];
