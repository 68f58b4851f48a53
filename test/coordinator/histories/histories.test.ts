/** Histories of runs: what a report must have, what is stored with the result, and who carries it: reuse, export, backup, deletion. */
import { expect } from 'chai';
import type { CodeIdentity, HistoryConfig, Report, ReportedResult, Uuid } from '../../../src/contract/types.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import { importSnapshot } from '../../../src/coordinator/snapshots/import.ts';
import { readSnapshot } from '../../../src/coordinator/snapshots/read.ts';
import { allOf } from '../../../src/coordinator/kernel/storage/keys.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { codeOf, Scene } from '../../support/scene.ts';

const HISTORIES: HistoryConfig[] = [
  { variable: 'nz_g', at: { from: 0, to: 1, step: 0.5 }, units: 'g' },
  { name: 'v', variable: 'speed', at: { points: [-1, 4] } },
];
const code: CodeIdentity = { kind: 'entrypoint', digest: 'a'.repeat(64) };
const NZ = [1, Number.NaN, -0.5];
const SPEED = [Number.POSITIVE_INFINITY, 1e-300];

const values = (factor = 1): Record<string, string> => ({
  nz_g: encodeHistory(NZ.map((it) => it * factor)),
  v: encodeHistory(SPEED),
});
const resultOf = (histories?: Record<string, string>, more: Partial<ReportedResult> = {}): ReportedResult => ({
  execution_time_secs: 1,
  output_files: [],
  metadata: { miss: 1 },
  ...(histories === undefined ? {} : { histories }),
  ...more,
});

describe('coordinator/histories', () => {
  let scene: Scene;
  let batch: Uuid;

  const capabilities = {
    max_concurrent_jobs: 4,
    cpu_cores: 0,
    memory_gb: 0,
    gpu_available: false,
    supported_simulation_types: [],
    features: ['histories'],
  };
  /** Claims and starts every run that is left. */
  async function begin(): Promise<void> {
    // A runner looks at its code and claims again before runs take results.
    for (let claim = 0; claim < 3; claim += 1) {
      const request = { instance: 'r1-1', max_jobs: 4, wait_seconds: 0, engines: [{ name: '*', code }] };
      const { assignments } = await scene.api.claim('r1', request);
      for (const { job, attempt } of assignments) await scene.api.start(job.id, { runner_id: 'r1', attempt, code });
    }
  }
  const complete = (run: number, result: ReportedResult) =>
    scene.api.complete(jobId(batch, run), { runner_id: 'r1', attempt: 1, result });
  const shownOf = async (id: Uuid) => (await scene.api.jobHistories(id)).histories.map(({ values: it }) => it);
  const stored = (store = scene.store): string[] =>
    [...store.disk.keys()].filter((it) => it.startsWith(allOf('history').gte));
  const SHOWN = [
    [1, null, -0.5],
    ['Infinity', 1e-300],
  ];

  beforeEach(async () => {
    scene = await Scene.open();
    await scene.api.register({ id: 'r1', instance: 'r1-1', capabilities, engines: [{ name: '*', code }] });
    batch = await scene.submit({ runs: 3, maxRetries: 0, config: { histories: HISTORIES } });
    await begin();
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  it('are there with the result, also after a restart, and not in it', async () => {
    expect(await codeOf(scene.api.jobHistories(jobId(batch, 0)))).to.equal('result-not-ready');
    await complete(0, resultOf(values()));
    const shown = await scene.api.jobHistories(jobId(batch, 0));
    expect(shown.histories.map(({ name, variable, units, times }) => [name, variable, units, times])).to.deep.equal([
      ['nz_g', 'nz_g', 'g', [0, 0.5, 1]],
      ['v', 'speed', undefined, [-1, 4]],
    ]);
    expect(await shownOf(jobId(batch, 0))).to.deep.equal(SHOWN);
    expect(await scene.api.jobResult(jobId(batch, 0)))
      .to.include({ history_count: 2 })
      .and.not.to.have.property('histories');
    await scene.restart();
    expect(await shownOf(jobId(batch, 0))).to.deep.equal(SHOWN);
    expect(stored()).to.have.length(2);
  });

  it('an outcome without any leaves none, and a failed run may leave them', async () => {
    await complete(0, resultOf());
    const failed = { runner_id: 'r1', attempt: 1, reason: 'early_termination', error_message: 'too fast' } as const;
    await scene.api.fail(jobId(batch, 1), { ...failed, result: resultOf(values()) });
    await scene.api.fail(jobId(batch, 2), { ...failed, reason: 'invalid' });
    expect(await shownOf(jobId(batch, 0))).to.deep.equal([null, null]);
    expect(await shownOf(jobId(batch, 1))).to.deep.equal(SHOWN);
    expect(await shownOf(jobId(batch, 2))).to.deep.equal([null, null]);
  });

  it('keeps the reasons of derived outputs without a value', async () => {
    await complete(0, resultOf(values(), { derived_missing: { peak_g: 'no sample of nz_g came' } }));
    expect((await scene.api.jobResult(jobId(batch, 0))).derived_missing).to.deep.equal({
      peak_g: 'no sample of nz_g came',
    });
  });

  const refused: [title: string, histories: Record<string, string>, pointer: string, detail: RegExp][] = [
    [
      'a value too few',
      { ...values(), nz_g: encodeHistory([1, 2]) },
      '/nz_g',
      /^has 16 bytes, and 3 values take 24; send/,
    ],
    ['a value too many', { ...values(), v: encodeHistory([1, 2, 3]) }, '/v', /^has 24 bytes, and 2 values take 16/],
    ['half a value', { ...values(), v: Buffer.alloc(12).toString('base64') }, '/v', /^has 12 bytes/],
    ['another alphabet', { ...values(), v: '?'.repeat(24) }, '/v', /^is not base64/],
    ['base64 that is cut', { ...values(), v: values()['v']!.slice(0, -1) }, '/v', /^is not base64/],
    ['an unknown name', { ...values(), 'a/b': '' }, '/a~1b', /^is not a history of the study; report nz_g, v/],
    ['a part of them', { v: values()['v']! }, '/nz_g', /^is missing; report every history/],
    ['the name of a member of objects', { ...values(), constructor: '' }, '/constructor', /^is not a history/],
  ];
  for (const [title, histories, pointer, detail] of refused)
    it(`refuses a report with ${title}, and takes the next one`, async () => {
      const error = await complete(0, resultOf(histories)).catch((it: unknown) => it);
      expect(error).to.be.instanceOf(SimbatchError).and.to.have.property('code', 'invalid-request');
      const [fault] = (error as SimbatchError).faults ?? [];
      expect(fault?.pointer).to.equal(`/result/histories${pointer}`);
      expect(fault?.detail).to.match(detail);
      expect(await scene.jobStatus(batch, 0)).to.equal('Running');
      expect(stored()).to.deep.equal([]);
      await complete(0, resultOf(values()));
      expect(await shownOf(jobId(batch, 0))).to.deep.equal(SHOWN);
    });

  it('refuses one report among others alone', async () => {
    const bad = resultOf({ ...values(), v: 'AAAA' });
    const reports = [resultOf(values()), bad, resultOf(values())].map((result, run): Report => ({
      type: 'complete',
      job_id: jobId(batch, run),
      attempt: 1,
      result,
    }));
    const outcomes = await scene.api.reports('r1', { instance: 'r1-1', reports });
    expect(outcomes.map((it) => ('status' in it ? it.status : it.refusal.code))).to.deep.equal([
      'Completed',
      'invalid-request',
      'Completed',
    ]);
    expect(stored()).to.have.length(4);
  });

  it('answers the exact repeat of a report as the first, and refuses one with other values', async () => {
    await complete(0, resultOf(values()));
    expect((await complete(0, resultOf(values()))).status).to.equal('Completed');
    expect(await codeOf(complete(0, resultOf(values(2))))).to.equal('illegal-transition');
    expect(await codeOf(complete(0, resultOf()))).to.equal('illegal-transition');
    expect(await shownOf(jobId(batch, 0))).to.deep.equal(SHOWN);
  });

  it('stores base64 in its one form, whichever came', async () => {
    const text = encodeHistory(SPEED);
    expect(text.endsWith('=')).to.equal(true);
    const last = text.indexOf('=') - 1;
    const other = text.slice(0, last) + String.fromCharCode(text.charCodeAt(last) + 1) + text.slice(last + 1);
    expect(Buffer.from(other, 'base64')).to.deep.equal(Buffer.from(text, 'base64'));
    await complete(0, resultOf({ ...values(), v: other }));
    expect(
      [...scene.store.disk].find(([key]) => key.startsWith(`${allOf('history').gte}${batch}/01`))?.[1].endsWith(text),
    ).to.equal(true);
  });

  it('are taken with the result by a run with the same key', async () => {
    for (const run of [0, 1, 2]) await complete(run, resultOf(values(run + 1)));
    const options = { runs: 3, config: { histories: HISTORIES }, policy: { reuse: 'all' as const } };
    const second = await scene.submit({ ...options, name: 'second' });
    await begin();
    expect((await scene.api.job(jobId(second, 2))).reused_from?.job_id).to.equal(jobId(batch, 2));
    expect(await shownOf(jobId(second, 2))).to.deep.equal(await shownOf(jobId(batch, 2)));
    expect(stored()).to.have.length(12);
    const other = { histories: [{ ...HISTORIES[0]!, interpolation: 'previous' as const }, HISTORIES[1]!] };
    const third = await scene.submit({ ...options, name: 'third', config: other });
    await begin();
    expect((await scene.api.job(jobId(third, 0))).reused_from).to.equal(undefined);
  });

  it('a run whose history is lost gives its result to no other, and says so', async () => {
    for (const run of [0, 1, 2]) await complete(run, resultOf(values()));
    const [key] = stored();
    scene.store.disk.delete(key!);
    expect(await codeOf(scene.api.jobHistories(jobId(batch, 0)))).to.equal('store-damaged');
    const second = await scene.submit({
      runs: 3,
      name: 'second',
      config: { histories: HISTORIES },
      policy: { reuse: 'all' },
    });
    await begin();
    expect((await scene.api.job(jobId(second, 0))).status).to.equal('Running');
  });

  it('go with their study', async () => {
    for (const run of [0, 1, 2]) await complete(run, resultOf(values()));
    const other = await scene.submit({ runs: 1, config: { histories: HISTORIES } });
    await begin();
    await scene.api.complete(jobId(other, 0), { runner_id: 'r1', attempt: 1, result: resultOf(values()) });
    await scene.api.deleteBatch(batch);
    await scene.api.parts.purges.idle();
    expect(stored().map((it) => it.includes(other))).to.deep.equal([true, true]);
  });

  it('are in an export, which is refused where one is missing, added, or of another length', async () => {
    for (const run of [0, 1]) await complete(run, resultOf(values(run + 1)));
    const { head, records } = await scene.api.exportSnapshot(batch);
    const lines: { key: string; json: string }[] = [];
    for await (const chunk of records.chunks) lines.push(...chunk);
    const textOf = (its: readonly { key: string; json: string }[]): string =>
      `${JSON.stringify(head).slice(0, -1)},"records":[\n${its.map((it) => `{"key":${JSON.stringify(it.key)},"value":${it.json}}`).join(',\n')}\n]}\n`;
    const imported = async (its: readonly { key: string; json: string }[]): Promise<MemoryStore> => {
      const store = new MemoryStore();
      async function* pieces() {
        yield textOf(its);
      }
      await importSnapshot(await readSnapshot(pieces()), store);
      return store;
    };
    const isHistory = ({ key }: { key: string }): boolean => key.startsWith('history/');
    expect(lines.filter(isHistory)).to.have.length(4);
    const kept = ({ disk }: MemoryStore) => new Map([...disk].filter(([key]) => key.startsWith('!history!')));
    expect(kept(await imported(lines))).to.deep.equal(kept(scene.store));

    const first = lines.findIndex(isHistory);
    const changed = (change: (it: { key: string; json: string }) => { key: string; json: string }) =>
      imported(lines.map((it, at) => (at === first ? change(it) : it)));
    expect(await codeOf(imported(lines.filter((_, at) => at !== first))), 'missing').to.equal('snapshot-unusable');
    expect(await codeOf(changed((it) => ({ ...it, json: '{"values":"AAAA"}' }))), 'length').to.equal(
      'snapshot-unusable',
    );
    const unpadded = lines.map((it) => (isHistory(it) ? { ...it, json: it.json.replaceAll('=', '') } : it));
    expect(unpadded).not.to.deep.equal(lines);
    expect(await codeOf(imported(unpadded)), 'padding').to.equal('snapshot-unusable');
    expect(await codeOf(changed((it) => ({ ...it, key: it.key.replace(/.$/, '2') }))), 'run').to.equal(
      'snapshot-unusable',
    );
    expect(await codeOf(imported([...lines.slice(0, first + 1), ...lines.slice(first)])), 'twice').to.equal(
      'snapshot-unusable',
    );
  });
});
