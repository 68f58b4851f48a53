/** Ends of the telemetry line to try the clients against: a real gRPC server that keeps what it gets, and ones that misbehave. */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  status,
  type handleClientStreamingCall,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { root } from './program.ts';

export interface Sample {
  /** All digits, as text. */
  timestamp_ns: string;
  values: Record<string, number>;
}

export interface Collector {
  url: string;
  samples: Sample[];
  /** Streams that the client has closed properly. */
  finished: number;
  /** Sum of the messages' `lost`. */
  lost: number;
  /** The `authorization` of each call, in order. */
  authorizations: string[];
  close(): void;
}

interface Batch {
  samples: Sample[];
  lost: string;
}

interface Ack {
  accepted?: number;
  refused?: number;
  detail?: string;
}

type Reading = 'all' | 'nothing' | 'slowly';

const SLOW_MS = 40;

/**
 * Speaks clients/telemetry.proto. `nothing`: takes the stream and never reads it; `slowly`: pauses after each message.
 * `ack` is added to the answer; `refuse` ends each call with that error at once.
 */
export async function startCollector(
  options: { reading?: Reading; ack?: Ack; onSample?: () => void; refuse?: { code: status; details: string } } = {},
): Promise<Collector> {
  const definition = loadSync(`${root}clients/telemetry.proto`, { keepCase: true, longs: String, defaults: true });
  const loaded = loadPackageDefinition(definition) as any;
  const service = (loaded.svc.telemetry.v1.Telemetry as ServiceClientConstructor).service;
  const server = new Server();
  const collector: Collector = {
    url: '',
    samples: [],
    finished: 0,
    lost: 0,
    authorizations: [],
    close: () => server.forceShutdown(),
  };
  const StreamBatch: handleClientStreamingCall<Batch, Ack> = (call, answer) => {
    collector.authorizations.push(call.metadata.get('authorization').join());
    if (options.refuse !== undefined) return answer(options.refuse);
    if (options.reading === 'nothing') return;
    call.on('data', (batch: Batch) => {
      for (const sample of batch.samples) collector.samples.push(sample);
      collector.lost += Number(batch.lost);
      options.onSample?.();
      if (options.reading !== 'slowly') return;
      call.pause();
      setTimeout(() => call.resume(), SLOW_MS);
    });
    call.on('error', () => undefined);
    call.on('end', () => {
      collector.finished += 1;
      answer(null, { accepted: collector.samples.length, ...options.ack });
    });
  };
  const Stream: handleClientStreamingCall<Sample, Ack> = (_, answer) => answer({ code: status.UNIMPLEMENTED });
  server.addService(service, { StreamBatch, Stream });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  collector.url = `127.0.0.1:${String(port)}`;
  return collector;
}

/** Accepts connections; sends nothing, or `greeting`, which is not HTTP/2. */
export async function startStranger(greeting = ''): Promise<{ url: string; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (greeting !== '') socket.write(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `127.0.0.1:${String(port)}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
