/**
 * A runner's side of uploads in this process, with its spool and its files on the disk: against a coordinator over HTTP and an object
 * store in memory. It can be killed at each of its steps; its disk stays as it was then.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { Client } from '../../src/client/client.ts';
import type { JobResult, Uuid } from '../../src/contract/types.ts';
import { jobId } from '../../src/domain/ids.ts';
import { AttemptActor } from '../../src/runner/attempt-actor.ts';
import { OutcomeDelivery } from '../../src/runner/attempt/outcome-delivery.ts';
import { CoordinatorConnection, Stopped } from '../../src/runner/connection/coordinator-connection.ts';
import type { ReportQueue, Verdict } from '../../src/runner/connection/report-queue.ts';
import { Uploads } from '../../src/runner/files/uploads.ts';
import { silentLog } from '../../src/runner/log.ts';
import { Spool, type Outcome } from '../../src/runner/spool.ts';
import { Waits } from '../../src/runner/waits.ts';
import { FakeS3, KEY } from './fake-s3.ts';
import { listen, type TestServer } from './http.ts';
import { Scene } from './scene.ts';
import { STORAGE, storeOf } from '../e2e/object-store/uploads.suite.ts';

/** A clock at a hundred times the pace of the real one: pauses are short, and their lengths can be compared. */
const PACE = 100;
export const fastClock: Clock = {
  ...systemClock,
  monotonicMs: () => performance.now() * PACE,
  after: (ms, action, options) => systemClock.after(ms / PACE, action, options),
};

/** Waits until the condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** One life of the runner's process. */
interface Life {
  spool: Spool;
  uploads: Uploads;
  delivery: OutcomeDelivery;
  stop: AbortController;
}

export class UploadWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'simbatch-uploads-'));
  readonly #lives: Life[] = [];
  #isSending = false;
  /** Steps that the present life has made. */
  steps = 0;
  /** The step before which the present life is killed. */
  killAt = Infinity;
  /** Called before each request to the coordinator about uploads. */
  beforeRequest: (name: string) => Promise<void> = () => Promise.resolve();

  readonly s3: FakeS3;
  readonly scene: Scene;
  readonly server: TestServer;

  private constructor(s3: FakeS3, scene: Scene, server: TestServer) {
    this.s3 = s3;
    this.scene = scene;
    this.server = server;
  }

  static async open(): Promise<UploadWorld> {
    const s3 = await FakeS3.start();
    const scene = await Scene.open({ objectStore: storeOf({ endpoint: s3.url, credentials: KEY }) });
    await scene.register('r1', { slots: 8, hostname: 'node3' });
    return new UploadWorld(s3, scene, await listen({ coordinator: scene.api }));
  }

  get outputRoot(): string {
    return join(this.folder, 'out');
  }

  directoryOf(batchId: Uuid, run: number): string {
    return join(this.outputRoot, batchId, String(run).padStart(8, '0'), 'attempt-1');
  }

  submit(runs = 1): Promise<Uuid> {
    return this.scene.submit({ runs, maxRetries: 0, ...STORAGE });
  }

  /** A process of the runner begins: it takes over the files and outcomes of the one before. */
  async start(): Promise<Life> {
    const waits = new Waits(systemClock);
    const spool = await Spool.open(this.outputRoot, 'r1', { pid: 1, instance: 'r1-1' }, waits);
    const stop = new AbortController();
    const client = new Client({ endpoint: this.server.url });
    const connection = new CoordinatorConnection({
      client,
      clock: fastClock,
      log: silentLog,
      identity: { id: 'r1', instance: 'r1-1' } as never,
      replaces: [],
      held: () => [],
      engines: async () => [],
      slotsLost: () => 0,
      onLost: () => {},
    });
    const life: Partial<Life> = { spool, stop };
    const step = <T>(name: string, operation: () => Promise<T>): Promise<T> =>
      this.#step(life as Life, name, operation);
    const files = Object.assign(Object.create(client.files) as typeof client.files, {
      beginUpload: (...args: Parameters<typeof client.files.beginUpload>) =>
        step('begin', () => client.files.beginUpload(...args)),
      completeUpload: (...args: Parameters<typeof client.files.completeUpload>) =>
        step('complete', () => client.files.completeUpload(...args)),
    });
    const stepped = Object.assign(Object.create(spool) as Spool, {
      running: (record: Parameters<Spool['running']>[0]) => step('running', () => spool.running(record)),
      ended: (...args: Parameters<Spool['ended']>) => step('ended', () => spool.ended(...args)),
      finished: (record: Parameters<Spool['finished']>[0]) => {
        if (!stop.signal.aborted) spool.finished(record);
      },
    });
    life.uploads = new Uploads({
      client: { files } as unknown as Client,
      connection,
      spool: stepped,
      clock: fastClock,
      waits,
      log: silentLog,
      config: { id: 'r1' },
      stop: stop.signal,
      onChange: () => {},
    });
    const report = (outcome: Outcome): Promise<Verdict> =>
      step('report', async () => {
        const { job_id, type: _, ...request } = outcome;
        return await this.scene.api
          .complete(job_id, { runner_id: 'r1', ...request } as never)
          .then(({ status }): Verdict => ({ status }))
          .catch((error: unknown): Verdict => {
            const { code, message } = error as { code: string; message: string };
            return { problem: { code, detail: message } };
          });
      });
    life.delivery = new OutcomeDelivery({
      spool: stepped,
      reporter: { report } as unknown as ReportQueue,
      uploads: life.uploads,
      log: silentLog,
      onReport: () => {},
    });
    this.#lives.push(life as Life);
    this.s3.fault = (method) => {
      // Of the parts of a group only the first is a step.
      const isFirst = method === 'PUT' && !this.#isSending;
      this.#isSending ||= method === 'PUT';
      if (!isFirst || !this.#isDue()) return undefined;
      this.#kill(life as Life);
      return 'hang';
    };
    for (const record of await spool.leftovers()) {
      const actor = new AttemptActor(record, silentLog);
      if (record.outcome === undefined && record.upload !== undefined) life.uploads.resume(record);
      else if (record.outcome !== undefined) {
        actor.send({ type: 'RECOVERED' });
        await life.delivery.deliver(actor, record, record.outcome);
      }
    }
    return life as Life;
  }

  #isDue(): boolean {
    return this.steps++ === this.killAt;
  }

  /** The next process finds the disk as it is at this moment. */
  #kill({ stop, spool }: Life): void {
    copyWhole(spool.directory, `${spool.directory}.killed`);
    stop.abort();
  }

  async #step<T>(life: Life, name: string, operation: () => Promise<T>): Promise<T> {
    if (life.stop.signal.aborted) throw new Stopped();
    this.#isSending = false;
    if (this.#isDue()) {
      this.#kill(life);
      throw new Stopped();
    }
    await this.beforeRequest(name);
    const value = await operation();
    if (life.stop.signal.aborted) throw new Stopped();
    if (this.#isDue()) {
      this.#kill(life);
      throw new Stopped();
    }
    return value;
  }

  /** The run is executed, leaves these files, and its outcome is delivered. */
  async end(life: Life, batchId: Uuid, run: number, contents: Record<string, string>): Promise<void> {
    const directory = this.directoryOf(batchId, run);
    if (!existsSync(directory)) {
      await this.scene.running(batchId, run, 'r1');
      for (const [path, content] of Object.entries(contents)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true });
        writeFileSync(join(directory, path), content);
      }
    }
    const record = { job_id: jobId(batchId, run), attempt: 1, directory };
    const actor = new AttemptActor(record, silentLog);
    for (const event of [{ type: 'ACKNOWLEDGED' }, { type: 'ENDED', survivors: 0 }] as const) actor.send(event);
    life.uploads.want(record);
    const output_files = Object.keys(contents).map((path) => join(directory, path));
    await life.delivery.conclude(actor, record, {
      type: 'complete',
      result: { execution_time_secs: 1, output_files, metadata: {} },
    });
  }

  /** Ends the latest life, killed or not; the disk stays as it was at the kill. */
  async stop(): Promise<void> {
    const life = this.#lives.pop();
    if (life === undefined) return;
    life.stop.abort();
    // Exchanges in flight end.
    await new Promise((resolve) => setTimeout(resolve, 10));
    await life.spool.close();
    const image = `${life.spool.directory}.killed`;
    if (!existsSync(image)) return;
    rmSync(life.spool.directory, { recursive: true });
    renameSync(image, life.spool.directory);
  }

  result(batchId: Uuid, run = 0): Promise<JobResult> {
    return this.scene.api.jobResult(jobId(batchId, run));
  }

  /** The objects in the bucket, by the path after the attempt. */
  objects(): Record<string, string> {
    return Object.fromEntries(
      [...this.s3.objects].map(([key, bytes]) => [key.replace(/^.*\/attempt-\d+\//, ''), bytes.toString()]),
    );
  }

  async finding(batchId: Uuid) {
    return (await this.scene.api.findings(batchId)).find(({ code }) => code === 'files-not-sent');
  }

  async close(): Promise<void> {
    while (this.#lives.length > 0) await this.stop();
    await this.server.close(100);
    await this.scene.api.close();
    await this.s3.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Copies the folder of a database that is open: a thread of it may make and delete files meanwhile. */
function copyWhole(from: string, to: string): void {
  for (let isWhole = false; !isWhole;) {
    rmSync(to, { recursive: true, force: true });
    const before = namesIn(from);
    try {
      cpSync(from, to, { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    isWhole = namesIn(from) === before && namesIn(to) === before;
  }
}

const namesIn = (folder: string): string =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).sort().join() : '';
