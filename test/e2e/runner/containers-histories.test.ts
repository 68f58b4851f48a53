/** Histories and derived outputs of runs in containers: the closed forms of a throw, from telemetry that leaves the container. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { historyValues } from '../../../src/domain/histories/values.ts';
import { Containers } from '../../../src/runner/containers/containers.ts';
import { silentLog } from '../../../src/runner/log.ts';
import { real, stub, type RuntimeOnTrial } from '../../support/containers/runtimes.ts';
import { ExecutionBench } from '../../support/executed.ts';

const [SPEED, GRAVITY, HEIGHT] = [40, 9.80665, 50];
const ROOT = Math.sqrt(SPEED ** 2 - 2 * GRAVITY * HEIGHT);
const AT = { from: 0, to: 10, step: 0.25 };
const DECLARED = {
  histories: [
    { variable: 'z', at: AT },
    { name: 'around', variable: 'z', at: { points: [-2, 0, 1.25] }, origin: 'first(vz < 0)' },
  ],
  derived: [
    { name: 'apogee', take: 'max' as const, telemetry: 'z' },
    { name: 'flight', take: 'time' as const, at: 'first(z < 0)' },
    { name: 'above', take: 'duration' as const, while: `z > ${HEIGHT}` },
    { name: 'speed_there', take: 'value' as const, telemetry: 'vz', at: `first(z > ${HEIGHT})` },
    { name: 'twice', expression: '2 * outputs.above' },
    { name: 'none', take: 'time' as const, at: 'first(z > 1000)' },
  ],
};

const OPENED: readonly { title: string; open: (program: string) => Promise<RuntimeOnTrial | string> }[] = [
  { title: 'podman, a stand-in', open: () => stub('podman') },
  { title: 'podman', open: (program) => real('podman', { throw: program }) },
  { title: 'charliecloud', open: (program) => real('charliecloud', { throw: program }) },
];

for (const { title, open } of OPENED) {
  describe(`histories of a run in a container: ${title}`, () => {
    let folder: string | undefined;
    let tried: RuntimeOnTrial | undefined;
    let bench: ExecutionBench | undefined;
    const umask = process.umask();

    before(async function () {
      if (spawnSync('cc', ['--version']).status !== 0) {
        if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error('cc is not installed');
        this.skip();
      }
      folder = mkdtempSync(join(tmpdir(), 'simbatch-throw-'));
      chmodSync(folder, 0o755);
      const program = join(folder, 'throw');
      // The image has no libraries.
      execFileSync('cc', ['-O1', '-static', '-o', program, join(packageRoot, 'test/support/simulations/throw.c')]);
      const opened = await open(program);
      if (typeof opened === 'string') {
        this.test!.title += ` (${opened})`;
        this.skip();
      }
      tried = opened;
      // Podman's containers belong to another user in these tests.
      process.umask(0);
      bench = new ExecutionBench({}, 0o777);
    });
    after(() => {
      process.umask(umask);
      bench?.close();
      tried?.close();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });

    it('have the closed forms of a throw', async () => {
      const { runtime, image, isReal } = tried!;
      const containers = new Containers({
        runtime,
        images: [image],
        options: [],
        env: bench!.env,
        workingDirectory: bench!.folder,
        clock: systemClock,
        log: silentLog,
      });
      const engine = { name: '*', entrypoint: isReal ? 'image:/throw' : join(folder!, 'throw') };
      const { end } = await bench!.execute(engine, {}, 3, { containers, image, declared: DECLARED });
      expect(end.type, JSON.stringify(end)).to.equal('complete');
      if (end.type !== 'complete') return;
      const { metadata, histories = {}, derived_missing: missing } = end.result;
      expect(metadata['simbatch_container']).to.include({ image });
      const wanted = {
        apogee: SPEED ** 2 / (2 * GRAVITY),
        flight: (2 * SPEED) / GRAVITY,
        above: (2 * ROOT) / GRAVITY,
        speed_there: ROOT,
        twice: (4 * ROOT) / GRAVITY,
      };
      // A linear crossing is off by at most g dt^2 / 8 over the speed there.
      for (const [name, value] of Object.entries(wanted)) expect(metadata[name], name).to.be.closeTo(value, 2e-4);
      expect(missing).to.deep.equal({ none: 'there was no first(z > 1000)' });
      const valuesOf = (name: string): number[] => [...historyValues(Buffer.from(histories[name]!, 'base64'))];
      const heightAt = (time: number): number => SPEED * time - (GRAVITY / 2) * time * time;
      const z = valuesOf('z');
      expect(z).to.have.length(41);
      for (const [at, value] of z.entries()) {
        if (at / 4 > wanted.flight + 0.01) expect(value).to.be.NaN;
        else expect(value, `at ${at / 4} s`).to.be.closeTo(heightAt(at / 4), 1e-9);
      }
      for (const [at, offset] of [-2, 0, 1.25].entries())
        expect(valuesOf('around')[at]).to.be.closeTo(wanted.apogee - (GRAVITY / 2) * offset ** 2, 2e-4);
      expect(tried!.containers()).to.deep.equal([]);
    });
  });
}
