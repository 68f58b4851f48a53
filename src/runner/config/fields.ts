/**
 * The table of the runner's settings: field of the configuration file, environment variable, flag, and what a value may
 * be. A new setting is a row here, a member of `RunnerConfig` and a line in docs/runner.md.
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
  | 'cgroup mode'
  | 'container runtime'
  | 'duration'
  | 'instant';

export interface Field {
  /** The name in the configuration file. */
  name: string;
  env: string;
  flag: string;
  kind: Kind;
  /** Text of `--help`. */
  text: string;
}

export const FIELDS = [
  {
    name: 'runner_id',
    env: 'SVC_RUNNER_ID',
    flag: 'runner-id',
    kind: 'id',
    text: 'unique identifier of this runner; distinct across the pool',
  },
  { name: 'name', env: 'SVC_RUNNER_NAME', flag: 'name', kind: 'text', text: 'display name shown in the API' },
  { name: 'endpoint', env: 'SVC_ENDPOINT', flag: 'endpoint', kind: 'text', text: 'address of the coordinator' },
  {
    name: 'max_concurrent_jobs',
    env: 'SVC_RUNNER_MAX_CONCURRENT_JOBS',
    flag: 'max-concurrent-jobs',
    kind: 'count',
    text: 'maximum jobs executed in parallel',
  },
  {
    name: 'heartbeat_interval_secs',
    env: 'SVC_RUNNER_HEARTBEAT_INTERVAL_SECS',
    flag: 'heartbeat-interval-secs',
    kind: 'count',
    text: 'heartbeat frequency in seconds',
  },
  {
    name: 'grace_secs',
    env: 'SVC_RUNNER_GRACE_SECS',
    flag: 'grace-secs',
    kind: 'count',
    text: 'how long running simulations may continue after SIGTERM',
  },
  { name: 'engines', env: 'SVC_RUNNER_ENGINES', flag: 'engines', kind: 'list', text: 'engine plugins enabled' },
  {
    name: 'capabilities',
    env: 'SVC_RUNNER_CAPABILITIES',
    flag: 'capabilities',
    kind: 'list',
    text: 'capability tags advertised',
  },
  {
    name: 'entrypoint',
    env: 'SVC_RUNNER_ENTRYPOINT',
    flag: 'entrypoint',
    kind: 'path',
    text: 'simulation entrypoint of every engine without its own',
  },
  {
    name: 'warm',
    env: 'SVC_RUNNER_WARM',
    flag: 'warm',
    kind: 'boolean',
    text: 'start the runs of every engine from a process that has loaded its modules',
  },
  {
    name: 'preload',
    env: 'SVC_RUNNER_PRELOAD',
    flag: 'preload',
    kind: 'list',
    text: 'modules that a warm Python imports',
  },
  {
    name: 'allow_functions',
    env: 'SVC_RUNNER_ALLOW_FUNCTIONS',
    flag: 'allow-functions',
    kind: 'boolean',
    text: 'execute Python functions that studies carry: clients with the scope submit choose the code',
  },
  {
    name: 'python_executable',
    env: 'SVC_RUNNER_PYTHON_EXECUTABLE',
    flag: 'python-executable',
    kind: 'program',
    text: 'interpreter used to start a .py entrypoint',
  },
  {
    name: 'output_root',
    env: 'SVC_RUNNER_OUTPUT_ROOT',
    flag: 'output-root',
    kind: 'path',
    text: 'root directory for per-job output',
  },
  {
    name: 'checkpoint_dir',
    env: 'SVC_RUNNER_CHECKPOINT_DIR',
    flag: 'checkpoint-dir',
    kind: 'path',
    text: 'root directory for checkpoints of runs; runners that share it pass them on',
  },
  {
    name: 'checkpoint_interval',
    env: 'SVC_RUNNER_CHECKPOINT_INTERVAL',
    flag: 'checkpoint-interval',
    kind: 'duration',
    text: 'shortest time between two uploads of the checkpoint of a run to the object store',
  },
  {
    name: 'checkpoint_max_gb',
    env: 'SVC_RUNNER_CHECKPOINT_MAX_GB',
    flag: 'checkpoint-max-gb',
    kind: 'size',
    text: 'largest checkpoint that goes through the object store, in GiB; 0: none',
  },
  {
    name: 'working_directory',
    env: 'SVC_RUNNER_WORKING_DIRECTORY',
    flag: 'working-directory',
    kind: 'path',
    text: 'working directory of the simulations',
  },
  {
    name: 'environment_inherited',
    env: 'SVC_RUNNER_ENVIRONMENT_INHERITED',
    flag: 'environment-inherited',
    kind: 'list',
    text: "further variables of the runner's environment that simulations get; a name, PREFIX_* or *",
  },
  {
    name: 'environment_allowed',
    env: 'SVC_RUNNER_ENVIRONMENT_ALLOWED',
    flag: 'environment-allowed',
    kind: 'list',
    text: 'further variables that a study may set; a name, PREFIX_* or *',
  },
  {
    name: 'cgroup',
    env: 'SVC_RUNNER_CGROUP',
    flag: 'cgroup',
    kind: 'cgroup mode',
    text: 'a cgroup for each run: auto (where possible), off or required',
  },
  {
    name: 'container_runtime',
    env: 'SVC_RUNNER_CONTAINER_RUNTIME',
    flag: 'container-runtime',
    kind: 'container runtime',
    text: 'execute runs in the image that their study names: none, podman, docker, apptainer or charliecloud',
  },
  {
    name: 'container_images',
    env: 'SVC_RUNNER_CONTAINER_IMAGES',
    flag: 'container-images',
    kind: 'list',
    text: 'images that studies may name; an image, PREFIX* or *',
  },
  {
    name: 'container_options',
    env: 'SVC_RUNNER_CONTAINER_OPTIONS',
    flag: 'container-options',
    kind: 'list',
    text: 'further arguments of each start of a container, such as --gpus=all',
  },
  {
    name: 'token_file',
    env: 'SVC_TOKEN_FILE',
    flag: 'token-file',
    kind: 'path',
    text: 'file that holds the credential',
  },
  {
    name: 'token_fd',
    env: 'SVC_TOKEN_FD',
    flag: 'token-fd',
    kind: 'count',
    text: 'open file descriptor from which the credential is read',
  },
  {
    name: 'serve_files',
    env: 'SVC_RUNNER_SERVE_FILES',
    flag: 'serve-files',
    kind: 'boolean',
    text: 'send files of runs to clients of the coordinator that ask for them',
  },
  {
    name: 'serve_files_max_gb',
    env: 'SVC_RUNNER_SERVE_FILES_MAX_GB',
    flag: 'serve-files-max-gb',
    kind: 'size',
    text: 'largest file that is sent, in GiB',
  },
  { name: 'tags', env: 'SVC_RUNNER_TAGS', flag: 'tags', kind: 'list', text: 'tags shown in the API' },
  {
    name: 'cpu_cores',
    env: 'SVC_RUNNER_CPU_CORES',
    flag: 'cpu-cores',
    kind: 'count',
    text: 'CPU cores offered; 0: undeclared',
  },
  {
    name: 'memory_gb',
    env: 'SVC_RUNNER_MEMORY_GB',
    flag: 'memory-gb',
    kind: 'size',
    text: 'memory offered in GiB; 0: undeclared',
  },
  {
    name: 'gpu_available',
    env: 'SVC_RUNNER_GPU_AVAILABLE',
    flag: 'gpu-available',
    kind: 'boolean',
    text: 'a GPU is available',
  },
  {
    name: 'allocation',
    env: 'SVC_RUNNER_ALLOCATION',
    flag: 'allocation',
    kind: 'text',
    text: 'name of the allocation of a cluster that this runner is in, shown in the API',
  },
  {
    name: 'ends_at',
    env: 'SVC_RUNNER_ENDS_AT',
    flag: 'ends-at',
    kind: 'instant',
    text: 'when the machine is taken from this runner',
  },
  {
    name: 'max_lifetime',
    env: 'SVC_RUNNER_MAX_LIFETIME',
    flag: 'max-lifetime',
    kind: 'duration',
    text: 'the same as a time from the start',
  },
  {
    name: 'lifetime_margin',
    env: 'SVC_RUNNER_LIFETIME_MARGIN',
    flag: 'lifetime-margin',
    kind: 'duration',
    text: 'time before the end at which the runner has left, its runs ended or handed back',
  },
  {
    name: 'idle_exit',
    env: 'SVC_RUNNER_IDLE_EXIT',
    flag: 'idle-exit',
    kind: 'duration',
    text: 'leave after this time without a run',
  },
  {
    name: 'ephemeral',
    env: 'SVC_RUNNER_EPHEMERAL',
    flag: 'ephemeral',
    kind: 'boolean',
    text: 'the coordinator forgets this runner when it has signed off',
  },
] as const satisfies readonly Field[];
export type FieldName = (typeof FIELDS)[number]['name'];
