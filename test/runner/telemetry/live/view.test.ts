import { expect } from 'chai';
import { LIMITS } from '../../../../src/contract/limits.ts';
import type { RunnerLiveHead, RunnerLiveVariable } from '../../../../src/contract/types.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import type { Telemetry } from '../../../../src/runner/telemetry/server.ts';
import { LiveViews } from '../../../../src/runner/telemetry/live/views.ts';
import { cleanUp, conditions, send, start, telemetryConfig } from '../support.ts';

const REF = { job_id: 'j', attempt: 2 };
const sample = (index: number, values: Record<string, number>) => ({ timestamp_ns: index * 1_000_000, values });

async function viewOf(telemetry: Telemetry): Promise<{ head: RunnerLiveHead; variables: RunnerLiveVariable[] }> {
  const views = new LiveViews(systemClock);
  views.add(REF, telemetry);
  const [head = '', ...lines] = (await views.lines(REF))?.split('\n') ?? [];
  return {
    head: JSON.parse(head) as RunnerLiveHead,
    variables: lines.map((line) => JSON.parse(line) as RunnerLiveVariable),
  };
}

describe('runner/telemetry/live/view', () => {
  afterEach(cleanUp);

  it('has every sample before its reduction, with a spike between two stored samples', async () => {
    const { telemetry, client } = await start({ isLive: true, telemetry: telemetryConfig({ sampling_rate_hz: 1 }) });
    await send(
      (done) => client.Stream(done),
      Array.from({ length: 3000 }, (_, at) => sample(at, { q: at === 1234 ? 9 : 1 })),
    );
    const { head, variables } = await viewOf(telemetry);
    expect(head).to.deep.equal({ samples: 3000, refused: 0, lost: 0, omitted: 0 });
    expect(variables).to.have.lengthOf(1);
    const [{ name, samples, time_s, values } = expect.fail()] = variables;
    expect([name, samples]).to.deep.equal(['q', 3000]);
    expect(time_s[values.indexOf(9)]).to.equal(1.234);
    expect([time_s[0], time_s.at(-1)]).to.deep.equal([0, 2.999]);
    const { rows } = await telemetry.close();
    expect(rows).to.equal(4);
  });

  it('reserves places for the variables of conditions, and counts those without a place', async () => {
    const { telemetry, client } = await start({ isLive: true, earlyTermination: conditions(['late', '< 0', 'x']) });
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`v${String(at)}`, at]));
    await send((done) => client.Stream(done), [sample(0, many), sample(1, many), sample(2, { late: 1 })]);
    const { head, variables } = await viewOf(telemetry);
    expect(variables).to.have.lengthOf(LIMITS.liveVariables);
    expect(variables.at(-1)).to.include({ name: 'late', samples: 1 });
    expect(head.omitted).to.equal(50 - (LIMITS.liveVariables - 1));
  });

  it('holds the selected variables and those of conditions alone', async () => {
    const { telemetry, client } = await start({
      isLive: true,
      telemetry: telemetryConfig({ variables: ['a'] }),
      earlyTermination: conditions(['b', '< 0', 'x']),
    });
    await send((done) => client.Stream(done), [sample(0, { a: 1, b: 2, c: 3 })]);
    const { head, variables } = await viewOf(telemetry);
    expect([head.omitted, ...variables.map((it) => it.name)]).to.deep.equal([0, 'a', 'b']);
  });

  it('takes hostile names and values as they are, and no number that JSON lacks', async () => {
    const { telemetry, client } = await start({ isLive: true });
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2, "a\\"\\n\\u0000": 3}') as Record<string, number>;
    await send((done) => client.Stream(done), [sample(0, odd), sample(1, { nan: NaN, inf: -Infinity, big: 1.7e308 })]);
    const { variables } = await viewOf(telemetry);
    expect(variables.map((it) => it.name)).to.have.members(['__proto__', 'constructor', 'a"\n\0', 'nan', 'inf', 'big']);
    expect(variables.find((it) => it.name === 'nan')).to.include({ samples: 1, not_finite: 1 });
    expect(variables.find((it) => it.name === 'inf')?.values).to.deep.equal([]);
    expect(variables.find((it) => it.name === 'big')?.values).to.deep.equal([1.7e308]);
  });

  it('has the first hit of a condition in shadow, which ends nothing', async () => {
    const { telemetry, client } = await start({
      isLive: true,
      earlyTermination: { ...conditions(['h', '< 0', 'below ground']), shadow: true },
    });
    await send((done) => client.Stream(done), [sample(0, { h: 5 }), sample(1500, { h: -1 }), sample(1600, { h: -2 })]);
    const { head } = await viewOf(telemetry);
    const hit = { condition: '< 0', variable: 'h', value: -1, time_s: 1.5, description: 'below ground' };
    expect(head.hit).to.deep.equal(hit);
  });

  it('is not kept unless it is asked for, and not served after the end', async () => {
    const { telemetry, client } = await start();
    await send((done) => client.Stream(done), [sample(0, { h: 5 })]);
    expect(telemetry.live).to.equal(undefined);
    const views = new LiveViews(systemClock);
    views.add(REF, telemetry);
    expect(await views.lines(REF)).to.equal(undefined);
    const kept = await start({ isLive: true });
    const end = views.add(REF, kept.telemetry);
    expect(await views.lines(REF)).to.be.a('string');
    expect(await views.lines({ ...REF, attempt: 1 })).to.equal(undefined);
    end();
    expect(await views.lines(REF)).to.equal(undefined);
  });

  it('fits into one answer with the longest names and numbers', async () => {
    const { telemetry, client } = await start({ isLive: true });
    const names = Array.from({ length: 40 }, (_, at) => String(at).padStart(256, '\u0001'));
    const valueAt = (at: number): number =>
      (at % 2 === 0 ? -1.234567890123457e-300 : -1.234567890123457e300) * (1 + at / 1e5);
    const samples = Array.from({ length: 1200 }, (_, at) =>
      sample(1e12 + at * 1.234567, Object.fromEntries(names.map((name) => [name, valueAt(at)]))),
    );
    await send((done) => client.Stream(done), samples);
    const views = new LiveViews(systemClock);
    views.add(REF, telemetry);
    const text = (await views.lines(REF)) ?? '';
    expect(Buffer.byteLength(text)).to.be.within(400_000, LIMITS.filePartBytes);
  });
});
