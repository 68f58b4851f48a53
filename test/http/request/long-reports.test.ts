/** Long requests of runners: what a stranger's runner may send, parsed, validated and applied in slices of the event loop. */
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import type { HistoryConfig, Uuid } from '../../../src/contract/types.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import { CountedSlices } from '../../support/counted-slices.ts';
import { capabilities } from '../../support/fake-api.ts';
import { listen, post, type TestServer } from '../../support/http.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { study } from '../../support/studies.ts';

const MIB = 1024 * 1024;
const RUNNERS = ['r0', 'r1', 'r2', 'r3'];
/** As many histories of as many times as a study may have: 0.7 MB a run. */
const HISTORIES: HistoryConfig[] = Array.from({ length: 32 }, (_, at) => ({
  variable: `v${at}`,
  at: { from: 0, to: 2047, step: 1 },
}));
const VALUES = encodeHistory(Float64Array.from({ length: 2048 }, (_, at) => Math.sin(at)));
const RESULT = {
  execution_time_secs: 1,
  output_files: [],
  metadata: { place: 'Ærø', x: 1 },
  histories: Object.fromEntries(HISTORIES.map(({ variable }) => [variable, VALUES])),
};

describe('http/request: long reports', () => {
  let coordinator: Coordinator;
  let server: TestServer;
  let batch: Uuid;
  /** Turns of reports. */
  let turns: number;
  beforeEach(async () => {
    turns = 0;
    const turn = ({ operation }: { operation: string }): void => void (turns += Number(operation === 'reports'));
    coordinator = await openCoordinator(new MemoryStore(), systemClock, { hooks: { turn } });
    server = await listen({ coordinator });
  });
  afterEach(async () => {
    await server.close(0);
    await coordinator.close();
  });

  /** Starts so many runs on a runner; the body that completes them. */
  async function bodyOf(id: string, runs: number): Promise<string> {
    const abilities = {
      ...capabilities,
      supported_simulation_types: [],
      max_concurrent_jobs: runs,
      features: ['histories'],
    };
    await coordinator.register({ id, instance: 'i', capabilities: abilities });
    const { assignments } = await coordinator.claim(id, { instance: 'i', max_jobs: runs });
    const all = assignments.map(({ job, attempt }) => ({ job_id: job.id, attempt }));
    expect(all).to.have.length(runs);
    await coordinator.reports(id, { instance: 'i', reports: all.map((it) => ({ type: 'start', ...it })) });
    return JSON.stringify({ instance: 'i', reports: all.map((it) => ({ type: 'complete', ...it, result: RESULT })) });
  }
  const submit = async (runs: number): Promise<void> => {
    const config = { histories: HISTORIES };
    ({ batch_id: batch } = await coordinator.submit(study({ runs, config })));
  };
  const send = (id: string, body: string) => post(`${server.url}/runners/${id}/reports`, body);

  it('hold no other request while four runners send 8 MB each: nothing of them is handled without a slice', async () => {
    const runs = 12;
    await submit(RUNNERS.length * runs);
    const bodies: string[] = [];
    for (const id of RUNNERS) bodies.push(await bodyOf(id, runs));
    let asked = 0;
    let allAsked = (): void => {};
    const waiting = new Promise<void>((resolve) => (allAsked = resolve));
    let grant = (): void => {};
    const granted = new Promise<void>((resolve) => (grant = resolve));
    coordinator.share.slice = () => {
      asked += 1;
      if (asked === RUNNERS.length) allAsked();
      return granted;
    };
    let answered = 0;
    const before = turns;
    const answers = RUNNERS.map(async (id, at) => {
      const response = await send(id, bodies[at]!);
      answered += 1;
      return (await response.json()) as { outcomes: { status: string }[] };
    });
    await waiting;
    expect((await fetch(`${server.url}/healthz`)).status).to.equal(200);
    // The judgement of runs may have asked too.
    expect(asked).to.be.at.least(RUNNERS.length);
    expect([answered, turns - before]).to.deep.equal([0, 0]);
    const slices = new CountedSlices(coordinator.share);
    grant();
    for (const { outcomes } of await Promise.all(answers))
      expect(outcomes.map(({ status }) => status)).to.deep.equal(Array.from({ length: runs }, () => 'Completed'));
    // A slice for each piece that is parsed, each report that is validated, and each turn but the first.
    expect(slices.asked).to.be.at.least(3 * RUNNERS.length * (runs - 1));
    expect(slices.mostPending).to.be.at.most(2 * RUNNERS.length);
    expect(turns - before).to.equal(RUNNERS.length * runs);
    expect((await coordinator.batch(batch)).jobs_by_status).to.include({ Completed: RUNNERS.length * runs });
    const again = await send('r0', bodies[0]!);
    expect(await again.json()).to.deep.equal(await answers[0]);
  });

  it('are read as short ones are: the same outcomes, in the same order', async () => {
    await submit(3);
    const body = JSON.parse(await bodyOf('r0', 3)) as { reports: { result: typeof RESULT; attempt: number }[] };
    body.reports[1]!.attempt = 7;
    const answer = await send('r0', `\ufeff${JSON.stringify(body)}`);
    const { outcomes } = (await answer.json()) as {
      outcomes: { job_id: Uuid; status?: string; problem?: { code: string } }[];
    };
    expect(outcomes.map(({ status, problem }) => status ?? problem!.code)).to.deep.equal([
      'Completed',
      'stale-attempt',
      'Completed',
    ]);
    const [{ job_id: job } = { job_id: '' }] = outcomes;
    const { metadata } = (await (await fetch(`${server.url}/jobs/${job}/results`)).json()) as typeof RESULT;
    expect(metadata).to.deep.equal(RESULT.metadata);
  });

  const text = JSON.stringify(RESULT);
  const report = (more = '') =>
    `{"type":"complete","job_id":"019b76da-a800-8000-8000-000000000001","attempt":1,${more}"result":${text}}`;
  const body = (...reports: string[]) => `{"instance":"i","reports":[${reports.join()}]}`;
  const refused: [what: string, body: string | Buffer, status: number, pointer?: string][] = [
    ['a fault in the third report', body(report(), report(), report('"runner":1,')), 422, '/reports/2/runner'],
    ['a fault beside the list', body(report()).replace('"i"', '7'), 422, '/instance'],
    ['a missing list', `{"instance":"i","list":[${report()}]}`, 422, '/reports'],
    ['a list that is an object', `{"instance":"i","reports":{"a":${report()}}}`, 422, '/reports'],
    ['more reports than a request may have', `{"instance":"i","reports":[${'1,'.repeat(300_000)}1]}`, 422, '/reports'],
    ['no object', `[${report()}]`, 400],
    ['a second member', body(report(), report('"attempt":2,')), 400, '/reports/1/attempt'],
    ['a second list', `${body(report()).slice(0, -1)},"reports":[]}`, 400, '/reports'],
    ['digits that are lost', body(report(), report('"n":12345678901234567891,')), 400, '/reports/1/n'],
    ['a list without an end', body(report()).slice(0, -2), 400],
    ['text after it', `${body(report())}1`, 400],
    [
      'bytes that are not text',
      Buffer.concat([Buffer.from(body(report())).subarray(0, -9), Buffer.from([0xff, 0xff])]),
      400,
    ],
    ['a report a million deep', body(report(), `${'['.repeat(1e6)}${']'.repeat(1e6)}`), 422],
    ['more than its limit', ' '.repeat(65 * MIB), 413],
  ];
  for (const [what, sent, status, pointer] of refused) {
    it(`are refused with ${status} for ${what}`, async () => {
      const response = await fetch(`${server.url}/runners/r0/reports`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: sent as string,
      });
      const problem = (await response.json()) as { errors?: { pointer: string }[] };
      expect(response.status, JSON.stringify(problem).slice(0, 500)).to.equal(status);
      if (pointer !== undefined) expect(problem.errors!.map((it) => it.pointer)).to.include(pointer);
    });
  }
});
