/** Reports of runners that name objects of a store: only `uploads/complete` writes such addresses. */
import { expect } from 'chai';
import type { Problem } from '../../src/contract/types.ts';
import { fakeCoordinator, JOB_ID, submission } from '../support/fake-api.ts';
import { listen, post, type TestServer } from '../support/http.ts';

const result = { execution_time_secs: 1, output_files: ['/out/a.csv'], metadata: {} };
const STOLEN = 's3://allowed/../private/payroll/attempt-1/secret.csv';
const RESULTS = [
  { ...result, output_files: ['/out/a.csv', STOLEN] },
  { ...result, output_files: ['S3://allowed/other-study/attempt-1/x.csv'] },
  { ...result, telemetry_data: STOLEN },
];
const who = { runner_id: 'r1', attempt: 1 };
const failed = { reason: 'exit', error_message: 'exit code 1' };

describe('http: reports and submissions about an object store', () => {
  let server: TestServer;
  before(async () => {
    server = await listen({ coordinator: fakeCoordinator() });
  });
  after(() => server.close(0));

  const problemOf = async (path: string, body: unknown): Promise<[number, Problem]> => {
    const response = await post(server.url + path, body);
    return [response.status, (await response.json()) as Problem];
  };

  for (const [name, path, bodyOf] of [
    ['complete', `/jobs/${JOB_ID}/complete`, (it: object) => ({ ...who, result: it })],
    ['fail', `/jobs/${JOB_ID}/fail`, (it: object) => ({ ...who, ...failed, result: it })],
    [
      'a batch of reports',
      '/runners/r1/reports',
      (it: object) => ({
        instance: 'i',
        reports: [
          { type: 'complete', job_id: JOB_ID, attempt: 1, result },
          { type: 'fail', job_id: JOB_ID, attempt: 1, ...failed, result: it },
        ],
      }),
    ],
  ] as const)
    it(`${name} with an address of an object store is 422`, async () => {
      expect((await problemOf(path, bodyOf(result)))[0]).to.equal(200);
      for (const stolen of RESULTS) {
        const [status, { errors }] = await problemOf(path, bodyOf(stolen));
        expect(status).to.equal(422);
        expect(errors?.[0]?.pointer).to.match(/\/result\/(output_files\/\d|telemetry_data)$/);
        expect(errors?.[0]?.detail).to.match(
          /^is "[sS]3:\/\/.*; it must be a path on the runner: only `uploads\/complete` names objects of a store/,
        );
      }
    });

  it('a submission with a prefix that leaves its place is 422 with field, value and remedy', async () => {
    for (const s3_prefix of ['../private', 'a//b', 'a/./b', '..']) {
      const study = structuredClone(submission);
      study.config.telemetry.storage = { ...study.config.telemetry.storage, s3_bucket: 'unknown', s3_prefix };
      const [status, { errors }] = await problemOf('/jobs', study);
      expect(status).to.equal(422);
      expect(errors?.map((it) => it.pointer)).to.deep.equal(['/config/telemetry/storage/s3_prefix']);
      expect(errors?.[0]?.detail)
        .to.match(/^is "/)
        .and.include(JSON.stringify(s3_prefix))
        .and.match(/; (name|write) /);
    }
  });
});
