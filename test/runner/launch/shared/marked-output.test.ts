/** The output of runs that share a process, cut at its marks. */
import { PassThrough, type Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { MarkedOutput } from '../../../../src/runner/launch/shared/marked-output.ts';

describe('runner/launch/shared/marked-output', () => {
  it('reads nothing while the log of the run is full, also when the worker is read again', async () => {
    const stream = new PassThrough();
    let output: Readable | undefined;
    const marked = new MarkedOutput(
      stream,
      'token',
      (it) => (output = it),
      () => {},
    );
    stream.write('x');
    await turn();
    expect(stream.isPaused()).to.equal(true);
    marked.resume();
    expect(stream.isPaused()).to.equal(true);
    marked.pause();
    output?.read();
    await turn();
    expect(stream.isPaused()).to.equal(true);
    marked.resume();
    expect(stream.isPaused()).to.equal(false);
    expect(output?.read()).to.equal(null);
  });

  it('reads on after a log that was closed early', async () => {
    const stream = new PassThrough();
    const marks: number[] = [];
    const marked = new MarkedOutput(
      stream,
      'token',
      (it) => it.destroy(),
      () => marks.push(marked.lastId),
    );
    stream.write('x'.repeat(100_000));
    await turn();
    stream.write('\0token 7\n');
    await turn();
    expect(marks).to.deep.equal([7]);
  });
});
