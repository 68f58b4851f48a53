// The thread that sends: takes encoded samples out of the ring and streams them to the runner, gRPC over HTTP/2 (the framing is
// five bytes per message: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Whatever fails ends the ring, nothing else.
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { workerData } from 'node:worker_threads';
import { Ring } from './ring.js';
import { decodeAck, encodeLost } from './wire.js';

const PATH = '/svc.telemetry.v1.Telemetry/StreamBatch';
const MESSAGE_BYTES = 128 * 1024;
const LOOK_MS = 1000;
// Lets samples share a message; small beside a watchdog's check period.
const GATHER_MS = 5;

const ring = new Ring(workerData.shared);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A gRPC message: not compressed, its length, its bytes. */
function frame(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function open(target) {
  const session = connect(`http://${target}`);
  const call = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'simbatch-node',
    ...(workerData.token ? { authorization: `Bearer ${workerData.token}` } : {}),
  });
  let answer = Buffer.alloc(0);
  let refusal = '';
  const readStatus = (headers) => {
    const status = headers['grpc-status'];
    if (status !== undefined && status !== '0') {
      refusal = decodeURIComponent(String(headers['grpc-message'] ?? '')) || `gRPC status ${status}`;
    }
  };
  call.on('response', readStatus);
  call.on('trailers', readStatus);
  call.on('data', (bytes) => {
    if (answer.length < 65536) answer = Buffer.concat([answer, bytes]);
  });
  const fail = (error) => {
    refusal ||= error.message || String(error.code);
  };
  const finished = new Promise((resolve) => {
    session.on('error', fail);
    call.on('error', fail);
    call.on('close', () => {
      if (refusal === '' && call.rstCode !== constants.NGHTTP2_NO_ERROR) refusal = 'the runner closed the stream';
      let ack = { refused: 0, detail: refusal };
      if (refusal === '' && answer.length > 5) ack = decodeAck(answer.subarray(5));
      // Samples taken from the ring and not acknowledged cannot be counted; the loss itself is reported.
      ring.end(ack.refused, ack.detail);
      session.destroy();
      resolve();
    });
  });
  return { call, finished };
}

/** The next SampleBatch: samples that wait, and how many were lost since the last; undefined when there is neither. */
function nextMessage(reported, total) {
  const samples = ring.take(MESSAGE_BYTES);
  const lost = (total - reported) >>> 0;
  if (lost === 0) return samples;
  return samples === undefined ? encodeLost(lost) : Buffer.concat([samples, encodeLost(lost)]);
}

async function send() {
  const { call, finished } = open(workerData.target);
  let reported = 0;
  for (;;) {
    const closing = ring.closing;
    const lost = ring.lost;
    const message = nextMessage(reported, lost);
    if (message !== undefined) {
      reported = lost;
      ring.progress();
    }
    if (message === undefined) {
      if (closing) break;
      await ring.something(LOOK_MS);
      if (!ring.closing) await pause(GATHER_MS);
    } else if (!call.write(frame(message))) {
      await Promise.race([once(call, 'drain'), finished]);
      ring.progress();
    }
    if (call.destroyed) break;
  }
  call.end(() => ring.progress());
  await finished;
}

try {
  await send();
} catch (error) {
  ring.end(0, error instanceof Error ? error.message : String(error));
}
