/** Queues of the Kubernetes engine, and the context in which tests start it. */
import { tmpdir } from 'node:os';
import { systemClock } from '../../../../src/base/clock.ts';
import type { QueueConfig } from '../../../../src/launcher/settings.ts';
import type { EngineContext } from '../../../../src/launcher/engine.ts';
import type { KubernetesSection } from '../../../../src/launcher/engines/kubernetes/section.ts';
import { queueConfig } from '../../support.ts';

export function kubernetesQueue(
  section: Partial<KubernetesSection>,
  given: Partial<QueueConfig<KubernetesSection>> = {},
): QueueConfig<KubernetesSection> {
  return queueConfig({
    engine: 'kubernetes',
    section: { namespace: 'sims', image: 'sims/rocket:1', ...section },
    ...given,
  });
}

export function kubernetesContext(
  queues: readonly QueueConfig<KubernetesSection>[],
  given: Partial<EngineContext<KubernetesSection>> = {},
): EngineContext<KubernetesSection> {
  return {
    launcher: 'lab',
    runnerEndpoint: 'http://127.0.0.1:7070',
    queues,
    clock: systemClock,
    env: { PATH: process.env['PATH'] },
    baseDirectory: tmpdir(),
    scratchDirectory: tmpdir(),
    ...given,
  };
}
