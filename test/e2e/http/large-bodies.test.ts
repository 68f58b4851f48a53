/** Bodies that are too large, sent by the client of another language. */
import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { listen, type TestServer } from '../../support/http.ts';

describe('http/request: large bodies', () => {
  let server: TestServer;
  before(async () => {
    server = await listen();
  });
  after(() => server.close(0));

  it('are read to their end when they are too large, so that a client that still sends gets the answer', async () => {
    const program = `
import urllib.request, urllib.error
for _ in range(5):
    request = urllib.request.Request(${JSON.stringify(`${server.url}/jobs`)}, data=b' ' * 17 * 2**20, headers={'Content-Type': 'application/json'})
    try:
        urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        print(error.code, b'body-too-large' in error.read())
`;
    const said = await new Promise<string>((resolve, reject) => {
      execFile('python3', ['-c', program], (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
    });
    expect(said.trim().split('\n')).to.deep.equal(Array.from({ length: 5 }, () => '413 True'));
  });
});
