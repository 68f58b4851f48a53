/** The dashboard's replay: a job's history as the API returns it leads through the machine to the job's own state. */
import { expect } from 'chai';
import { jobId } from '../../src/domain/ids.ts';
import type { Job, JobHistory } from '../../src/contract/types.ts';
import { Scene } from '../support/scene.ts';

interface Step {
  event: { type: string } | undefined;
  from: string | undefined;
  to: string;
  context: { error?: string };
  taken: boolean;
}
interface Replay {
  replayJob(job: Job, history: JobHistory): Step[];
  readRecording(text: string): { kind: string; steps: Step[] };
}

describe('web/machines/replay', () => {
  let replay: Replay;
  let scene: Scene;

  before(async () => {
    const address = new URL('../../../web/src/machines/replay.ts', import.meta.url);
    const { tsImport } = await import('tsx/esm/api');
    replay = (await tsImport(address.href, import.meta.url)) as Replay;
  });
  beforeEach(async () => {
    scene = await Scene.open();
  });

  /** The steps of run 0 as `from event to`; every event must be legal, and the last step must show the job's own state. */
  async function stepsOf(batch: string): Promise<string[]> {
    const id = jobId(batch, 0);
    const job = await scene.api.job(id);
    const steps = replay.replayJob(job, await scene.api.jobHistory(id));
    expect(steps.filter((it) => !it.taken)).to.deep.equal([]);
    expect(steps.at(-1)?.to).to.equal(job.status);
    expect(steps.at(-1)?.context.error).to.equal(job.error_message);
    return steps.slice(1).map((it) => `${it.from} ${it.event?.type} ${it.to}`);
  }

  const STARTED = ['Pending CLAIM Claimed', 'Claimed START Running'];

  it('shows a time-out of the coordinator as TIME_LIMIT', async () => {
    const batch = await scene.submit({ timeoutSecs: 5 });
    await scene.register('r1');
    await scene.running(batch, 0, 'r1');
    await scene.world.advance(6_000);
    expect(await stepsOf(batch)).to.deep.equal([...STARTED, 'Running TIME_LIMIT Timeout']);
  });

  it('shows a time-out that the runner reported as FAIL', async () => {
    const batch = await scene.submit({ timeoutSecs: 5 });
    await scene.register('r1');
    await scene.running(batch, 0, 'r1');
    await scene.fail(batch, 0, 'r1', 1, 'timeout');
    expect(await stepsOf(batch)).to.deep.equal([...STARTED, 'Running FAIL Timeout']);
  });

  it('shows retries, releases and cancellations', async () => {
    const batch = await scene.submit();
    await scene.register('r1');
    await scene.running(batch, 0, 'r1');
    await scene.fail(batch, 0, 'r1');
    await scene.world.advance(15_000);
    await scene.register('r1');
    await scene.claim('r1');
    await scene.api.signOff('r1', { instance: 'r1-1' });
    await scene.api.cancelJob(jobId(batch, 0));
    expect(await stepsOf(batch)).to.deep.equal([
      ...STARTED,
      'Running FAIL Pending',
      'Pending CLAIM Claimed',
      'Claimed HAND_BACK Pending',
      'Pending CANCEL Cancelled',
    ]);
  });

  it('refuses a recording that it cannot play, with the reason', () => {
    const table: [text: string, message: RegExp][] = [
      ['{', /not JSON/],
      ['{"kind":"study","machine":"job"}', /whole study/],
      ['{}', /member `machine`/],
      ['{"machine":"toaster"}', /no machine toaster; there are job, batch, runner, notification, supervisor/],
      ['{"machine":"job"}', /member `steps`/],
    ];
    for (const [text, message] of table) expect(() => replay.readRecording(text), text).to.throw(message);
  });
});
