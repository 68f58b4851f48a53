/** The counts of actors by state: those of an instant, with the moves that were committed while they were counted. */
import { expect } from 'chai';
import type { ChangeSet } from '../../../src/coordinator/feed/change-set.ts';
import { MachineTopic } from '../../../src/coordinator/feed/machines.ts';
import { Scene } from '../../support/scene.ts';

describe('coordinator/feed: counts of actors', () => {
  it('contain the moves that are committed while actors are counted', async () => {
    const scene = await Scene.open();
    try {
      await scene.register('a', { slots: 1 });
      await scene.register('b', { slots: 1 });
      const topic = new MachineTopic(scene.api.parts, 'runner', () => scene.api.supervisor());
      const moved = (id: string, from: string, to: string): ChangeSet => {
        const transition = { kind: 'runner', id, event: { type: 'JOBS_CHANGED' }, from, to, now: 1 };
        const changes = {
          facts: [],
          transitions: [transition],
          deletedBatches: new Set(),
          forgottenRunners: new Set(),
        };
        return changes as unknown as ChangeSet;
      };
      const counting = topic.snapshot();
      topic.onCommit(moved('a', 'Idle', 'Busy'));
      expect((await counting).counts).to.include({ Idle: 1, Busy: 1 });
      topic.onCommit(moved('b', 'Idle', 'Busy'));
      expect((await topic.delta())?.counts).to.include({ Idle: 0, Busy: 2 });
    } finally {
      await scene.api.close();
    }
  });
});
