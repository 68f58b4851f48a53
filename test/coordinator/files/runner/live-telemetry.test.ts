/** Live telemetry as the coordinator answers it: from good, silent and hostile runners. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LIMITS } from '../../../../src/contract/limits.ts';
import type { LiveTelemetry, Uuid } from '../../../../src/contract/types.ts';
import { LIVE_ANSWER_MS } from '../../../../src/coordinator/files/runner/live-telemetry.ts';
import { MAX_SHARED, SHARED_MS } from '../../../../src/coordinator/files/runner/live-readings.ts';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import { Scene } from '../../../support/scene.ts';
import { strictFaults } from '../../../support/strict-schema.ts';
import { LiveTelemetry as Schema } from '../../../../src/contract/resources/live-telemetry.ts';

const HEAD = { samples: 3, refused: 0, lost: 0, omitted: 0 };
const H = { name: 'h', samples: 3, not_finite: 0, reversals: 0, time_s: [0, 1, 2], values: [5, 4, 3] };
const CONDITIONS = {
  enabled: true,
  conditions: [{ variable: 'h', condition: '< 0', description: 'below ground' }],
};
const lines = (...values: unknown[]): string => values.map((it) => JSON.stringify(it)).join('\n');
const never = new AbortController().signal;

describe('coordinator/files/runner: live telemetry', () => {
  let scene: Scene;
  let batch: Uuid;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('r1', { slots: 100 });
    batch = await scene.submit({ runs: 2, config: { telemetry: { live: true }, early_termination: CONDITIONS } });
  });

  const read = (run = 0, stop = never): Promise<LiveTelemetry> => scene.api.liveTelemetry(jobId(batch, run), stop);
  const refusal = (reading: Promise<unknown>): Promise<SimbatchError> =>
    reading.then(
      () => expect.fail('not refused'),
      (error: unknown) => error as SimbatchError,
    );
  const poll = () =>
    scene.api.fileRequests('r1', { instance: scene.instance('r1'), holding: [], wait_seconds: 25 }, never);
  /** Reads, and answers the request for it with these bytes. */
  async function answered(text: string | Uint8Array, run = 0): Promise<LiveTelemetry> {
    const polled = poll();
    const reading = read(run);
    reading.catch(() => {});
    const [request] = (await polled).requests;
    expect(request).to.include({ type: 'live', job_id: jobId(batch, run), attempt: 1 });
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    await scene.api.filePart('r1', { request: request?.request_id ?? '', size: bytes.length, version: 'live' }, bytes);
    return await reading;
  }

  it('answers with the view of the runner and the conditions of the study', async () => {
    await scene.running(batch, 0, 'r1');
    const found = await answered(lines(HEAD, H));
    expect(found).to.deep.equal({
      ...HEAD,
      job_id: jobId(batch, 0),
      attempt: 1,
      runner_id: 'r1',
      variables: [H],
      conditions: [{ variable: 'h', condition: '< 0', threshold: 0 }],
      shadow: false,
    });
    expect(strictFaults(Schema, found)).to.deep.equal([]);
  });

  it('names no condition when early termination is off', async () => {
    const config = { telemetry: { live: true }, early_termination: { ...CONDITIONS, enabled: false } };
    batch = await scene.submit({ runs: 1, config, policy: { priority: 5 } });
    await scene.running(batch, 0, 'r1');
    expect((await answered(lines(HEAD))).conditions).to.deep.equal([]);
  });

  it('asks once for all readers of a moment, and again afterwards', async () => {
    await scene.running(batch, 0, 'r1');
    const polled = poll();
    const leaving = new AbortController();
    const left = refusal(read(0, leaving.signal));
    const readings = [read(), read()];
    leaving.abort(new Error('gone'));
    expect(String(await left)).to.equal('Error: gone');
    const { requests } = await polled;
    expect(requests).to.have.lengthOf(1);
    const bytes = Buffer.from(lines(HEAD, H));
    const part = { request: requests[0]?.request_id ?? '', size: bytes.length, version: 'live' };
    await scene.api.filePart('r1', part, bytes);
    expect(await readings[0]).to.equal(await readings[1]);
    expect(await read()).to.equal(await readings[0]);
    await scene.world.advance(SHARED_MS);
    expect((await answered(lines({ ...HEAD, samples: 4 }, H))).samples).to.equal(4);
  });

  it('keeps a bounded number of answers', async () => {
    const many = MAX_SHARED + 3;
    batch = await scene.submit({ runs: many, config: { telemetry: { live: true } }, policy: { priority: 5 } });
    await scene.claim('r1', many);
    for (let run = 0; run < many; run++) {
      await scene.start(batch, run, 'r1');
      await answered(lines(HEAD, H), run);
    }
    // An answer that was kept is sent at once; beyond the bound the runner is asked again.
    await read(0);
    await answered(lines(HEAD, H), many - 1);
  });

  it('refuses runs that are not running, and says where the telemetry of an ended run is', async () => {
    const pending = await refusal(read());
    expect([pending.code, pending.message]).to.deep.equal([
      'run-not-running',
      `run ${jobId(batch, 0)} is Pending, not Running; ask again when it runs`,
    ]);
    await scene.running(batch, 0, 'r1');
    const telemetry_data = `/out/${batch}/00000000/attempt-1/telemetry.parquet`;
    const result = { execution_time_secs: 1, output_files: [telemetry_data], telemetry_data, metadata: {} };
    await scene.api.complete(jobId(batch, 0), { runner_id: 'r1', attempt: 1, result });
    const over = await refusal(read());
    expect(over.code).to.equal('run-not-running');
    expect(over.message)
      .to.include(telemetry_data)
      .and.include(`read /jobs/${jobId(batch, 0)}/files/telemetry.parquet`);
    await scene.running(batch, 1, 'r1');
    await scene.complete(batch, 1, 'r1');
    expect((await refusal(read(1))).message).to.include('is Completed: it left no telemetry file');
    expect((await refusal(read(2))).code).to.equal('unknown-job');
  });

  it('names the field when the study has not asked for it', async () => {
    batch = await scene.submit({ runs: 1, policy: { priority: 5 } });
    await scene.running(batch, 0, 'r1');
    const error = await refusal(read());
    expect(error.code).to.equal('live-telemetry-off');
    expect(error.message).to.include('config.telemetry.live is not true; submit it with "live": true');
  });

  it('says why a runner does not send it', async () => {
    await scene.running(batch, 0, 'r1');
    const unserved = await refusal(read());
    expect(unserved.code).to.equal('live-telemetry-unavailable');
    expect(unserved.message).to.include('runner "r1" does not serve files').and.include('--serve-files');
    const polled = poll();
    const silent = refusal(read());
    await polled;
    void poll();
    await scene.world.advance(LIVE_ANSWER_MS);
    expect((await silent).message).to.include('runner "r1" does not answer; ask again');
    for (const [fault, detail, remedy] of [
      ['unknown-file', 'the run has ended', 'ask again'],
      ['unreadable', 'undefined is not a path', 'update its program'],
    ] as const) {
      const asked = poll();
      const refused = refusal(read());
      const request = (await asked).requests.at(-1)?.request_id ?? '';
      await scene.api.filePart('r1', { request, fault, detail }, new Uint8Array());
      expect((await refused).message).to.include(`does not send it: ${detail}; ${remedy}`);
    }
  });

  it('answers with nothing that a hostile runner makes up', async () => {
    await scene.running(batch, 0, 'r1');
    const long = Array.from({ length: LIMITS.livePoints + 1 }, (_, at) => at);
    const proto = '{"__proto__": {"samples": 1}, "samples": 1, "refused": 0, "lost": 0, "omitted": 0}';
    const hostile: Record<string, string | Uint8Array> = {
      nothing: '',
      'no JSON': 'hello',
      'another shape': '[]',
      'bytes that are not UTF-8': new Uint8Array([0xff, 0xfe, 0x00]),
      'a NaN': `${lines(HEAD)}\n${JSON.stringify(H).replace('5', 'NaN')}`,
      'a null': lines(HEAD, { ...H, values: [5, null, 3] }),
      'an infinite number': `${lines(HEAD)}\n${JSON.stringify(H).replace('[5', '[1e999')}`,
      'lists of different lengths': lines(HEAD, { ...H, values: [5] }),
      'times that descend': lines(HEAD, { ...H, time_s: [0, 2, 1] }),
      'too many points': lines(HEAD, { ...H, time_s: long, values: long }),
      'too many variables': lines(HEAD, ...Array.from({ length: 33 }, (_, at) => ({ ...H, name: String(at) }))),
      'a variable twice': lines(HEAD, H, H),
      'a negative count': lines({ ...HEAD, samples: -1 }, H),
      'other members': lines({ ...HEAD, job_id: 'another' }, H),
      'a name that is too long': lines(HEAD, { ...H, name: 'x'.repeat(257) }),
      'a member __proto__': proto,
      'a line that is too long': `${lines(HEAD)}${' '.repeat(200_000)}`,
      'deep nesting': '['.repeat(LIMITS.filePartBytes),
      'a hit of another shape': lines({ ...HEAD, hit: { variable: 5 } }, H),
    };
    for (const [what, text] of Object.entries(hostile)) {
      const error = await refusal(answered(text));
      expect([what, error.code]).to.deep.equal([what, 'live-telemetry-unavailable']);
      expect(error.message, what).to.include('runner "r1" sent what cannot be read');
    }
    for (const name of ['__proto__', 'constructor', '<script>', '']) {
      const found = await answered(lines(HEAD, { ...H, name }));
      expect(found.variables).to.deep.equal([{ ...H, name }]);
      await scene.world.advance(SHARED_MS);
    }
    expect(scene.faults).to.deep.equal([]);
  });

  it('answers or refuses any bytes', async () => {
    await scene.running(batch, 0, 'r1');
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.json(), { maxLength: 5 }).map((it) => Buffer.from(it.join('\n'))),
    );
    await fc.assert(
      fc.asyncProperty(noise, async (bytes) => {
        expect((await refusal(answered(bytes))).code).to.equal('live-telemetry-unavailable');
      }),
      { numRuns: 50 },
    );
  });
});
