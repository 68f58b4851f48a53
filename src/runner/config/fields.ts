/**
 * The table of the runner's settings: field of the configuration file and what a value may be; environment variable and flag follow
 * from the name. A new setting is a row here, a member of `RunnerConfig`, and `npm run reference`.
 */
export type Kind =
  | 'text'
  | 'id'
  | 'path'
  | 'program'
  | 'list'
  | 'count'
  | 'size'
  | 'boolean'
  | 'artifacts mode'
  | 'cgroup mode'
  | 'container runtime'
  | 'resources'
  | 'duration'
  | 'instant';

/** A row of the table. */
interface Setting {
  kind: Kind;
  /** Text of `--help`. */
  text: string;
  /** The environment variable, where it is not `SVC_RUNNER_` and the name. */
  env?: string;
}

const SETTINGS = {
  runner_id: { kind: 'id', env: 'SVC_RUNNER_ID', text: 'unique identifier of this runner; distinct across the pool' },
  name: { kind: 'text', text: 'display name shown in the API' },
  endpoint: { kind: 'text', env: 'SVC_ENDPOINT', text: 'address of the coordinator' },
  max_concurrent_jobs: { kind: 'count', text: 'maximum runs executed in parallel' },
  heartbeat_interval_secs: { kind: 'count', text: 'heartbeat frequency in seconds' },
  grace_secs: { kind: 'count', text: 'how long running simulations may continue after SIGTERM' },
  engines: { kind: 'list', text: 'engine plugins enabled' },
  capabilities: { kind: 'list', text: 'capability tags advertised' },
  entrypoint: { kind: 'path', text: 'simulation entrypoint of every engine without its own' },
  warm: { kind: 'boolean', text: 'start the runs of every engine from a process that has loaded its modules' },
  preload: { kind: 'list', text: 'modules that a warm Python imports' },
  code: { kind: 'list', text: "patterns of the code files of every engine, from its entrypoint's folder" },
  allow_functions: {
    kind: 'boolean',
    text: 'execute Python functions that studies carry: clients with the scope submit choose the code',
  },
  python_executable: { kind: 'program', text: 'interpreter used to start a .py entrypoint' },
  output_root: { kind: 'path', text: 'root directory for the output of runs; $NAME is a variable' },
  keep_days: {
    kind: 'count',
    text: 'delete the folders of runs this many days after their end, once their files are sent',
  },
  artifacts: {
    kind: 'artifacts mode',
    text: 'the files of an ended run: files (as they are) or archive (one files.zip each, without compression)',
  },
  checkpoint_dir: { kind: 'path', text: 'root directory for checkpoints of runs; runners that share it pass them on' },
  checkpoint_interval: {
    kind: 'duration',
    text: 'shortest time between two uploads of the checkpoint of a run to the object store',
  },
  checkpoint_max_gb: { kind: 'size', text: 'largest checkpoint that goes through the object store, in GiB; 0: none' },
  working_directory: { kind: 'path', text: 'working directory of the simulations' },
  environment_inherited: {
    kind: 'list',
    text: "further variables of the runner's environment that simulations get; a name, PREFIX_* or *",
  },
  environment_allowed: { kind: 'list', text: 'further variables that a study may set; a name, PREFIX_* or *' },
  cgroup: { kind: 'cgroup mode', text: 'a cgroup for each run: auto (where possible), off or required' },
  container_runtime: {
    kind: 'container runtime',
    text: 'execute runs in the image that their study names: none, podman, docker, apptainer or charliecloud',
  },
  container_images: { kind: 'list', text: 'images that studies may name; an image, PREFIX* or *' },
  container_options: { kind: 'list', text: 'further arguments of each start of a container, such as --gpus=all' },
  token_file: { kind: 'path', env: 'SVC_TOKEN_FILE', text: 'file that holds the credential' },
  token_fd: { kind: 'count', env: 'SVC_TOKEN_FD', text: 'open file descriptor from which the credential is read' },
  serve_files: { kind: 'boolean', text: 'send files of runs to clients of the coordinator that ask for them' },
  serve_files_max_gb: { kind: 'size', text: 'largest file that is sent, in GiB' },
  tags: { kind: 'list', text: 'tags shown in the API' },
  cpu_cores: { kind: 'count', text: 'CPU cores offered; 0: undeclared' },
  memory_gb: { kind: 'size', text: 'memory offered in GiB; 0: undeclared' },
  gpu_available: { kind: 'boolean', text: 'a GPU is available' },
  resources: {
    kind: 'resources',
    text: 'counted resources offered, such as gpu=auto,comsol=2; auto: the GPUs that are found',
  },
  only_with: { kind: 'list', text: 'take only runs that ask for one of these resources' },
  allocation: { kind: 'text', text: 'name of the allocation of a cluster that this runner is in, shown in the API' },
  ends_at: { kind: 'instant', text: 'when the machine is taken from this runner' },
  max_lifetime: { kind: 'duration', text: 'the same as a time from the start' },
  lifetime_margin: {
    kind: 'duration',
    text: 'time before the end at which the runner has left, its runs ended or handed back',
  },
  idle_exit: { kind: 'duration', text: 'leave after this time without a run' },
  ephemeral: { kind: 'boolean', text: 'the coordinator forgets this runner when it has signed off' },
} as const satisfies Readonly<Record<string, Setting>>;

/** The name of a setting in the configuration file. */
export type FieldName = keyof typeof SETTINGS;

export interface Field extends Required<Setting> {
  name: FieldName;
  flag: string;
}

/** All settings, in the order of `--help`. */
export const FIELDS: readonly Field[] = Object.entries<Setting>(SETTINGS).map(([name, { kind, text, env }]) => ({
  name: name as FieldName,
  env: env ?? `SVC_RUNNER_${name.toUpperCase()}`,
  flag: name.replaceAll('_', '-'),
  kind,
  text,
}));
