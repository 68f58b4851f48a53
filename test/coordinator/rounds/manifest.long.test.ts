/** The manifest of an adaptive study: a line for each round, whose digest a reader computes from the lines of its runs. */
import { expect } from 'chai';
import { chainedLine } from '../../../src/analysis/manifest/lines.ts';
import { verifyManifest } from '../../../src/analysis/manifest/verify.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { all, Scene } from '../../support/scene.ts';

type Line = Record<string, unknown> & { parameters: Record<string, number> };

describe('coordinator/rounds/manifest', () => {
  let scene: Scene;
  let batch: Uuid;
  beforeEach(async () => {
    scene = await Scene.open();
    batch = (await scene.api.submit(adaptiveStudy({ runs: 10_000 }))).batch_id;
  });
  afterEach(() => scene.api.close());

  async function manifestOf(id: Uuid): Promise<string[]> {
    let text = '';
    for await (const piece of await scene.api.manifest(id)) text += new TextDecoder().decode(piece);
    return text.trimEnd().split('\n');
  }

  /** The manifest with changed values, and hashes that fit. */
  function rewritten(lines: readonly string[], change: (line: Line, at: number) => void): string[] {
    const chained: string[] = [];
    for (const [at, text] of lines.entries()) {
      const { hash: _, ...line } = JSON.parse(text) as Line;
      change(line, at);
      chained.push(chainedLine(chained.at(-1) ?? '', line));
    }
    return chained;
  }

  it('has a line for each round, with rows that have its digest', async () => {
    const many = Array.from({ length: 4_097 }, (_, at) => ({ r: at / 500, x: at % 2 === 0 ? -0 : 0.1 * at }));
    await scene.api.appendRound(batch, { key: 'a', rows: [{ r: 1, x: -0 }], label: 'not in it' });
    await scene.api.appendRound(batch, { round: 1, rows: many, draws: many.map((_, at) => (at % 3 === 0 ? null : 7)) });
    await scene.api.appendRound(batch, { key: 'c', rows: many });
    const lines = await manifestOf(batch);
    expect(await verifyManifest(lines)).to.include({ valid: true, runs: 8_195 });
    const rounds = lines.map((it) => JSON.parse(it) as Line).filter((it) => it['round'] !== undefined);
    const expected = (await all(await scene.api.rounds(batch))).map(
      ({ round, first_run_id, count, key, digest, previous }) => ({
        round,
        first_run_id,
        count,
        key,
        digest,
        previous,
      }),
    );
    expect(rounds.map(({ hash: _, ...it }) => it)).to.deep.equal(expected);
  });

  it('names the line after rows that do not have the digest of their round, and lines of rounds that do not fit', async () => {
    await scene.api.appendRound(batch, {
      key: 'a',
      rows: [
        { r: 1, x: 2 },
        { r: 3, x: -0 },
      ],
    });
    await scene.api.appendRound(batch, { key: 'b', rows: [{ r: 5, x: 6 }], draws: [3] });
    const lines = await manifestOf(batch);
    const cases: [change: (line: Line, at: number) => void, line: number, reason: string][] = [
      [
        (line, at) => void (at === 2 && (line.parameters['x'] = 2.5)),
        5,
        'the rows of round 0 before this line do not have its digest',
      ],
      [(line, at) => void (at === 3 && delete line['minus_zero']), 5, 'the rows of round 0'],
      [(line, at) => void (at === 5 && (line['draw'] = 4)), 7, 'the rows of round 1'],
      [(line, at) => void (at === 4 && (line['round'] = 2)), 5, 'round 2 is where round 1 must be'],
      [
        (line, at) => void (at === 4 && (line['first_run_id'] = 1)),
        5,
        'round 1 begins with run 1, and the rounds before have 2 runs',
      ],
      [(line, at) => void (at === 1 && (line['count'] = 1)), 4, 'run 1 is not in round 0, which has the runs 0 to 0'],
      [
        (line, at) => void (at === 1 && delete line['digest']),
        2,
        'the line of a round has no first_run_id, count or digest',
      ],
    ];
    for (const [change, line, reason] of cases) {
      const found = await verifyManifest(rewritten(lines, change));
      expect(found).to.include({ valid: false, line });
      expect('reason' in found && found.reason).to.contain(reason);
    }
    expect(await verifyManifest(rewritten(lines, () => {}))).to.include({ valid: true });
    const withoutRound = rewritten(lines.toSpliced(1, 1), () => {});
    const found = await verifyManifest(withoutRound);
    expect(found).to.include({ valid: false, line: 2 });
    expect(found)
      .to.have.property('reason')
      .that.contains('run 0 is before the line of any round')
      .and.contains('write the manifest again');
  });

  it('verifies for a batch that repeats a part of the runs', async () => {
    await scene.api.appendRound(batch, {
      key: 'a',
      rows: [
        { r: 1, x: 2 },
        { r: 3, x: 4 },
      ],
    });
    await scene.api.appendRound(batch, { key: 'b', rows: [{ r: 5, x: 6 }] });
    await scene.api.closeBatch(batch);
    await scene.api.cancelBatch(batch);
    const { batch_id: again } = await scene.api.rerunBatch(batch, { select: { run_ids: '1-2' } });
    expect(await verifyManifest(await manifestOf(again))).to.include({ valid: true, runs: 2 });
  });
});
