import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { ApiError, type Client } from '../../../src/client/client.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';
import { Site } from '../support.ts';

const BULK = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`TEXT_${at}`, 'x'.repeat(9_000)]));

/** A study with a large record. */
const bulky = (number: number) =>
  study({ name: `${number}`, runs: 3, config: { compute: { container: { environment: BULK } } } });

/** Submits until the coordinator refuses; returns the acknowledged studies and the refusal. */
async function fill(client: Client): Promise<{ kept: Uuid[]; refusal: unknown }> {
  const kept: Uuid[] = [];
  for (let number = 0; number < 500; number += 1) {
    try {
      kept.push((await client.submit(bulky(number))).batch_id);
    } catch (refusal) {
      return { kept, refusal };
    }
  }
  throw new Error('the disk did not become full');
}

const HALF = Buffer.concat([Buffer.from([1, 2, 3, 4, 0x20, 0x4e, 1]), Buffer.alloc(5_000, 'x')]);

const idsOf = async (client: Client): Promise<Uuid[]> => {
  const ids: Uuid[] = [];
  for await (const { id } of client.batches()) ids.push(id);
  return ids;
};

describe('e2e: a coordinator with a full disk', function () {
  const mounts: string[] = [];
  const sites: Site[] = [];
  after(async () => {
    for (const site of sites) await site.kill();
    for (const mount of mounts) execFileSync('umount', [mount]);
    for (const site of sites) await site.clean();
  });

  async function stopsAndContinues(site: Site, limit: string, repair: () => void): Promise<void> {
    sites.push(site);
    await site.start(limit);
    const { kept, refusal } = await fill(site.client());
    expect(kept.length).to.be.greaterThan(3);
    expect(refusal).to.be.instanceOf(ApiError);
    expect(refusal).to.include({ status: 503, code: 'unavailable' });
    expect(await site.exit()).to.equal(1);
    const lines = site.log.trim().split('\n');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(
      /^simbatch: the coordinator cannot write its data directory and stops: .*(No space left|File too large)/,
    );
    repair();
    await site.start();
    const found = await idsOf(site.client());
    expect(found).to.include.members(kept);
    // A study that was not acknowledged may exist or not, but never in part.
    expect(found.length).to.be.within(kept.length, kept.length + 1);
    const { total_jobs: total } = await site.client().submit(study({ runs: 7 }));
    expect(total).to.equal(7);
  }

  it('(a file may not grow) says so in one line, stops with 1, and continues when there is room', async () => {
    // In kibibytes. The process would be ended by a signal if Node did not ignore it.
    await stopsAndContinues(new Site(), 'ulimit -f 2048', () => {});
  });

  it('(a file system is full) says so in one line, stops with 1, and continues when there is room', async function () {
    const site = new Site();
    const data = join(site.folder, 'data');
    mkdirSync(data);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', data], { stdio: 'ignore' });
    } catch {
      // Only root may mount; the same refusal of the disk is tested above without.
      sites.push(site);
      this.skip();
    }
    mounts.push(data);
    await stopsAndContinues(site, '', () => execFileSync('mount', ['-o', 'remount,size=64m', data]));
  });
});

describe('e2e: a coordinator killed during a write', () => {
  const site = new Site();
  const kept: Uuid[] = [];
  const markOf = ({ dataDir }: Site): Buffer => readFileSync(join(dataDir, 'high-water-mark'));
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  /**
   * The mark once it names the last group: it is written at most 50 ms after a group, so an answered request after that
   * time shows that the coordinator has begun to write it, and a file that stays the same that it has ended.
   */
  async function settledMark(): Promise<Buffer> {
    await pause(50);
    for (let request = 0; request < 3; request += 1) await site.client().runners();
    for (;;) {
      const mark = markOf(site);
      await pause(50);
      if (markOf(site).equals(mark)) return mark;
    }
  }
  const logIn = (folder: string): string => {
    const logs = readdirSync(folder).filter((it) => it.endsWith('.log'));
    return join(folder, logs.sort().at(-1) as string);
  };
  let markBefore: Buffer;
  before(async () => {
    await site.start();
    // The only write without a request, a second after the start: it must not come after the last study.
    while (!readFileSync(logIn(site.dataDir)).includes('!meta!instant')) await pause(50);
    for (let number = 0; number < 8; number += 1) {
      // The mark follows the reply: without the wait it would still be on its way to an earlier group.
      markBefore = await settledMark();
      kept.push((await site.client().submit(bulky(number))).batch_id);
    }
    expect((await settledMark()).equals(markBefore)).to.equal(false);
    await site.kill();
  });
  after(() => site.clean());

  // damage to the last file, number of acknowledged batches that it takes away
  const table: [string, (log: string) => void, number][] = [
    // LevelDB's record: checksum, length 20,000, type 1 (whole); of its content the disk got a quarter.
    ['half a record after the last', (log) => appendFileSync(log, HALF), 0],
    ['zeros after the last', (log) => appendFileSync(log, Buffer.alloc(70_000)), 0],
    ['noise after the last', (log) => appendFileSync(log, Buffer.alloc(5_000, 'noise')), 0],
    ['the last record cut by a byte', (log) => truncateSync(log, statSync(log).size - 1), 1],
    ['the last record cut in half', (log) => truncateSync(log, statSync(log).size - 30_000), 1],
  ];
  for (const [what, damage, taken] of table) {
    it(`(${what}) starts again with all that came before`, async () => {
      const copy = new Site();
      cpSync(site.dataDir, copy.dataDir, { recursive: true });
      rmSync(join(copy.dataDir, 'LOCK'), { force: true });
      damage(logIn(copy.dataDir));
      // A write that was never acknowledged was never marked either.
      if (taken > 0) writeFileSync(join(copy.dataDir, 'high-water-mark'), markBefore);
      try {
        await copy.start();
        const client = copy.client();
        expect(await idsOf(client)).to.deep.equal(kept.slice(0, kept.length - taken));
        expect(await client.submission(kept[0] as string)).to.have.property('name', '0');
        await client.submit(study());
      } finally {
        await copy.clean();
      }
    });

    if (taken === 0) continue;
    it(`(${what}) refuses with 73 when the record was acknowledged, and names the file`, async () => {
      const copy = new Site();
      cpSync(site.dataDir, copy.dataDir, { recursive: true });
      damage(logIn(copy.dataDir));
      try {
        const message = await copy.start().then(
          () => 'started',
          (error: Error) => error.message,
        );
        expect(message).to.match(/is damaged: nothing in it was changed; restore a backup, or save .*simbatch repair/);
        expect(message).to.contain(basename(logIn(copy.dataDir)));
        expect(await copy.exit()).to.equal(73);
      } finally {
        await copy.clean();
      }
    });
  }
});
