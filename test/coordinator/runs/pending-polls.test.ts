/** The long polls that wait when a study is submitted: served in slices, in their order, evenly, and answered when their runs are on the disk. */
import { expect } from 'chai';
import type { ClaimResponse } from '../../../src/contract/types.ts';
import { runIdOf } from '../../../src/domain/ids.ts';
import { CLAIMED_AT_ONCE } from '../../../src/domain/rules.ts';
import type { TurnReport } from '../../../src/coordinator/kernel/turn/measured-turns.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { runs, Scene, type RunnerOptions } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';

const WAIT_SECS = 20;
/** Runs of the first slice, which runs together with the request that adds the work. */
const FIRST = 16;

describe('coordinator/runs: pending polls', () => {
  let scene: Scene;
  let turns: TurnReport[];
  let onTurn: (report: TurnReport) => void;
  let beforeWrite: () => Promise<void>;
  beforeEach(async () => {
    turns = [];
    onTurn = () => {};
    beforeWrite = async () => {};
    scene = await Scene.open({
      beforeWrite: () => beforeWrite(),
      onTurn: (it) => {
        turns.push(it);
        onTurn(it);
      },
    });
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const poll = (id: string, maxJobs: number, ahead = 0): Promise<ClaimResponse> =>
    scene.api.claim(id, { instance: scene.instance(id), max_jobs: maxJobs, ahead, wait_seconds: WAIT_SECS });

  /** Runners whose polls wait, each with its answer. */
  async function waiting(
    count: number,
    options: RunnerOptions,
    { ahead = 0, prefix = 'r' } = {},
  ): Promise<Promise<ClaimResponse>[]> {
    const ids = Array.from({ length: count }, (_, at) => `${prefix}${at}`);
    for (const id of ids) await scene.register(id, options);
    const answers = ids.map((id) => poll(id, (options.slots ?? 1) + ahead, ahead));
    await settled();
    turns = [];
    return answers;
  }

  /** Holds further writes of the disk, each until its function is called. */
  function holdWrites(): (() => void)[] {
    const held: (() => void)[] = [];
    beforeWrite = () => new Promise((resolve) => held.push(resolve));
    return held;
  }

  /** The runs that each turn claimed, of the turns that claimed some. */
  const claimedByTurn = (): number[] =>
    turns.map(({ facts }) => facts.filter((it) => it.type === 'job.claimed').length).filter((it) => it > 0);

  /** The number of runs in each answer, once all have come. */
  async function counts(answers: readonly Promise<ClaimResponse>[]): Promise<number[]> {
    return (await Promise.all(answers)).map((it) => it.assignments.length);
  }

  it('serves many polls in turns of a limited number of runs, and gives the runs in the order of asking', async () => {
    const answers = await waiting(3 * CLAIMED_AT_ONCE, {});
    const batch = await scene.submit({ runs: 3 * CLAIMED_AT_ONCE });
    const given = (await Promise.all(answers)).map((it) => runs(it));
    expect(given).to.deep.equal(given.map((_, at) => [at]));
    const [first, ...others] = claimedByTurn();
    expect(first).to.equal(FIRST);
    expect(others).to.deep.equal([CLAIMED_AT_ONCE, CLAIMED_AT_ONCE, CLAIMED_AT_ONCE - FIRST]);
    expect(await scene.status(batch)).to.equal(`Running: ${3 * CLAIMED_AT_ONCE} Claimed`);
  });

  it('claims the runs of one large claim in such turns, too', async () => {
    await scene.register('a', { slots: 500 });
    await scene.submit({ runs: 250 });
    turns = [];
    expect(await scene.claim('a', 200)).to.deep.equal(Array.from({ length: 200 }, (_, at) => at));
    expect(claimedByTurn()).to.deep.equal([64, 64, 64, 8]);
  });

  it('spreads a small study over all polls, and fills the slots with a large one', async () => {
    const answers = await waiting(100, { slots: 8 });
    await scene.submit({ runs: 250 });
    const some = await counts(answers);
    expect(Math.min(...some)).to.equal(2);
    expect(Math.max(...some)).to.equal(3);
    const next = await waiting(100, { slots: 8 }, { prefix: 'next' });
    await scene.submit({ runs: 5_000 });
    expect(await counts(next)).to.deep.equal(next.map(() => 8));
    expect(Math.max(...claimedByTurn())).to.equal(CLAIMED_AT_ONCE);
  });

  it('lets a run wait on a runner only after all runners have as many as they can start', async () => {
    const answers = await waiting(50, { slots: 2 }, { ahead: 4 });
    await scene.submit({ runs: 120 });
    expect((await counts(answers)).sort((a, b) => a - b)).to.deep.equal([
      ...Array<number>(30).fill(2),
      ...Array<number>(20).fill(3),
    ]);
  });

  it('lets no run wait on a small runner while a large one has room', async () => {
    const small = await waiting(20, { slots: 1 }, { ahead: 4 });
    const large = await waiting(20, { slots: 6 }, { prefix: 'large' });
    await scene.submit({ runs: 20 * 7 });
    expect(await counts([...small, ...large])).to.deep.equal([...small.map(() => 1), ...large.map(() => 6)]);
  });

  it('gives a claim that comes meanwhile its place after the polls that wait', async () => {
    const answers = await waiting(400, {});
    await scene.register('late', { slots: 9 });
    let late: Promise<ClaimResponse> | undefined;
    onTurn = ({ operation }) => {
      // After the first slice.
      if (operation === 'serve-waiting' && late === undefined) {
        queueMicrotask(() => {
          late ??= poll('late', 9);
        });
      }
    };
    await scene.submit({ runs: 402 });
    expect((await Promise.all(answers)).map((it) => runs(it))).to.deep.equal(answers.map((_, at) => [at]));
    expect(runs(await late!)).to.deep.equal([400, 401]);
  });

  it('answers a poll when its runs are on the disk, and not before', async () => {
    const answers = await waiting(100, {});
    let answered = 0;
    for (const it of answers) {
      it.then(
        ({ assignments: [{ job } = {}] }) => {
          answered += 1;
          expect(scene.store.disk.get(keys.job(job!.id)), `run ${runIdOf(job!.id)}`).to.be.a('string');
        },
        (error: unknown) => expect.fail(String(error)),
      );
    }
    const held = holdWrites();
    const submitted = scene.submit({ runs: 100 });
    await settled();
    expect(answered).to.equal(0);
    // The first slice is in the write of the submission.
    held.shift()!();
    await submitted;
    await settled();
    expect(answered).to.equal(FIRST);
    for (let at = 0; at < 10; at += 1) {
      held.shift()?.();
      await settled();
    }
    expect(answered).to.equal(100);
  });

  it('waits for the disk also where a later slice finds no work', async () => {
    const answers = await waiting(100, { slots: 2 });
    let answered = 0;
    for (const it of answers) void it.then(() => (answered += 1));
    const held = holdWrites();
    const submitted = scene.submit({ runs: FIRST });
    await settled();
    expect(answered).to.equal(0);
    held.shift()!();
    await submitted;
    await settled();
    expect(answered).to.equal(FIRST);
  });

  it('gives the runs of a poll whose client has left meanwhile to the next claim of its runner', async () => {
    const gone = new AbortController();
    const others = await waiting(40, { slots: 4 });
    await scene.register('gone', { slots: 4 });
    const left = scene.claimRaw('gone', 4, WAIT_SECS, [], gone.signal);
    await settled();
    let slices = 0;
    onTurn = ({ operation }) => {
      if (operation === 'serve-waiting' && (slices += 1) === 3) gone.abort();
    };
    const batch = await scene.submit({ runs: 1_000 });
    expect(runs(await left)).to.deep.equal([]);
    await counts(others);
    const first = await scene.claim('gone', 4, []);
    expect(first.length).to.equal(4);
    expect(await scene.status(batch)).to.equal('Running: 836 Pending, 164 Claimed');
  });

  for (const failing of [1, 2]) {
    it(`serves the polls again after a turn that failed: slice ${failing}`, async () => {
      const answers = await waiting(40, {});
      const { scheduler } = scene.api.parts;
      const plan = scheduler.plan.bind(scheduler);
      let plans = 0;
      scheduler.plan = (...of) => {
        if ((plans += 1) === failing) throw new Error('the plan fails');
        return plan(...of);
      };
      await scene.submit({ runs: 40 });
      await scene.world.advance(1_000);
      expect(await counts(answers)).to.deep.equal(answers.map(() => 1));
      expect(scene.faults.splice(0).length).to.equal(1);
    });
  }

  it('answers every poll without runs after a write that failed, also one whose last runs are not in it', async () => {
    const answers = await waiting(20, { slots: 2 }, { ahead: 1 });
    beforeWrite = () => Promise.reject(new Error('the disk is full'));
    await scene.submit({ runs: 30 }).catch(() => {});
    await settled();
    await settled();
    expect(await counts(answers)).to.deep.equal(answers.map(() => 0));
    expect(scene.failures.length).to.equal(1);
    scene.faults.length = 0;
  });

  it('gives runs that ask for nothing to runners with devices only when the others are full', async () => {
    const rich = { cpu_cores: 0, memory_gb: 0, gpu_available: true, resources: { gpu: 4 } };
    await scene.register('rich', {
      capabilities: { ...rich, max_concurrent_jobs: 4, supported_simulation_types: ['*'] },
    });
    const first = poll('rich', 4);
    const answers = await waiting(30, { slots: 4 });
    await scene.submit({ runs: 122 });
    expect(await counts(answers)).to.deep.equal(answers.map(() => 4));
    expect(runs(await first)).to.deep.equal([120, 121]);
  });
});
