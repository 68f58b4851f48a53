/** Sends pieces whose memory is given back once they are with the operating system. */
import type { ServerResponse } from 'node:http';
import { finished, type Readable, Writable } from 'node:stream';

/** A body that takes back the memory of its pieces. */
export interface GivenBack {
  /** Nothing reads the piece any more. */
  giveBack(piece: Uint8Array): void;
}

const owners = new WeakMap<Readable, GivenBack>();

/** Says that the chunks of a stream are pieces of this body, each as a whole. */
export const fromPieces = (source: Readable, body: GivenBack): unknown => owners.set(source, body);

export const takesBack = (body: object): body is GivenBack => 'giveBack' in body;

/** The end of a pipeline to the response: the response itself, or a stream to it by which each piece is given back when it is written. */
export function sinkOf(source: Readable, res: ServerResponse): Writable {
  const owner = owners.get(source);
  if (owner === undefined) return res;
  const sink = new Writable({
    highWaterMark: 1,
    write(piece: Uint8Array, _encoding, done) {
      res.write(piece, (error) => {
        if (error == null) owner.giveBack(piece);
        done(error);
      });
    },
    final(done) {
      res.end(done);
    },
    destroy(error, done) {
      if (error !== null) res.destroy(error);
      done(error);
    },
  });
  finished(res, (error) => sink.destroy(error ?? undefined));
  return sink;
}

/** The last is how Node 24 ends a write that the operating system had not taken yet. */
const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECANCELED']);

/** Whether a pipeline to a response ended because its client is gone. */
export const isClientGone = ({ code }: NodeJS.ErrnoException): boolean => code !== undefined && GONE.has(code);
