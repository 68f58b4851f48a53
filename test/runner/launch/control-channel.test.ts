/** The answers of a process server as they arrive: in any pieces, with output between them, and the first that is not one. */
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { readAnswers } from '../../../src/runner/launch/control-channel.ts';

/** The notes of a reader that these pieces reach one after the other. */
async function read(...pieces: (string | Buffer)[]): Promise<string[]> {
  const channel = new PassThrough();
  const noted: string[] = [];
  readAnswers(
    channel,
    (answer) => noted.push(answer.type),
    (chunk, data) => noted.push(`${String(chunk.id)}/${String(chunk.fd)}: ${data.toString()}`),
    (detail) => noted.push(`fault: ${detail}`),
  );
  for (const piece of pieces) {
    channel.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return noted;
}

const PONG = '{"type":"pong"}\n';
const OUTPUT = '{"type":"output","id":3,"fd":1,"bytes":5}\n';

describe('runner/launch/control-channel', () => {
  it('reads answers and output, wherever the pieces end', async () => {
    const text = `${PONG}${OUTPUT}a\nb\nc${PONG}`;
    const expected = ['pong', '3/1: a\nb\nc', 'pong'];
    expect(await read(text)).to.deep.equal(expected);
    for (let at = 1; at < text.length; at += 1)
      expect(await read(text.slice(0, at), text.slice(at)), `cut at ${String(at)}`).to.deep.equal(expected);
    expect(await read(...text.split(''))).to.deep.equal(expected);
  });

  const faults: [name: string, line: string][] = [
    ['an empty line', ''],
    ['text', 'Traceback'],
    ['another type', '{"type":"pang"}'],
    ['a member of Object', '{"type":"toString"}'],
    ['a missing member', '{"type":"reaped"}'],
    ['a pid below 1', '{"type":"started","id":1,"pid":0,"start":null}'],
    ['output of no bytes', '{"type":"output","id":1,"fd":1,"bytes":0}'],
    ['output of too many bytes', '{"type":"output","id":1,"fd":1,"bytes":1048577}'],
  ];
  for (const [name, line] of faults) {
    it(`reports ${name} once, and reads nothing after it`, async () => {
      const fault = `fault: it answered ${JSON.stringify(line)}`;
      expect(await read(`${PONG}${line}\n${PONG}`, PONG)).to.deep.equal(['pong', fault]);
    });
  }

  it('reports a line that does not end', async () => {
    const piece = Buffer.alloc(1 << 20, 'x');
    const noted = await read(piece, piece, piece, piece);
    expect(noted, '4 MiB').to.deep.equal([]);
    expect(await read(piece, piece, piece, piece, 'x')).to.deep.equal([`fault: it answered "${'x'.repeat(100)}"`]);
  });
});
