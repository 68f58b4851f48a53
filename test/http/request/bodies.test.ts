import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { lossyFault } from '../../../src/base/json/json-loss.ts';
import { JOB_ID, fakeCoordinator, submission } from '../../support/fake-api.ts';
import { listen, post, rawRequest, type TestServer } from '../../support/http.ts';

interface Refusal {
  code: string;
  detail: string;
  errors?: { pointer: string; detail: string }[];
}

const completion = (metadata: string): string =>
  `{"runner_id":"r1","attempt":1,"result":{"execution_time_secs":1,"output_files":[],"metadata":${metadata}}}`;

describe('http/request: bodies', () => {
  let server: TestServer;
  const coordinator = fakeCoordinator();
  before(async () => {
    server = await listen({ coordinator });
  });
  after(() => server.close(0));
  beforeEach(() => void (coordinator.calls.length = 0));

  const refusal = async (path: string, body: string | Uint8Array): Promise<Refusal> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: body as string });
    expect(response.status).to.equal(400);
    expect(coordinator.calls).to.deep.equal([]);
    return (await response.json()) as Refusal;
  };

  it('are refused with a member given twice, which is named with its place', async () => {
    const text = JSON.stringify(submission).replace('"runs":3', '"runs":3,\n "runs":3000');
    const { code, detail, errors } = await refusal('/jobs', text);
    expect(code).to.equal('malformed-body');
    expect(errors).to.have.length(1);
    expect(errors?.[0]?.pointer).to.equal('/config/monte_carlo/runs');
    expect(detail).to.contain('"/config/monte_carlo/runs" at line 2, column 2, which was given before');
  });

  it('are refused with bytes that are not UTF-8', async () => {
    const text = Buffer.from(JSON.stringify({ ...submission, name: 'caf\u00e9' }), 'latin1');
    const { code, detail } = await refusal('/jobs', text);
    expect(code).to.equal('malformed-body');
    expect(detail).to.contain('UTF-8');
  });

  it('are refused with an integer whose digits would be lost', async () => {
    const { code, errors } = await refusal(`/jobs/${JOB_ID}/complete`, completion('{"a":[0,{"id":9007199254740993}]}'));
    expect(code).to.equal('malformed-body');
    expect(errors?.[0]?.pointer).to.equal('/result/metadata/a/1/id');
    expect(errors?.[0]?.detail).to.contain('9007199254740993');
  });

  it('are accepted with large numbers that a double has', async () => {
    const metadata =
      '{"exact":9007199254740994,"shortest":12345678901234567000,"float":1.23456789012345678,"text":"9007199254740993: x"}';
    const response = await post(`${server.url}/jobs/${JOB_ID}/complete`, completion(metadata));
    expect(response.status).to.equal(200);
  });

  it('are the same whether they arrive with their head, after it or in pieces, and the connection serves the next request', async () => {
    const body = Buffer.from(completion('{"name":"caf\u00e9"}'));
    const head = Buffer.from(
      `POST /jobs/${JOB_ID}/complete HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const arrivals = [
      [Buffer.concat([head, body])],
      [head, body],
      [Buffer.concat([head, body.subarray(0, 20)]), body.subarray(20, 50), body.subarray(50)],
      // Two requests in one packet.
      [Buffer.concat([head, body, head, body])],
    ];
    const socket = connect(server.port, '127.0.0.1');
    socket.setNoDelay(true);
    let received = '';
    socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
    const answers = (): number => received.split('HTTP/1.1 200 OK').length - 1;
    let expected = 0;
    for (const pieces of arrivals) {
      for (const piece of pieces) {
        socket.write(piece);
        // So that the pieces arrive one by one; the answers are the same if they do not.
        await pause(5);
      }
      expected += arrivals.at(-1) === pieces ? 2 : 1;
      while (answers() < expected) await once(socket, 'data');
    }
    socket.destroy();
    const results = coordinator.calls.map((call) => JSON.stringify(call));
    expect(results).to.have.length(5);
    expect(new Set(results)).to.have.property('size', 1);
    expect(results[0]).to.contain('caf\u00e9');
  });

  it('are read in each supported encoding, and no other', async () => {
    const { body } = await rawRequest(
      `${server.url}/jobs`,
      'POST',
      { 'content-type': 'application/json', 'content-encoding': 'compress' },
      '{}',
    );
    expect(JSON.parse(body)).to.include({ code: 'unsupported-media-type' });
  });
});

describe('http: /healthz', () => {
  let server: TestServer;
  before(async () => {
    server = await listen();
  });
  after(() => server.close(0));

  it('is answered under a foreign name, which nothing else is', async () => {
    const headers = { host: 'pod.example:8080' };
    expect((await rawRequest(`${server.url}/healthz`, 'GET', headers)).status).to.equal(200);
    expect((await rawRequest(`${server.url}/jobs`, 'GET', headers)).status).to.equal(403);
  });

  it('is answered over HTTP/1.0 without a Host header', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end('GET /healthz HTTP/1.0\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).to.match(/^HTTP\/1\.1 200 /);
    expect(text).to.contain('{"status":"ok"}');
  });
});

describe('base/json-loss', () => {
  const found = (text: string) => lossyFault(text, JSON.parse(text), { numbers: true })?.pointer;
  const CASES: [text: string, pointer: string | undefined][] = [
    ['{}', undefined],
    ['{"a":1,"b":{"a":1}}', undefined],
    ['{"a":"b:c","d":":"}', undefined],
    ['{"a" : 1, "\\u0061": 2}', '/a'],
    ['[{"a":1},{"a":1,"b":"}","a":[]}]', '/1/a'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['{"x":{"a/b":1,"a/b":1}}', '/x/a~1b'],
    ['{"a":"x:\\"y","a":1}', '/a'],
    ['[1,2,-9007199254740993]', '/2'],
    ['[9007199254740993.5, 1e400]', undefined],
    [`[${'9'.repeat(400)}]`, '/0'],
    ['9007199254740993', ''],
    ['[1000000000000000000000]', undefined],
  ];
  for (const [text, pointer] of CASES) {
    it(`${text.slice(0, 50)}: ${pointer ?? 'nothing is lost'}`, () => expect(found(text)).to.equal(pointer));
  }
});
