/** The forecast of reuse, and its reading of the store. */
import { expect } from 'chai';
import { reuseForecast } from '../../../src/coordinator/reuse/forecast.ts';
import { Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

describe('coordinator/reuse/forecast', () => {
  it('is answered when its view of the store is closed', async () => {
    const scene = await Scene.open();
    await scene.submit({ runs: 1 });
    const { parts } = scene.api;
    let close = (): void => {};
    const store = {
      get: (key: string) => parts.store.get(key),
      snapshot: () => ({ ...parts.store.snapshot(), close: () => new Promise<void>((resolve) => (close = resolve)) }),
    };
    const submission = study({ runs: 2, policy: { reuse: 'all' } });
    let isAnswered = false;
    const forecast = reuseForecast({ ...parts, store } as never, submission).then((it) => {
      isAnswered = true;
      return it;
    });
    await settled();
    await settled();
    expect(isAnswered).to.equal(false);
    close();
    expect(await forecast).to.include({ runs: 2, known: 0, new: 2 });
    await scene.api.close();
  });
});
