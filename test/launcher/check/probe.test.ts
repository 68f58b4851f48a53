/** Probes on an engine and a coordinator that follow a script: how long it took, or the answer of the engine; nothing is left. */
import { expect } from 'chai';
import { probe, probeLabel, type ProbeParts } from '../../../src/launcher/check/probe.ts';
import {
  EngineRefused,
  EngineUnreachable,
  type AllocationRequest,
  type EngineAllocation,
} from '../../../src/launcher/engine.ts';
import { queueConfig } from '../support.ts';

type Look = Pick<EngineAllocation, 'state'> & Partial<EngineAllocation> & { runner?: boolean };

interface Outcome {
  message: string;
  isFault: boolean;
  request: AllocationRequest | undefined;
  stopped: string[];
  revoked: readonly string[];
  notes: string[];
}

/** The state at each second; the last one stays. */
async function probed(
  script: readonly (Look | undefined)[],
  given: Partial<ProbeParts['engine']> = {},
): Promise<Outcome> {
  let nowMs = 0;
  const outcome: Outcome = { message: '', isFault: false, request: undefined, stopped: [], revoked: [], notes: [] };
  const at = (): Look | undefined => script[Math.min(script.length - 1, Math.floor(nowMs / 1_000))];
  const stop = new AbortController();
  const allocations = (): EngineAllocation[] => {
    const look = at();
    if (look === undefined || outcome.request === undefined) return [];
    const { runner: _, ...rest } = look;
    return [{ id: outcome.request.id, queue: 'main', handle: '4711', ...rest }];
  };
  const result = await probe(queueConfig({ engine: 'slurm', section: {} }), {
    config: { runnerEndpoint: 'http://login1:7070' },
    engine: {
      submit: async (request) => {
        outcome.request = request;
        return { handle: '4711' };
      },
      list: async () => ({ allocations: allocations(), silent: [] }),
      stop: async (all) => void outcome.stopped.push(...all.map((it) => it.handle)),
      ...given,
    },
    coordinator: {
      runners: async () =>
        at()?.runner === true ? [{ id: `main-${outcome.request?.id ?? ''}`, status: 'Idle' } as never] : [],
      makeTokens: async (all) => new Map(all.map((it) => [it.allocation, 'secret'])),
      revokeTokens: async (all) => void (outcome.revoked = all),
    },
    clock: {
      random: (count) => new Uint8Array(count).fill(7),
      monotonicMs: () => nowMs,
      after: (ms, action) => {
        nowMs += ms;
        setImmediate(action);
        if (nowMs > 7_200_000) stop.abort();
        return () => {};
      },
    },
    limitMs: 60_000,
    signal: stop.signal,
    note: (it) => outcome.notes.push(it),
  });
  expect(outcome.revoked, 'its token is revoked').to.have.length(1);
  return { ...outcome, ...result };
}

const ENDED: Look = { state: 'ended', end: { kind: 'completed', exitCode: 0 } };

describe('launcher/check/probe', () => {
  it('says how long the way took; its runner takes no run, and leaves', async () => {
    const { message, isFault, request, stopped, notes } = await probed([
      { state: 'queued', reason: 'Resources' },
      { state: 'queued', reason: 'Resources' },
      { state: 'running' },
      { state: 'running' },
      { state: 'running', runner: true },
      { state: 'running', runner: true },
      { state: 'running' },
      ENDED,
    ]);
    expect(isFault).to.equal(false);
    expect(message).to.match(/^a runner registered 4s after the submission as 4711, and has left after 8s$/);
    expect(request?.token).to.equal('secret');
    expect(request?.runner.args.slice(-4)).to.deep.equal(['--idle-exit', '5s', '--only-with', 'simbatch-probe']);
    expect(stopped).to.deep.equal([]);
    expect(notes).to.deep.equal([
      'main: the engine took the allocation as 4711',
      'main: the engine says queued: Resources',
      'main: the engine says running',
      'main: the engine says ended (completed, exit code 0)',
    ]);
  });

  // The states, the fault, whether the allocation is stopped.
  const faults: [string, (Look | undefined)[], RegExp, boolean][] = [
    [
      'an allocation that never starts',
      [{ state: 'queued', reason: 'QOSMaxJobs' }],
      /^the probe failed: no runner has registered within 1m: the engine says queued: QOSMaxJobs; see `runner_endpoint`/,
      true,
    ],
    [
      'a runner that cannot reach the coordinator',
      [{ state: 'running' }],
      /within 1m: the engine says running; see/,
      true,
    ],
    [
      'a runner that fails',
      [{ state: 'running' }, { state: 'ended', reason: 'NonZeroExitCode', end: { kind: 'failed', exitCode: 78 } }],
      /ended before its runner had registered: the engine says ended \(failed, exit code 78\): NonZeroExitCode; see the log/,
      false,
    ],
    ['an allocation that is not listed', [undefined], /within 1m: the engine does not list it/, false],
    [
      'a runner that does not leave',
      [{ state: 'running', runner: true }],
      /^the probe failed: the runner registered after 0s and did not leave within 1m; see its log$/,
      true,
    ],
  ];
  for (const [what, script, text, isStopped] of faults)
    it(`${what} is a fault with the answer of the engine`, async () => {
      const { message, isFault, stopped } = await probed(script);
      expect(isFault).to.equal(true);
      expect(message).to.match(text);
      expect(stopped).to.deep.equal(isStopped ? ['4711'] : []);
    });

  it('a refusal, and an engine without an answer, are faults', async () => {
    const refuses = async (): Promise<never> => {
      throw new EngineRefused('Invalid account');
    };
    expect(await probed([undefined], { submit: refuses })).to.deep.include({
      isFault: true,
      message: 'the probe failed: Invalid account',
    });
    const silent = async (): Promise<never> => {
      throw new EngineUnreachable('no controller');
    };
    const { message, notes } = await probed([undefined], { list: silent });
    expect(message).to.equal('the probe failed: no controller');
    expect(notes.at(-1)).to.match(/could not be ended: no controller; it ends by itself$/);
  });

  it('its label is never that of the launcher, and fits the engines', () => {
    expect(probeLabel('lab')).to.equal('lab-probe');
    expect(probeLabel('x'.repeat(40))).to.have.length(40);
  });
});
