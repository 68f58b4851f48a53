/** Manifests: written, verified, and every kind of damage named at its line. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { type ManifestHeader, type ManifestRun, chainedLine } from '../../../src/analysis/manifest/lines.ts';
import { verifyManifest } from '../../../src/analysis/manifest/verify.ts';
import { manifestLines } from '../../../src/analysis/manifest/write.ts';

const header = (runs: readonly ManifestRun[]): ManifestHeader => ({
  batch_id: 'b1',
  configuration: { monte_carlo: { seed: 2n ** 62n } },
  config_hash: 'c'.repeat(64),
  sampling_scheme: 'mc-sampler/1',
  seed: 2n ** 62n,
  versions: { coordinator: '0.2.0', simulation: '1.4' },
  counts: Object.fromEntries(['ok', 'crashed'].map((name) => [name, runs.filter((it) => it.class === name).length])),
});

const RUNS: ManifestRun[] = [0, 1, 2, 5, 6].map((run_id) => ({
  run_id,
  parameters: { mass: run_id / 3, speed: -run_id },
  class: run_id === 2 ? 'crashed' : 'ok',
  result_digest: run_id === 2 ? null : createHash('sha256').update(String(run_id)).digest('hex'),
}));

async function written(runs: readonly ManifestRun[] = RUNS, first = header(runs)): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of manifestLines(first, runs)) lines.push(line);
  return lines;
}

async function errorOf(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
  } catch (error) {
    return (error as Error).message;
  }
  return 'no error';
}

describe('analysis/manifest', () => {
  it('has a header, a line per run and a closing line, all of them JSON with the seed to its last digit', async () => {
    const lines = await written();
    expect(lines).to.have.length(7);
    for (const line of lines)
      expect(JSON.parse(line))
        .to.have.property('hash')
        .that.matches(/^[0-9a-f]{64}$/);
    expect(lines[0])
      .to.match(/^\{"format":"simbatch-manifest\/1","batch_id":"b1",/)
      .and.include('"seed":4611686018427387904,');
    expect(lines[1]).to.include('"run_id":0,"parameters":{"mass":0,"speed":0},"class":"ok","result_digest":"');
    expect(lines[6]).to.match(/^\{"closing":true,"runs":5,"hash":"/);
  });

  it('counts the runs with results of other runs in the header, and refuses another count', async () => {
    const runs = RUNS.map((it) => (it.run_id < 2 ? { ...it, reused_from: 'j1' } : it));
    const lines = await written(runs, { ...header(runs), reused: 2 });
    expect(await verifyManifest(lines)).to.deep.include({ valid: true, runs: 5 });
    expect(await verifyManifest(await written(runs))).to.deep.include({ valid: true });
    expect(await errorOf(() => written(runs, { ...header(runs), reused: 3 }))).to.equal(
      'manifest not written: the header says 3 runs have results of other runs, there are 2; read header and runs from one snapshot',
    );
    // Rewritten as a whole, with valid hashes.
    const forged = lines.map((it) => JSON.parse(it) as Record<string, unknown>);
    let before = '';
    const rewritten = forged.map(
      ({ hash: _, ...line }) => (before = chainedLine(before, 'counts' in line ? { ...line, reused: 1 } : line)),
    );
    expect(await verifyManifest(rewritten)).to.deep.include({
      valid: false,
      reason: 'the header says 1 runs have results of other runs, there are 2',
    });
  });

  it('chains each line by the SHA-256 of the line before, a line feed and the line without its hash', async () => {
    const lines = await written();
    ['', ...lines.slice(0, -1)].forEach((before, i) => {
      const { hash } = JSON.parse(lines[i]!) as { hash: string };
      const without = lines[i]!.replace(`,"hash":"${hash}"`, '');
      expect(createHash('sha256').update(`${before}\n${without}`).digest('hex')).to.equal(hash);
    });
  });

  it('verifies to its number of runs and its fingerprint', async () => {
    const lines = await written();
    const { hash } = JSON.parse(lines.at(-1)!) as { hash: string };
    expect(await verifyManifest(lines)).to.deep.equal({ valid: true, batch_id: 'b1', runs: 5, fingerprint: hash });
    expect(await verifyManifest(await written([]))).to.include({ valid: true, runs: 0 });
  });

  it('fails at the line in which any character was changed', async () => {
    const lines = await written();
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), async (a, b, character) => {
        const at = a % lines.length;
        const place = b % lines[at]!.length;
        const changed = lines[at]!.slice(0, place) + character + lines[at]!.slice(place + 1);
        fc.pre(changed !== lines[at]);
        expect(await verifyManifest(lines.with(at, changed))).to.include({ valid: false, line: at + 1 });
      }),
      { numRuns: 500 },
    );
  });

  it('fails at the line after a removed one, at an added one, and at the first of two exchanged ones', async () => {
    const lines = await written();
    for (let at = 0; at < lines.length; at++) {
      expect(await verifyManifest(lines.toSpliced(at, 1)), `without line ${at + 1}`).to.include({
        valid: false,
        line: at + 1,
      });
      const repeated = lines.toSpliced(at, 0, lines[at]!);
      expect(await verifyManifest(repeated), `line ${at + 1} twice`).to.include({ valid: false, line: at + 2 });
    }
    const exchanged = lines.with(2, lines[3]!).with(3, lines[2]!);
    expect(await verifyManifest(exchanged)).to.include({ valid: false, line: 3 });
  });

  it('names the missing part of a manifest that is cut off or empty', async () => {
    const lines = await written();
    const cut = { valid: false, line: 4, reason: 'the closing line is missing: the manifest is cut off' };
    expect(await verifyManifest(lines.slice(0, 3))).to.deep.equal(cut);
    expect(await verifyManifest([])).to.deep.equal({ valid: false, line: 1, reason: 'the manifest is empty' });
    expect(await verifyManifest(['{"a":1}'])).to.include({ valid: false, line: 1 });
    expect(await verifyManifest(['not JSON'])).to.include({ valid: false, line: 1 });
  });

  it('names the line that does not fit in a chain whose hashes are right', async () => {
    const chain = (...values: object[]): string[] => {
      const lines: string[] = [];
      for (const value of values) lines.push(chainedLine(lines.at(-1) ?? '', value));
      return lines;
    };
    const first = { format: 'simbatch-manifest/1', batch_id: 'b', counts: { ok: 2 } };
    const [one, two] = [
      { run_id: 1, class: 'ok' },
      { run_id: 2, class: 'ok' },
    ];
    const cases: [lines: string[], line: number, reason: string][] = [
      [
        chain({ ...first, format: 'simbatch-manifest/9' }),
        1,
        'the header names the format "simbatch-manifest/9", this version reads "simbatch-manifest/1"',
      ],
      [chain({ ...first, counts: null }), 1, 'the header has no batch_id or no counts'],
      [chain(first, two, one), 3, 'run 1 follows run 2: the runs are not in run order'],
      [chain(first, one, one), 3, 'run 1 follows run 1: the runs are not in run order'],
      [chain(first, { run_id: 'x', class: 'ok' }), 2, 'the line has no run_id or no class'],
      [chain(first, one, { closing: true, runs: 2 }), 3, 'the closing line says 2 runs, there are 1'],
      [chain(first, one, { closing: true, runs: 1 }), 3, 'the header says 2 runs are ok, there are 1'],
      [
        chain(first, one, { run_id: 2, class: '__proto__' }, { closing: true, runs: 2 }),
        4,
        'the header says 2 runs are ok, there are 1',
      ],
      [chain(first, one, two, { closing: true, runs: 2 }, one), 5, 'there is a line after the closing line'],
    ];
    for (const [lines, line, reason] of cases) {
      expect(await verifyManifest(lines)).to.deep.equal({ valid: false, line, reason });
    }
  });

  it('is not written from runs out of order, or from a header with other counts', async () => {
    expect(await errorOf(() => written([RUNS[1]!, RUNS[0]!]))).to.match(
      /^manifest not written: run 0 follows run 1; give/,
    );
    const wrong = { ...header(RUNS), counts: { ok: 5 } };
    expect(await errorOf(() => written(RUNS, wrong))).to.match(
      /^manifest not written: the header says 5 runs are ok, there are 4; read/,
    );
  });

  it('takes the replicates of a design one after the other', async () => {
    const replicated = [...RUNS, ...RUNS.map((it) => ({ ...it, replicate: 1 }))];
    expect(await verifyManifest(await written(replicated))).to.include({ valid: true, runs: 10 });
  });
});
