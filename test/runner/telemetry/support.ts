// Shared by the telemetry tests: a real gRPC client made from clients/telemetry.proto, temporary directories, and
// reading Parquet back with a second implementation.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  credentials,
  loadPackageDefinition,
  type ClientWritableStream,
  type Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { expect } from 'chai';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { EarlyTerminationConfig, TelemetryConfig } from '../../../src/contract/types.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { startTelemetry, type TelemetryOptions } from '../../../src/runner/telemetry/server.ts';
import type { TelemetryClock } from '../../../src/runner/telemetry/store.ts';

interface Ack {
  accepted: number;
  refused: number;
  refused_values: number;
  detail: string;
}

type Call = ClientWritableStream<unknown>;
type Callback = (error: ServiceError | null, ack: Ack) => void;
interface TelemetryClient {
  Stream(callback: Callback): Call;
  Stream(metadata: Metadata, callback: Callback): Call;
  StreamBatch(callback: Callback): Call;
  makeClientStreamRequest(
    path: string,
    to: (m: Buffer) => Buffer,
    from: (b: Buffer) => Buffer,
    callback: unknown,
  ): Call;
  close(): void;
}

export function connect(url: string): TelemetryClient {
  const definition = loadSync(join(packageRoot, 'clients', 'telemetry.proto'), {
    keepCase: true,
    longs: Number,
    defaults: true,
  });
  const service: any = loadPackageDefinition(definition).svc;
  // A pool of its own: each client has its own connection.
  const options = { 'grpc.max_send_message_length': -1, 'grpc.use_local_subchannel_pool': 1 };
  return new service.telemetry.v1.Telemetry(url, credentials.createInsecure(), options);
}

/** Sends all messages, waiting whenever the stream asks to, and resolves to the answer. */
export async function send(open: (callback: Callback) => Call, messages: Iterable<unknown>): Promise<Ack> {
  let settle: { resolve: (ack: Ack) => void; reject: (error: Error) => void } | undefined;
  const answered = new Promise<Ack>((resolve, reject) => (settle = { resolve, reject }));
  let over = false;
  const call = open((error, ack) => {
    over = true;
    if (error === null) settle?.resolve(ack);
    else settle?.reject(error);
  });
  call.on('error', () => undefined);
  for (const message of messages) {
    if (over) break;
    if (!call.write(message))
      await Promise.race([new Promise((resolve) => call.once('drain', resolve)), answered.catch(() => 0)]);
  }
  call.end();
  return answered;
}

export const timers: TelemetryClock = {
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
  every(ms, action) {
    const timer = setInterval(action, ms);
    return () => clearInterval(timer);
  },
};

export function telemetryConfig(changes: Partial<TelemetryConfig> = {}): TelemetryConfig {
  const storage = { s3_bucket: '', s3_prefix: '', compression: 'none' as const };
  return { sampling_rate_hz: 0, variables: [], storage, buffer_flush_interval_seconds: 3600, ...changes };
}

export function conditions(
  ...list: [variable: string, condition: string, description: string][]
): EarlyTerminationConfig {
  return {
    enabled: true,
    check_frequency_hz: 200,
    conditions: list.map(([variable, condition, description]) => ({ variable, condition, description })),
  };
}

const cleanUps: (() => void | Promise<unknown>)[] = [];

/** To be called in `afterEach`: what a test began, ends. */
export async function cleanUp(): Promise<void> {
  for (const action of cleanUps.splice(0).toReversed()) await action();
}

export function atEnd(action: () => void | Promise<unknown>): void {
  cleanUps.push(action);
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'simbatch-telemetry-'));
  atEnd(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Telemetry of a made-up job, with a client connected to it. */
export async function start(changes: Partial<TelemetryOptions> = {}) {
  const directory = changes.directory ?? temporaryDirectory();
  const hits: unknown[] = [];
  const telemetry = await startTelemetry({
    telemetry: telemetryConfig(),
    earlyTermination: { enabled: false, check_frequency_hz: 1, conditions: [] },
    directory,
    token: 'not sent',
    isOwnPeer: async () => true,
    onConditionMet: (hit) => hits.push(hit),
    world: timers,
    ...changes,
  });
  atEnd(() => telemetry.close());
  const client = connect(telemetry.url);
  atEnd(() => client.close());
  return { telemetry, client, directory, hits };
}

export type Table = Record<string, unknown>[];

/** Rows as objects; nulls where a row has no value. */
export async function readTable(path: string | null): Promise<Table> {
  if (path === null) return [];
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return parquetReadObjects({ file, compressors });
}

export function readMetadata(path: string) {
  return parquetMetadata(readFileSync(path));
}

/** Waits until it is so, at most a minute. */
export async function expectSoon(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6000 && !condition(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).to.equal(true);
}
