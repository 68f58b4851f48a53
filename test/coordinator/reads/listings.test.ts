/** Listings: filters, order, pages, untouched runs, and consistency as of one instant. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { jobId } from '../../../src/domain/ids.ts';
import type { BatchStatus } from '../../../src/contract/types.ts';
import type { JobFilter } from '../../../src/contract/queries.ts';
import type { Listing, PageRequest } from '../../../src/coordinator/reads/listings.ts';
import { study } from '../../support/studies.ts';
import { all, codeOf, ref, runOf, Scene } from '../../support/scene.ts';

describe('coordinator/reads/listings', () => {
  let scene: Scene;
  let first: string;
  let second: string;
  before(async () => {
    scene = await Scene.open();
    await scene.register('a', { slots: 9 });
    await scene.register('b', { slots: 9 });
    // Runs 0 Completed, 1 Running, 2 Cancelled alone, 3 Claimed, 4 and 5 untouched.
    first = await scene.submit({ runs: 6, name: 'first' });
    await scene.running(first, 0, 'a');
    await scene.complete(first, 0, 'a');
    await scene.running(first, 1, 'b');
    await scene.api.cancelJob(jobId(first, 2));
    await scene.claim('a');
    await scene.world.advance(1);
    second = await scene.submit({ runs: 3, name: 'second' });
    await scene.api.cancelBatch(second);
    await scene.world.advance(1);
    await scene.submit({ runs: 0, name: 'third' });
  });

  const shown = async (filter: JobFilter, page?: PageRequest): Promise<string> =>
    (await all(await scene.api.jobs(filter, page)))
      .map((it) => `${it.batch_id === first ? '' : '+'}${runOf(it)}${it.status.slice(0, 2)}`)
      .join(' ');

  it('show all jobs in creation order and then run order', async () => {
    expect(await shown({})).to.equal('0Co 1Ru 2Ca 3Cl 4Pe 5Pe +0Ca +1Ca +2Ca');
  });

  it('filter', async () => {
    const table: [JobFilter, string][] = [
      [{ batch_id: [first] }, '0Co 1Ru 2Ca 3Cl 4Pe 5Pe'],
      [{ batch_id: [second, first, second] }, '0Co 1Ru 2Ca 3Cl 4Pe 5Pe +0Ca +1Ca +2Ca'],
      [{ batch_id: ['nothing'] }, ''],
      [{ status: ['Cancelled'] }, '2Ca +0Ca +1Ca +2Ca'],
      [{ status: ['Pending', 'Running'] }, '1Ru 4Pe 5Pe'],
      [{ status: ['Failed'] }, ''],
      [{ runner_id: ['a'] }, '0Co 3Cl'],
      [{ runner_id: ['a', 'b'], status: ['Running', 'Claimed'] }, '1Ru 3Cl'],
      [{ runner_id: ['ghost'] }, ''],
      [{ run_id: [5, 1, 1, 99] }, '1Ru 5Pe +1Ca'],
      [{ run_id: [4], status: ['Pending'] }, '4Pe'],
      [{ status: [], batch_id: [], runner_id: [], run_id: [] }, '0Co 1Ru 2Ca 3Cl 4Pe 5Pe +0Ca +1Ca +2Ca'],
    ];
    for (const [filter, expected] of table) expect(await shown(filter), JSON.stringify(filter)).to.equal(expected);
  });

  /** All pages of a listing, as their sizes and their items. */
  async function pages<T>(limit: number, list: (page: PageRequest) => Promise<Listing<T>>): Promise<T[][]> {
    const found: T[][] = [];
    for (let after: string | undefined; ;) {
      const listing = await list(after === undefined ? { limit } : { limit, after });
      found.push(await all(listing));
      after = listing.next();
      if (after === undefined) return found;
    }
  }

  it('are paged; all pages together are the whole list', async () => {
    for (const filter of [{}, { status: ['Cancelled' as const] }, { runner_id: ['a'] }, { run_id: [1, 2] }]) {
      const whole = await all(await scene.api.jobs(filter));
      for (let limit = 1; limit <= whole.length + 1; limit += 1) {
        const parts = await pages(limit, (page) => scene.api.jobs(filter, page));
        expect(parts.flat(), `${JSON.stringify(filter)} by ${limit}`).to.deep.equal(whole);
        expect(parts.length).to.equal(Math.max(1, Math.ceil(whole.length / limit)));
      }
    }
    const names = (await pages(2, (page) => scene.api.batches({}, page))).map((page) => page.map((it) => it.name));
    expect(names).to.deep.equal([['first', 'second'], ['third']]);
  });

  it('return the total number where it is known', async () => {
    expect((await scene.api.jobs({}, { limit: 1 })).total).to.equal(9);
    expect((await scene.api.jobs({ status: ['Cancelled'] }, { limit: 1 })).total).to.equal(4);
    expect((await scene.api.jobs({ runner_id: ['a'] }, { limit: 1 })).total).to.equal(undefined);
    expect((await scene.api.batches({ name: ['second'] }, { limit: 1 })).total).to.equal(1);
  });

  it('of batches have the same items in both orders, with any filter and in pages of any size', async () => {
    const some = <T>(...values: T[]) => fc.option(fc.subarray(values), { nil: undefined });
    const filters = fc.record({
      status: some<BatchStatus>('Pending', 'Running', 'Completed', 'Cancelled'),
      name: some('first', 'second', 'third'),
    });
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 4 }), async ({ status, name }, limit) => {
        const filter = { ...(status && { status }), ...(name && { name }) };
        const oldest = (await all(await scene.api.batches(filter))).map(({ id }) => id);
        for (const order of ['oldest', 'newest'] as const) {
          const expected = order === 'newest' ? oldest.toReversed() : oldest;
          const whole = await all(await scene.api.batches({ ...filter, order }));
          expect(whole.map(({ id }) => id)).to.deep.equal(expected);
          const parts = await pages(limit, (page) => scene.api.batches({ ...filter, order }, page));
          expect(parts.flat()).to.deep.equal(whole);
          expect(parts.length).to.equal(Math.max(1, Math.ceil(whole.length / limit)));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('of the newest batches have no total, since they are not counted', async () => {
    const newest = await scene.api.batches({ order: 'newest' }, { limit: 1 });
    expect((await all(newest)).map(({ name }) => name)).to.deep.equal(['third']);
    expect(newest.total).to.equal(undefined);
    expect((await scene.api.batches({ order: 'oldest' }, { limit: 1 })).total).to.equal(3);
  });

  it('of batches filter by status and name', async () => {
    const names = async (filter: object) => (await all(await scene.api.batches(filter))).map((it) => it.name);
    expect(await names({ status: ['Cancelled', 'Completed'] })).to.deep.equal(['second', 'third']);
    expect(await names({ name: ['first', 'third'], status: ['Running'] })).to.deep.equal(['first']);
  });

  it('of batches filter by labels, of which all are required', async () => {
    const labelled = (name: string, labels: Record<string, string>) =>
      scene.api.submit({ ...study({ runs: 0, name }), labels });
    await labelled('one', { campaign: '2026-q4', team: 'gnc' });
    await labelled('two', { campaign: '2026-q4', note: 'a=b, c' });
    await scene.restart();
    const names = async (...label: string[]) => (await all(await scene.api.batches({ label }))).map((it) => it.name);
    expect(await names('campaign=2026-q4')).to.deep.equal(['one', 'two']);
    expect(await names('campaign=2026-q4', 'team=gnc')).to.deep.equal(['one']);
    expect(await names('note=a=b, c')).to.deep.equal(['two']);
    expect(await names('campaign=')).to.deep.equal([]);
    expect(await names('constructor=x')).to.deep.equal([]);
    for (const wrong of ['campaign', '=x', '-a=x', `a=${'x'.repeat(129)}`]) {
      expect(await codeOf(names(wrong)), wrong).to.equal('malformed-query');
    }
  });

  it('of results contain the results of ended runs', async () => {
    const { batch, results } = await scene.api.batchResults(first);
    expect(batch).to.include({ name: 'first', completed_jobs: 1 });
    expect((await all(results)).map((it) => it.job_id)).to.deep.equal([jobId(first, 0)]);
    expect(await codeOf(scene.api.batchResults('nothing'))).to.equal('unknown-batch');
  });

  it('are consistent as of one instant, despite changes while they are read', async () => {
    const own = await Scene.open();
    await own.register('a', { slots: 2000 });
    const batch = await own.submit({ runs: 1200 });
    const listing = await own.api.jobs({});
    const iterator = listing.chunks[Symbol.asyncIterator]();
    const begun = await iterator.next();
    await own.claim('a', 1200);
    await own.api.cancelBatch(batch);
    const statuses = new Set<string>();
    let count = (begun.value as unknown[]).length;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      count += next.value.length;
      for (const { status } of next.value) statuses.add(status);
    }
    expect([count, [...statuses]]).to.deep.equal([1200, ['Pending']]);
  });

  it('release their view when read to the end, abandoned or never started', async () => {
    const own = await Scene.open();
    await own.submit({ runs: 2000 });
    let open = 0;
    const { store } = own;
    const snapshot = store.snapshot.bind(store);
    store.snapshot = () => {
      const it = snapshot();
      let isOpen = true;
      open += 1;
      const close = async (): Promise<void> => {
        if (isOpen) open -= 1;
        isOpen = false;
      };
      return { ...it, close };
    };
    await all(await own.api.jobs({}));
    expect(open, 'read').to.equal(0);
    for await (const _ of (await own.api.jobs({})).chunks) break;
    expect(open, 'left').to.equal(0);
    await (await own.api.jobs({})).chunks[Symbol.asyncIterator]().return?.();
    expect(open, 'never begun').to.equal(0);
    expect(await codeOf(own.api.batchResults('nothing'))).to.equal('unknown-batch');
    expect(open, 'refused').to.equal(0);
  });

  it('show the jobs that runners hold', async () => {
    const { current_jobs } = await scene.api.runner('a');
    expect(current_jobs).to.deep.equal([ref(first, 3).job_id]);
  });
});
