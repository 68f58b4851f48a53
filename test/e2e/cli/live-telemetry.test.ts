/** `simbatch run` of a run that is running: its telemetry so far, or why there is none. */
import { expect } from 'chai';
import type { LiveTelemetry } from '../../../src/contract/types.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { fakeCoordinator, job } from '../../support/fake-api.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { simbatch } from '../../support/program.ts';

const H = { name: 'h', samples: 900, not_finite: 0, reversals: 0, time_s: [0, 1, 2], values: [5, -1.5, 4] };
const VIEW: LiveTelemetry = {
  job_id: job(0).id,
  attempt: 1,
  runner_id: 'r1',
  samples: 900,
  refused: 0,
  lost: 0,
  omitted: 0,
  variables: [H],
  conditions: [{ variable: 'h', condition: '< -9', threshold: -9 }],
  shadow: false,
};

describe('cli: the telemetry of a running run', () => {
  async function shown(view: LiveTelemetry | Error, format = 'table') {
    const coordinator = fakeCoordinator({
      job: async () => ({ ...job(0), status: 'Running', assigned_runner: 'r1' }),
      jobResult: async () => {
        throw new SimbatchError('result-not-ready', 'none');
      },
      liveTelemetry: async () => {
        if (view instanceof Error) throw view;
        return view;
      },
    });
    const server: TestServer = await listen({ coordinator });
    try {
      return await simbatch(['run', job(0).id, '--endpoint', server.url, '-o', format]);
    } finally {
      await server.close(0);
    }
  }

  it('shows the latest, the least and the greatest value of each variable beside its conditions', async () => {
    const { stdout, code, stderr } = await shown(VIEW);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/live telemetry\n +VARIABLE +SAMPLES +LATEST +LEAST +GREATEST +ENDS THE RUN\n/);
    expect(stdout).to.match(/^ +h +900 +4 +-1\.5 +5 +< -9$/m);
    expect(stdout).to.not.match(/lost|judged|shadow/);
  });

  it('names all that it lacks, and escapes names of the simulation', async () => {
    const { stdout } = await shown({
      ...VIEW,
      variables: [
        { ...H, name: 'a\u001b[31m' },
        { ...H, name: 'nan', not_finite: 3, time_s: [], values: [] },
        { ...H, name: 'back', reversals: 2 },
      ],
      shadow: true,
      hit: { variable: 'h', condition: '< 0', value: -1, time_s: 1, description: '' },
      omitted: 2,
      lost: 4,
      refused: 5,
    });
    expect(stdout).to.not.include('\u001b[31m');
    for (const line of [
      'no number of h has come: < -9 has judged nothing',
      'the conditions are in shadow and end no run',
      'met: h < 0: -1 at 1 s',
      '3 values are NaN or infinite and are left out',
      'the time of back ran backwards 2 times: its latest value is unknown',
      '2 more variables have no place in the view',
      '4 samples were lost and 5 refused',
    ]) {
      expect(stdout).to.include(line);
    }
    expect(stdout).to.match(/^ +back +900 +-1\.5 +5 *$/m);
    expect((await shown({ ...VIEW, variables: [] })).stdout).to.include('no sample has come yet');
  });

  it('says why the runner sends none, and nothing where the study does not ask for it', async () => {
    const why = 'cannot be read: runner "r1" does not serve files; start it with --serve-files';
    expect((await shown(new SimbatchError('live-telemetry-unavailable', why))).stdout).to.include(why);
    const { stdout, code } = await shown(new SimbatchError('live-telemetry-off', 'off'));
    expect([code, stdout.includes('live telemetry')]).to.deep.equal([0, false]);
  });

  it('adds it to the JSON where it could be read', async () => {
    expect(JSON.parse((await shown(VIEW, 'json')).stdout)).to.have.deep.property('live_telemetry', VIEW);
    const without = await shown(new SimbatchError('live-telemetry-off', 'off'), 'json');
    expect(JSON.parse(without.stdout)).to.have.keys('job', 'history', 'result');
  });
});
