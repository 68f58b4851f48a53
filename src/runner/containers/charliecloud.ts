/** Charliecloud: containers are ordinary processes of the user, images are folders or SquashFS files. */
import { isAbsolute } from 'node:path';
import { isFile, isFolder } from '../../base/directories.ts';
import { digestOfFile } from './image-files.ts';
import type { Environment, RuntimeClient } from './runtime-client.ts';
import type { ContainerCommand, ContainerRun, ContainerRuntime, ResolvedImage } from './runtime.ts';

/** @throws Error when the program does not answer. */
export async function openCharliecloud(given: RuntimeClient): Promise<ContainerRuntime> {
  // ch-run needs the variable USER.
  const client = given.with('USER', 'simbatch');
  const version = await client.version();
  return {
    name: 'charliecloud',
    program: client.program,
    version: `ch-run ${version}`,
    enforces: { memoryBytes: false, cpuMilli: false },
    detached: undefined,
    resolve,
    commandOf: (run) => commandOf(client.env, run),
    faultOf: (_code, stderr) => {
      const [line] = /^ch-run\[\d+\]: error: .*$/m.exec(stderr) ?? [];
      return line === undefined ? undefined : `charliecloud could not start the container: ${line}`;
    },
  };
}

/** Only images of this machine: `ch-image` and its storage are the operator's. */
async function resolve(image: string): Promise<ResolvedImage> {
  if (!isAbsolute(image)) {
    throw new Error(
      'charliecloud starts images of this machine only: name the absolute path of a folder or SquashFS file',
    );
  }
  if (await isFolder(image)) return { reference: image, digest: undefined };
  if (await isFile(image)) return { reference: image, digest: await digestOfFile(image) };
  throw new Error(`there is no image ${image} on this machine`);
}

function commandOf(env: Environment, run: ContainerRun): ContainerCommand {
  const bind = (path: string): string[] => ['--bind', `${path}:${path}`];
  return {
    args: [
      // Everything but the variables of the run, which `env` holds, is removed.
      ...unset(env, run.environment),
      ...[...run.readable, ...run.writable].flatMap(bind),
      '--cd',
      run.cwd,
      ...run.options,
      run.image,
      '--',
      run.command,
      ...run.args,
    ],
    env: { ...env, ...run.environment },
  };
}

/** The variables of the runner that the simulation does not get; PATH and HOME are set by ch-run and the image. */
function unset(env: Environment, environment: Environment): string[] {
  const kept = new Set([...Object.keys(environment), 'PATH', 'HOME', 'USER']);
  return Object.keys(env).flatMap((name) => (kept.has(name) ? [] : [`--unset-env=${name}`]));
}
