/**
 * The telemetry of one job: a gRPC server on a loopback port of its own that hands every sample to the watchdog and the kept
 * ones to the store. What a simulation sends can cost it its telemetry, never the job or the runner.
 */
import type { Socket } from 'node:net';
import {
  Server,
  ServerCredentials,
  status,
  type handleClientStreamingCall,
  type ServerReadableStream,
} from '@grpc/grpc-js';
import { systemClock } from '../../base/clock.ts';
import type { EarlyTerminationConfig, TelemetryConfig } from '../../contract/types.ts';
import { Watchdog, type ConditionHit } from './early-termination.ts';
import { TelemetryAccess, type PeerCheck } from './access.ts';
import { ListenerPool, type TelemetryListener } from '../telemetry-listeners.ts';
import type { HistoryCollector } from './histories/collector.ts';
import { LiveView } from './live/view.ts';
import { DEFAULT_LIMITS, MAX_SEEN_OTHERS, MAX_STREAMS, type TelemetryLimits } from './limits.ts';
import { Reduction } from './reduction.ts';
import { encodeAck, Sample, SampleReader, Tally } from './sample.ts';
import { TelemetryStore, type StoreSummary, type TelemetryClock } from './store.ts';
import { VariableTable } from './variables.ts';

export interface TelemetryOptions {
  telemetry: TelemetryConfig;
  earlyTermination: EarlyTerminationConfig;
  /** Where the port comes from and returns to. Absent: a port for this job alone. */
  listeners?: ListenerPool;
  /** The job's output directory. The names telemetry.parquet and telemetry.journal in it are ours. */
  directory: string;
  /** The secret that clients of this run send. */
  token: string;
  /** Judges clients that send no token. */
  isOwnPeer: PeerCheck;
  /**
   * Called once, at the check after the first sample that meets a condition, at the latest when telemetry is closed. Not
   * called for conditions in shadow.
   */
  onConditionMet: (hit: ConditionHit) => void;
  world: TelemetryClock;
  /** Called with every sample as it arrives, before reduction; the sample is valid only during the call. */
  onSample?: (sample: Sample) => void;
  /** Takes every sample as it arrives, before reduction, for histories and derived outputs. */
  histories?: HistoryCollector | undefined;
  /** Keeps a live view of the samples. */
  isLive?: boolean;
  limits?: Partial<TelemetryLimits>;
}

export interface TelemetrySummary extends StoreSummary {
  /** Samples taken, also those reduced away. */
  accepted: number;
  /** Samples refused whole, and streams of strangers. */
  refused: number;
  /** Values left out of accepted samples. */
  refusedValues: number;
  /** Samples that clients gave up before sending them. */
  lost: number;
  /** The variables seen: those of conditions of which a number came, then at most MAX_SEEN_OTHERS others. */
  seen: string[];
  /** Why the first refusal; empty when there was none. */
  detail: string;
  /** The condition that was met, if any, in shadow or not. */
  hit: ConditionHit | null;
  /** True when nothing was killed for the hit. */
  shadow: boolean;
}

export interface Telemetry {
  /** The target for a gRPC client: `127.0.0.1:<port>`. The value of `SVC_TELEMETRY_URL`. */
  url: string;
  /** Makes what came so far survive a crash, ahead of the interval. */
  flush(): Promise<void>;
  /** Counts of the samples so far. */
  tally(): Readonly<Pick<Tally, 'accepted' | 'refused' | 'refusedValues' | 'lost' | 'detail'>>;
  /** The live view, where one was asked for. */
  readonly live: LiveView | undefined;
  /** The first sample so far that met a condition, in shadow or not. */
  hit(): ConditionHit | undefined;
  /**
   * Receives the samples in flight, evaluates the conditions a last time, completes the file. Call it when the simulation has
   * ended. Never throws; a second call answers as the first.
   * @param isOver every process of the run is dead, so that another run may have its port.
   */
  close(isOver?: boolean): Promise<TelemetrySummary>;
}

type Port = TelemetryListener;
type Read = (reader: SampleReader, message: Buffer) => void;
type Answer = Parameters<handleClientStreamingCall<Buffer, Tally>>[1];

const SERVICE = '/svc.telemetry.v1.Telemetry';

/** Starts the telemetry of one job. @throws `invalid-configuration` for a bad condition, the system's error when no port can be had. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const listeners = options.listeners ?? new ListenerPool(systemClock, false);
  return openTelemetry(options, listeners, await listeners.acquire());
}

/** As `startTelemetry`, on a listener that the caller has acquired; it is given back in any case. */
export function openTelemetry(options: TelemetryOptions, listeners: ListenerPool, listener: Port): Telemetry {
  try {
    const job = new JobTelemetry(options, listeners, listener);
    return {
      url: listener.url,
      flush: () => job.flush(),
      tally: () => job.tally,
      live: job.live,
      hit: () => job.hit,
      close: (isOver) => job.close(isOver),
    };
  } catch (error) {
    listeners.release(listener, true);
    throw error;
  }
}

/** Accepts the connections of one job. Made at its first connection: many jobs send nothing. */
interface Intake {
  server: Server;
  /** Hands a connection to the server. */
  take: (socket: Socket) => void;
  /** The open connections. */
  sockets: Set<Socket>;
}

class JobTelemetry {
  readonly #limits: TelemetryLimits;
  readonly #world: TelemetryClock;
  readonly #watchdog: Watchdog;
  readonly #onSample: ((sample: Sample) => void) | undefined;
  readonly #histories: HistoryCollector | undefined;
  readonly #table: VariableTable;
  readonly #reduction: Reduction;
  readonly #store: TelemetryStore;
  readonly #access: TelemetryAccess;
  readonly #listeners: ListenerPool;
  readonly #listener: TelemetryListener;
  readonly tally = new Tally();
  readonly live: LiveView | undefined;
  #intake: Intake | undefined;
  #openStreams = 0;
  #closing: Promise<TelemetrySummary> | undefined;

  constructor(options: TelemetryOptions, listeners: ListenerPool, listener: TelemetryListener) {
    const { telemetry, earlyTermination, directory, onConditionMet, world, limits } = options;
    this.#onSample = options.onSample;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#world = world;
    this.#listeners = listeners;
    this.#listener = listener;
    this.#watchdog = new Watchdog(earlyTermination, onConditionMet);
    const probeOf = (name: string) => this.#watchdog.probe(name);
    this.#histories = options.histories;
    const wanted = this.#histories?.variables;
    this.#table = new VariableTable(telemetry.variables, this.#watchdog.variables, probeOf, this.#limits, wanted);
    this.live = options.isLive === true ? new LiveView(this.#watchdog.variables) : undefined;
    this.#access = new TelemetryAccess(options.token, options.isOwnPeer);
    const capacity = Math.max(this.#limits.maxVariables, telemetry.variables.length, this.#limits.maxValuesPerSample);
    this.#reduction = new Reduction(telemetry.sampling_rate_hz, capacity, (sample) => {
      this.#store.add(sample);
    });
    this.#store = new TelemetryStore({
      directory,
      compression: telemetry.storage.compression,
      flushIntervalSecs: telemetry.buffer_flush_interval_seconds,
      columnNames: this.#table.columns,
      limits: this.#limits,
      world,
    });
    this.#watchdog.start(world);
    listener.attach((socket) => {
      this.#intake ??= this.#open();
      this.#intake.take(socket);
    });
  }

  #open(): Intake {
    const server = new Server({
      'grpc.max_receive_message_length': this.#limits.maxMessageBytes,
      'grpc.max_concurrent_streams': MAX_STREAMS,
      'grpc.enable_channelz': 0,
    });
    // One for all streams: it is read and passed on without waiting.
    const sample = new Sample(this.#limits.maxValuesPerSample);
    this.#register(server, sample, 'Stream', (reader, message) => {
      reader.readSample(message, this.#take);
    });
    this.#register(server, sample, 'StreamBatch', (reader, message) => {
      reader.readBatch(message, this.#take);
    });
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const sockets = new Set<Socket>();
    const take = (socket: Socket): void => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      injector.injectConnection(socket);
    };
    return { server, take, sockets };
  }

  get hit(): ConditionHit | undefined {
    return this.#watchdog.hit;
  }

  flush(): Promise<void> {
    return this.#store.flush();
  }

  close(isOver = false): Promise<TelemetrySummary> {
    this.#closing ??= this.#close(isOver);
    return this.#closing;
  }

  async #close(isOver: boolean): Promise<TelemetrySummary> {
    this.#listener.detach();
    await this.#shutDown();
    this.#listeners.release(this.#listener, isOver);
    this.#watchdog.stop();
    this.#watchdog.check();
    this.#reduction.finish();
    const stored = await this.#store.close();
    const { accepted, refused, refusedValues, lost, detail } = this.tally;
    const { hit = null, shadow } = this.#watchdog;
    const seen = [...this.#watchdog.seen, ...this.#table.seen(MAX_SEEN_OTHERS)];
    return { ...stored, accepted, refused, refusedValues, lost, detail, seen, hit, shadow };
  }

  /** Lets open streams end; those of a dead process end at once. */
  async #shutDown(): Promise<void> {
    if (this.#intake === undefined) return;
    const { server, sockets } = this.#intake;
    await new Promise<void>((resolve) => {
      const giveUp = this.#world.after(this.#limits.closeGraceMs, () => {
        server.forceShutdown();
        for (const socket of sockets) socket.destroy();
        resolve();
      });
      server.tryShutdown(() => {
        giveUp();
        resolve();
      });
    });
  }

  readonly #take = (sample: Sample): void => {
    for (let index = 0; index < sample.count; index += 1) {
      const probe = sample.variables[index]?.probe;
      if (probe !== undefined) probe(sample.values[index] ?? NaN, sample);
    }
    this.#onSample?.(sample);
    this.#histories?.take(sample);
    this.live?.take(sample);
    this.#reduction.take(sample);
  };

  #register(server: Server, sample: Sample, method: string, read: Read): void {
    const handle: handleClientStreamingCall<Buffer, Tally> = (call, answer) => {
      // The client went away, or sent too large a message and got an error for it: what it had sent before is taken.
      call.on('error', () => undefined);
      const refusal = this.#access.byToken(call.metadata.get('authorization'));
      if (refusal === undefined) this.#serve(call, answer, sample, read);
      else if (refusal !== null) this.#refuse(answer, status.UNAUTHENTICATED, refusal);
      else {
        void this.#access.byPeer(call.getPeer(), this.#listener.port).then((foreign) => {
          if (foreign === undefined) this.#serve(call, answer, sample, read);
          else this.#refuse(answer, status.PERMISSION_DENIED, foreign);
        });
      }
    };
    server.register(`${SERVICE}/${method}`, handle, encodeAck, (bytes) => bytes, 'clientStream');
  }

  /** Ends the call of a stranger. Its samples are not read, so the whole stream counts as one refused sample. */
  #refuse(answer: Answer, code: status, details: string): void {
    this.tally.refuse(details);
    answer({ code, details });
  }

  #serve(call: ServerReadableStream<Buffer, Tally>, answer: Answer, sample: Sample, read: Read): void {
    if (call.cancelled) return;
    if (this.#openStreams >= MAX_STREAMS) {
      answer({ code: status.RESOURCE_EXHAUSTED, details: `${MAX_STREAMS} telemetry streams of this run are open` });
      return;
    }
    this.#openStreams += 1;
    call.once('close', () => (this.#openStreams -= 1));
    const tally = new Tally(this.tally);
    const reader = new SampleReader(this.#table, this.#limits, tally, sample);
    call.on('data', (message: Buffer) => {
      read(reader, message);
      this.#yield(call);
    });
    call.on('end', () => {
      answer(null, tally);
    });
  }

  /** Stops reading a stream while the disk is too slow: gRPC's flow control then slows the sender. */
  #yield(call: ServerReadableStream<Buffer, Tally>): void {
    const slow = this.#store.pressed ? this.#store : this.#histories;
    if (slow?.pressed !== true) return;
    call.pause();
    slow.whenRelieved(() => call.resume());
  }
}
