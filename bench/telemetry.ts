/**
 * Telemetry of one runner: samples per second from the client's write to the disk, the runner's memory meanwhile, and
 * the time from a sample that meets a condition to the callback that kills. The runner's side is a process of its own, as
 * in service; the client sends messages encoded beforehand, so that it is not what is measured.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, credentials, type ClientWritableStream } from '@grpc/grpc-js';
import { renderTable, type Cell } from '../src/cli/terminal/table.ts';
import type { Compression } from '../src/contract/types.ts';
import { startTelemetry, type TelemetrySummary } from '../src/runner/telemetry/server.ts';
import { columnOf } from './support/measure.ts';

const VARIABLES = 8;
const BATCH = 100;
const HITS = 40;
const SELF = fileURLToPath(import.meta.url);

interface Job {
  directory: string;
  compression: Compression;
  samplingRateHz: number;
  checkFrequencyHz: number;
}

type Message = { url: string } | { hitAt: string } | { summary: TelemetrySummary; peakBytes: number };

/** The runner's side: one job at a time, until it is killed. */
function serve(): void {
  let telemetry: Awaited<ReturnType<typeof startTelemetry>> | undefined;
  const begin = async (job: Job): Promise<void> => {
    telemetry = await startTelemetry({
      telemetry: {
        sampling_rate_hz: job.samplingRateHz,
        variables: [],
        storage: { s3_bucket: '', s3_prefix: '', compression: job.compression },
        buffer_flush_interval_seconds: 1,
      },
      earlyTermination: {
        enabled: true,
        check_frequency_hz: job.checkFrequencyHz,
        conditions: [{ variable: 'variable_0', condition: '> 1e9', description: 'the benchmark says so' }],
      },
      directory: job.directory,
      token: 'not sent',
      isOwnPeer: async () => true,
      onConditionMet: () => process.send?.({ hitAt: process.hrtime.bigint().toString() }),
      world: {
        after: (ms, action) => {
          const timer = setTimeout(action, ms);
          return () => {
            clearTimeout(timer);
          };
        },
        every: (ms, action) => {
          const timer = setInterval(action, ms);
          return () => {
            clearInterval(timer);
          };
        },
      },
    });
    process.send?.({ url: telemetry.url });
  };
  const end = async (): Promise<void> => {
    const summary = await telemetry?.close();
    const peakBytes = process.resourceUsage().maxRSS * 1024;
    process.send?.({ summary: { ...summary, hit: null }, peakBytes });
  };
  process.on('message', (job: Job | 'end') => {
    void (job === 'end' ? end() : begin(job));
  });
}

function bytesField(tag: number, content: Buffer): Buffer {
  const size = content.length < 0x80 ? [content.length] : [0x80 | (content.length & 0x7f), content.length >> 7];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** One Sample; its time fills five bytes so that all samples are as long as real ones. */
function encodeSample(step: number, value: (variable: number) => number): Buffer {
  let rest = 4_000_000_000 + step * 1_000_000;
  const time: number[] = [];
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) time.push((rest % 0x80) | 0x80);
  const entries = Array.from({ length: VARIABLES }, (_, variable) => {
    const double = Buffer.alloc(8);
    double.writeDoubleLE(value(variable));
    return bytesField(
      0x12,
      Buffer.concat([bytesField(0x0a, Buffer.from(`variable_${variable}`)), Buffer.from([0x11]), double]),
    );
  });
  return Buffer.concat([Buffer.from([0x08, ...time, rest]), ...entries]);
}

class Runner {
  readonly #child: ChildProcess = fork(SELF, ['serve'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  readonly directory = mkdtempSync(join(tmpdir(), 'simbatch-bench-'));
  #client: Client | undefined;

  async begin(job: Partial<Job>): Promise<void> {
    const directory = mkdtempSync(join(this.directory, 'job-'));
    const answer = this.next();
    this.#child.send({ directory, compression: 'snappy', samplingRateHz: 0, checkFrequencyHz: 100, ...job });
    const message = await answer;
    if (!('url' in message)) throw new Error('the runner gave no address');
    this.#client = new Client(message.url, credentials.createInsecure());
  }

  next(): Promise<Message> {
    return new Promise((resolve) => this.#child.once('message', resolve));
  }

  /** A call that takes encoded messages; `answered` resolves when the runner has taken them all. */
  open(method: string): { call: ClientWritableStream<Buffer>; answered: Promise<void> } {
    const client = this.#client;
    if (client === undefined) throw new Error('no job has begun');
    let call: ClientWritableStream<Buffer> | undefined;
    const answered = new Promise<void>((resolve, reject) => {
      const path = `/svc.telemetry.v1.Telemetry/${method}`;
      call = client.makeClientStreamRequest<Buffer, Buffer>(path, same, same, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
    if (call === undefined) throw new Error('no call');
    return { call, answered };
  }

  async end(): Promise<{ summary: TelemetrySummary; peakBytes: number }> {
    const answer = this.next();
    this.#child.send('end');
    this.#client?.close();
    const message = await answer;
    if (!('summary' in message)) throw new Error('the runner gave no summary');
    return message;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

async function throughput(samples: number, perMessage: number, job: Partial<Job>): Promise<string[]> {
  const steps = Array.from({ length: BATCH * 10 }, (_, step) =>
    encodeSample(step, (variable) => Math.sin(step * 1e-3 + variable) * 100),
  );
  const messages =
    perMessage === 1
      ? steps
      : Array.from({ length: 10 }, (_, i) =>
          Buffer.concat(steps.slice(i * BATCH, (i + 1) * BATCH).map((step) => bytesField(0x0a, step))),
        );
  const runner = new Runner();
  try {
    await runner.begin(job);
    const { call, answered } = runner.open(perMessage === 1 ? 'Stream' : 'StreamBatch');
    const startedMs = performance.now();
    for (let i = 0; i < samples / perMessage; i += 1) {
      if (!call.write(messages[i % messages.length] ?? Buffer.alloc(0)))
        await new Promise((resolve) => call.once('drain', resolve));
    }
    call.end();
    await answered;
    const takenMs = performance.now() - startedMs;
    const { summary, peakBytes } = await runner.end();
    const closedMs = performance.now() - startedMs - takenMs;
    const bytes = summary.location === null ? 0 : statSync(summary.location).size;
    return [
      Math.round(samples / (takenMs / 1000)).toLocaleString('en'),
      summary.rows.toLocaleString('en'),
      closedMs.toFixed(0),
      (peakBytes / 2 ** 20).toFixed(0),
      (bytes / 1e6).toFixed(1),
    ];
  } finally {
    runner.stop();
  }
}

/** Writes as fast as the other side takes it. */
async function pour(call: ClientWritableStream<Buffer>, message: Buffer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const more = call.write(message);
    await new Promise((resolve) => (more ? setImmediate(resolve) : call.once('drain', resolve)));
  }
}

/** Milliseconds from the client's write to the callback, HITS times, sorted. */
async function latencies(checkFrequencyHz: number, flooded: boolean): Promise<number[]> {
  const normal = Buffer.concat(
    Array.from({ length: BATCH }, (_, step) => bytesField(0x0a, encodeSample(step, Math.sin))),
  );
  const fatal = encodeSample(1, () => 2e9);
  const found: number[] = [];
  const runner = new Runner();
  try {
    for (let hit = 0; hit < HITS; hit += 1) {
      await runner.begin({ checkFrequencyHz });
      const { call, answered } = runner.open('Stream');
      const flood = flooded ? runner.open('StreamBatch') : undefined;
      const hitFound = new AbortController();
      const flowing = flood === undefined ? undefined : pour(flood.call, normal, hitFound.signal);
      call.write(encodeSample(0, Math.sin));
      await new Promise((resolve) => setTimeout(resolve, 30 + ((hit * 7) % 50)));
      const answer = runner.next();
      const sentAt = process.hrtime.bigint();
      call.write(fatal);
      const message = await answer;
      if (!('hitAt' in message)) throw new Error('the condition was not met');
      found.push(Number(BigInt(message.hitAt) - sentAt) / 1e6);
      hitFound.abort();
      await flowing;
      call.end();
      flood?.call.end();
      await Promise.all([answered, flood?.answered]);
      await runner.end();
    }
  } finally {
    runner.stop();
  }
  return found.sort((a, b) => a - b);
}

/** Prints both tables. Takes about a minute. */
export async function run(): Promise<void> {
  const rates: Cell[][] = [];
  const cases: [what: string, samples: number, perMessage: number, job: Partial<Job>][] = [
    ['single', 300_000, 1, { compression: 'snappy' }],
    [`batched by ${BATCH}`, 1_000_000, BATCH, { compression: 'none' }],
    [`batched by ${BATCH}`, 1_000_000, BATCH, { compression: 'gzip' }],
    [`batched by ${BATCH}`, 1_000_000, BATCH, { compression: 'snappy' }],
    [`batched by ${BATCH}`, 1_000_000, BATCH, { compression: 'lz4' }],
    [`batched by ${BATCH}`, 1_000_000, BATCH, { compression: 'snappy', samplingRateHz: 10 }],
  ];
  for (const [what, samples, perMessage, job] of cases) {
    const rate = job.samplingRateHz === undefined ? 'all' : `${job.samplingRateHz} Hz of 1 kHz`;
    rates.push([what, `${rate}, ${job.compression}`, ...(await throughput(samples, perMessage, job))]);
  }
  const stored = ['samples', 'stored', 'samples/s', 'rows', 'close ms', 'peak MB', 'file MB'].map(columnOf);
  console.log(`Telemetry of ${VARIABLES} variables, flushed every second\n${renderTable(stored, rates)}`);

  const times: Cell[][] = [];
  for (const [frequencyHz, flooded] of [
    [10, false],
    [100, false],
    [1000, false],
    [100, true],
  ] as const) {
    const found = await latencies(frequencyHz, flooded);
    const median = found[Math.floor(found.length / 2)] ?? NaN;
    const worst = found.at(-1) ?? NaN;
    times.push([
      `${frequencyHz} Hz`,
      flooded ? 'a flood' : 'nothing',
      1000 / frequencyHz,
      median.toFixed(1),
      worst.toFixed(1),
    ]);
  }
  const checked = ['check at', 'beside', 'period ms', 'median ms', 'worst ms'].map(columnOf);
  console.log(
    `Early termination: from the client's write to the callback, ${HITS} times each\n${renderTable(checked, times)}`,
  );
}

if (process.argv[1] === SELF) {
  if (process.argv[2] === 'serve') serve();
  else await run();
}
