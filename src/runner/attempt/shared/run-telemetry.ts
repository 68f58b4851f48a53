/**
 * The telemetry of a run that shares a process with others. Its server is made with the first connection, where nothing needs it
 * before: most short runs send nothing.
 */
import type { FailReason } from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import type { AttemptActor } from '../../attempt-actor.ts';
import { isPeerOfRun } from '../../processes/peer-process.ts';
import { oneLine } from '../../system-error.ts';
import { newTelemetryToken } from '../../telemetry/access.ts';
import type { HistoryCollector } from '../../telemetry/histories/collector.ts';
import { describeHit } from '../../telemetry/early-termination.ts';
import {
  openTelemetry,
  startTelemetry,
  type Telemetry,
  type TelemetryOptions,
  type TelemetrySummary,
} from '../../telemetry/server.ts';
import type { TelemetryListener } from '../../telemetry-listeners.ts';
import type { Waits } from '../../waits.ts';
import type { ExecutionPlan, ExecutionSite } from '../execution-site.ts';

const DEADLINES_MS = { prepare: 30_000, telemetry: 60_000 };

/** The summary of a run that has sent nothing. */
const NOTHING: TelemetrySummary = {
  location: null,
  rows: 0,
  problem: null,
  accepted: 0,
  refused: 0,
  refusedValues: 0,
  lost: 0,
  seen: [],
  detail: '',
  hit: null,
  shadow: false,
};

export interface RunTelemetryCalls {
  /** The process of the run, while it has one. */
  pid: () => number | undefined;
  /** A condition that ends the run is met. */
  onConditionMet: (detail: string) => void;
  /** Takes every sample; absent: the study has no histories and derived outputs. */
  histories?: HistoryCollector | undefined;
}

export class RunTelemetry {
  readonly #site: ExecutionSite;
  readonly #plan: ExecutionPlan;
  readonly #actor: AttemptActor;
  readonly #waits: Waits;
  readonly #calls: RunTelemetryCalls;
  readonly #token: string;
  #url = '';
  #listener: TelemetryListener | undefined;
  #telemetry: Telemetry | undefined;
  #endLive: (() => void) | undefined;
  #closing: Promise<TelemetrySummary> | undefined;

  constructor(site: ExecutionSite, plan: ExecutionPlan, actor: AttemptActor, waits: Waits, calls: RunTelemetryCalls) {
    this.#site = site;
    this.#plan = plan;
    this.#actor = actor;
    this.#waits = waits;
    this.#calls = calls;
    this.#token = newTelemetryToken(site.clock);
  }

  /** The variables of the run contract by which a simulation sends. Call `start` before. */
  get variables(): Record<string, string> {
    return { SVC_TELEMETRY_URL: this.#url, SVC_TELEMETRY_TOKEN: this.#token };
  }

  /** Opens a port. Returns why that failed, if so. */
  async start(): Promise<{ error_message: string; reason: FailReason } | undefined> {
    const { listeners } = this.#site;
    const { earlyTermination, telemetry } = this.#plan;
    try {
      if (listeners === undefined || earlyTermination.enabled || telemetry.live === true) {
        const starting = startTelemetry(this.#options());
        this.#telemetry = await this.#waits.within(DEADLINES_MS.prepare, 'starting telemetry', starting);
        this.#url = this.#telemetry.url;
        this.#endLive = this.#site.live?.add(this.#actor.ref, this.#telemetry);
        return undefined;
      }
      this.#listener = await listeners.acquire();
      this.#url = this.#listener.url;
      this.#listener.attach((socket) => {
        const it = this.#listener;
        if (it === undefined) return;
        this.#telemetry ??= openTelemetry(this.#options(), listeners, it);
        it.pass(socket);
      });
      return undefined;
    } catch (error) {
      const reason =
        error instanceof SimbatchError && error.code === 'invalid-configuration' ? 'invalid' : 'infrastructure';
      return { reason, error_message: `telemetry could not be started: ${oneLine(error)}` };
    }
  }

  /** Completes it, once. @param isOver no process of the run is left. */
  close(isOver: boolean): Promise<TelemetrySummary> {
    this.#closing ??= this.#close(isOver);
    return this.#closing;
  }

  async #close(isOver: boolean): Promise<TelemetrySummary> {
    this.#endLive?.();
    if (this.#telemetry !== undefined) {
      const closing = this.#telemetry.close(isOver);
      return await this.#waits.within(DEADLINES_MS.telemetry, 'completing its telemetry', closing);
    }
    if (this.#listener !== undefined) this.#site.listeners?.release(this.#listener, isOver);
    return NOTHING;
  }

  #options(): TelemetryOptions {
    const { telemetry, earlyTermination, directory } = this.#plan;
    const { clock, listeners, onSample, live } = this.#site;
    return {
      telemetry,
      earlyTermination,
      directory,
      world: clock,
      token: this.#token,
      isOwnPeer: async (peerPort, ownPort) => {
        const pid = this.#calls.pid();
        return pid !== undefined && (await isPeerOfRun(pid, directory, peerPort, ownPort));
      },
      onConditionMet: (hit) => this.#calls.onConditionMet(describeHit(hit)),
      ...(listeners === undefined ? {} : { listeners }),
      ...(onSample === undefined ? {} : { onSample }),
      histories: this.#calls.histories,
      isLive: telemetry.live === true && live !== undefined,
    };
  }
}
