/** Queues of the ssh engine, and the context in which tests start it. */
import { tmpdir } from 'node:os';
import { systemClock } from '../../../../src/base/clock.ts';
import type { QueueConfig } from '../../../../src/launcher/settings.ts';
import type { EngineContext } from '../../../../src/launcher/engine.ts';
import type { SshSection } from '../../../../src/launcher/engines/ssh/section.ts';
import { queueConfig } from '../../support.ts';

/** A queue of the engine with four cores per allocation. */
export function sshQueue(section: SshSection, given: Partial<QueueConfig<SshSection>> = {}): QueueConfig<SshSection> {
  return queueConfig({ engine: 'ssh', section, max: 2, ...given });
}

export function sshContext(
  site: Pick<EngineContext<SshSection>, 'env'>,
  queues: readonly QueueConfig<SshSection>[],
  given: Partial<EngineContext<SshSection>> = {},
): EngineContext<SshSection> {
  return {
    launcher: 'lab',
    runnerEndpoint: 'http://127.0.0.1:7070',
    queues,
    clock: systemClock,
    env: site.env,
    baseDirectory: tmpdir(),
    scratchDirectory: tmpdir(),
    ...given,
  };
}
