/** Finds the container runtime that the configuration names: the one table of runtimes. */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { openApptainer } from './apptainer.ts';
import { openCharliecloud } from './charliecloud.ts';
import { openDocker, openPodman } from './oci.ts';
import { RuntimeClient } from './runtime-client.ts';
import type { RuntimeName } from '../config/values.ts';
import type { ContainerRuntime } from './runtime.ts';
import { oneLine } from '../system-error.ts';

interface RuntimeEntry {
  /** Name of the program, looked up in PATH. */
  program: string;
  open: (client: RuntimeClient, outputRoot: string) => Promise<ContainerRuntime>;
}

/** A runtime is a file with its commands and a row here. */
export const RUNTIMES: Readonly<Record<RuntimeName, RuntimeEntry>> = {
  podman: { program: 'podman', open: openPodman },
  docker: { program: 'docker', open: openDocker },
  apptainer: { program: 'apptainer', open: (client, root) => openApptainer(client, join(root, 'images')) },
  charliecloud: { program: 'ch-run', open: openCharliecloud },
};

/**
 * @param outputRoot of the runner: images that are files are kept in its folder `images`.
 * @param given environment and clock of the runner.
 * @throws SimbatchError `invalid-configuration` when the runtime does not answer.
 */
export async function openRuntime(
  name: RuntimeName,
  outputRoot: string,
  given: { env: Readonly<Record<string, string | undefined>>; clock: Pick<Clock, 'after'> },
): Promise<ContainerRuntime> {
  const { program, open } = RUNTIMES[name];
  try {
    return await open(new RuntimeClient(program, given.env, given.clock), outputRoot);
  } catch (error) {
    throw new SimbatchError(
      'invalid-configuration',
      `container_runtime is ${name}, but ${program} cannot be used: ${oneLine(error)}; install it, or set container_runtime to none`,
      { cause: error },
    );
  }
}
