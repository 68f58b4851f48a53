/** Apptainer (Singularity): containers are ordinary processes of the user, images are SIF files. */
import { isFile } from '../../base/directories.ts';
import { cachedFile, digestOfFile } from './image-files.ts';
import type { Environment, RuntimeClient } from './runtime-client.ts';
import type { ContainerCommand, ContainerRun, ContainerRuntime, ResolvedImage } from './runtime.ts';

const PULL_MS = 60 * 60_000;
/** Exit code of apptainer's own failures. */
const RUNTIME_FAILED = 255;

/**
 * @param cache the folder for images that are fetched.
 * @throws Error when the program does not answer.
 */
export async function openApptainer(client: RuntimeClient, cache: string): Promise<ContainerRuntime> {
  const version = await client.version();
  return {
    name: 'apptainer',
    program: client.program,
    version,
    // The processes of the container stay in the run's cgroup, which limits them.
    enforces: { memoryBytes: false, cpuMilli: false },
    detached: undefined,
    resolve: (image) => resolve(client, cache, image),
    commandOf: (run) => commandOf(client.env, run),
    faultOf: (code, stderr) => {
      const [line] = /^(?:FATAL|ERROR).*$/m.exec(stderr) ?? [];
      return code === RUNTIME_FAILED && line !== undefined
        ? `apptainer could not start the container: ${line.replace(/\s+/g, ' ')}`
        : undefined;
    },
  };
}

/** A file is used as it is; any other reference, such as `docker://python:3.12`, is fetched into the cache once. */
async function resolve(client: RuntimeClient, cache: string, image: string): Promise<ResolvedImage> {
  if (image.startsWith('/')) {
    if (!(await isFile(image))) throw new Error(`there is no image file ${image} on this machine`);
    return { reference: image, digest: await digestOfFile(image) };
  }
  const source = /^[a-z][a-z0-9-]*:\/\//.test(image) ? image : `docker://${image}`;
  const file = await cachedFile(cache, source);
  if (!(await isFile(file.path))) {
    await client.output(['pull', '--force', file.partial, source], PULL_MS);
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
      ...((run.devices ?? []).length > 0 && !run.options.includes('--nv') ? ['--nv'] : []),
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
