/** The commands of the coordinator, the runners and the shell: each with its name, its group in the help, and the module that has it. */
import type { Entry } from './command-entry.ts';

const SERVE = 'Coordinator and runners:';
const KEEP = 'Keeping and explaining:';
const SHELL = 'Shell:';

/** Commands of a server, in the order of the help. */
export const SERVER_COMMANDS: readonly Entry[] = [
  {
    name: 'demo',
    group: SERVE,
    summary: 'run the example study here: coordinator, runners, result',
    load: async () => (await import('./commands/demo.ts')).demoCommand(),
  },
  {
    name: 'serve',
    group: SERVE,
    summary: 'start the coordinator',
    load: async () => (await import('./commands/server/serve.ts')).serveCommand(),
  },
  {
    name: 'runner',
    group: SERVE,
    summary: 'execute runs on this machine',
    load: async () => (await import('./commands/pool/runner.ts')).runnerCommand(),
  },
  {
    name: 'kit',
    group: SERVE,
    summary: 'write the runner as one archive for machines without npm',
    load: async () => (await import('./commands/server/kit.ts')).kitCommand(),
  },
  {
    name: 'launcher',
    group: SERVE,
    summary: 'start runners on a cluster while runs wait',
    load: async () => (await import('./commands/launcher/launcher.ts')).launcherCommand(),
  },
  {
    name: 'run-one',
    group: SERVE,
    summary: 'execute one run configuration here, without a coordinator',
    load: async () => (await import('./commands/runs/run-one.ts')).runOneCommand(),
  },
  {
    name: 'try',
    group: SERVE,
    summary: 'execute one run of a study file here',
    load: async () => (await import('./commands/runs/try.ts')).tryCommand(),
  },
  {
    name: 'replay',
    group: SERVE,
    summary: 'execute a run of a study again, here',
    load: async () => (await import('./commands/runs/replay.ts')).replayCommand(),
  },
  {
    name: 'telemetry',
    group: SERVE,
    summary: 'copy the samples of a running run into a Parquet file',
    load: async () => (await import('./commands/runs/telemetry.ts')).telemetryCommand(),
  },
  {
    name: 'backup',
    group: SERVE,
    summary: 'copy all data of a running coordinator into a file',
    load: async () => (await import('./commands/server/backup.ts')).backupCommand(),
  },
  {
    name: 'restore',
    group: SERVE,
    summary: 'make a data directory from a backup',
    load: async () => (await import('./commands/server/backup.ts')).restoreCommand(),
  },
  {
    name: 'verify',
    group: SERVE,
    summary: 'check a whole data directory',
    load: async () => (await import('./commands/server/verify.ts')).verifyCommand(),
  },
  {
    name: 'repair',
    group: SERVE,
    summary: 'save what is whole of a damaged data directory',
    load: async () => (await import('./commands/server/verify.ts')).repairCommand(),
  },
  {
    name: 'selftest',
    group: SERVE,
    summary: 'check on this machine that killed processes change no result',
    load: async () => (await import('./commands/selftest.ts')).selftestCommand(),
  },
  {
    name: 'token',
    group: SERVE,
    summary: 'create, list and revoke access tokens',
    load: async () => (await import('./commands/server/token.ts')).tokenCommand(),
  },
];

/** The last commands of the help. */
export const OTHER_COMMANDS: readonly Entry[] = [
  {
    name: 'snapshot',
    group: KEEP,
    summary: 'export, inspect, replay and import the records of a coordinator',
    load: async () => (await import('./commands/server/snapshot.ts')).snapshotCommand(),
  },
  {
    name: 'completion',
    group: SHELL,
    summary: 'completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completionCommand(),
  },
];
