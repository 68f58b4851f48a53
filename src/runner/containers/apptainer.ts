/** Apptainer (Singularity): containers are ordinary processes of the user, images are SIF files. */
import { output } from './programs.ts';
import type { Environment } from './programs.ts';
import { cachedFile, digestOfFile, isFile } from './image-files.ts';
import type { ContainerCommand, ContainerRun, ContainerRuntime, ResolvedImage } from './runtime.ts';

const ANSWER_MS = 30_000;
const PULL_MS = 60 * 60_000;
/** Exit code of apptainer's own failures. */
const RUNTIME_FAILED = 255;

/**
 * @param cache the folder for images that are fetched.
 * @throws Error when the program does not answer.
 */
export async function openApptainer(program: string, env: Environment, cache: string): Promise<ContainerRuntime> {
  const version = (await output(program, ['--version'], ANSWER_MS, env)).trim();
  return {
    name: 'apptainer',
    program,
    version,
    // Its processes stay in the run's cgroup, which limits them.
    enforces: { memoryBytes: false, cpuMilli: false },
    detached: undefined,
    resolve: (image) => resolve(program, env, cache, image),
    commandOf: (run) => commandOf(env, run),
    faultOf: (code, stderr) => {
      const [line] = /^(?:FATAL|ERROR).*$/m.exec(stderr) ?? [];
      return code === RUNTIME_FAILED && line !== undefined
        ? `apptainer could not start the container: ${line.replace(/\s+/g, ' ')}`
        : undefined;
    },
  };
}

/** A file is used as it is; any other reference, such as `docker://python:3.12`, is fetched into the cache once. */
async function resolve(program: string, env: Environment, cache: string, image: string): Promise<ResolvedImage> {
  if (image.startsWith('/')) {
    if (!(await isFile(image))) throw new Error(`there is no image file ${image} on this machine`);
    return { reference: image, digest: await digestOfFile(image) };
  }
  const source = /^[a-z][a-z0-9-]*:\/\//.test(image) ? image : `docker://${image}`;
  const file = await cachedFile(cache, source);
  if (!(await isFile(file.path))) {
    await output(program, ['pull', '--force', file.partial, source], PULL_MS, env);
    await file.keep();
  }
  return { reference: file.path, digest: await digestOfFile(file.path) };
}

function commandOf(env: Environment, run: ContainerRun): ContainerCommand {
  const bind = (path: string, mode: string): string[] => ['--bind', `${path}:${path}:${mode}`];
  return {
    args: [
      'exec',
      '--cleanenv',
      '--contain',
      '--no-home',
      ...run.readable.flatMap((path) => bind(path, 'ro')),
      ...run.writable.flatMap((path) => bind(path, 'rw')),
      '--pwd',
      run.cwd,
      ...run.options,
      run.image,
      run.command,
      ...run.args,
    ],
    env: {
      ...env,
      ...Object.fromEntries(
        Object.entries(run.environment).flatMap(([name, value]) => [
          [`APPTAINERENV_${name}`, value],
          [`SINGULARITYENV_${name}`, value],
        ]),
      ),
      // The processes of a run are found by it.
      SVC_OUTPUT_DIR: run.environment['SVC_OUTPUT_DIR'] ?? '',
    },
  };
}
