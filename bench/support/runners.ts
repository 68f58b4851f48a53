/** Runners that run nothing: they claim, start and complete as fast as they are answered. */
import type { ClaimResponse, ReportsResponse } from '../../src/contract/types.ts';
import { RESULT, registration } from './studies.ts';
import { Wire } from './wire.ts';

/** The code of a repository, as runners report it with each start. */
const CODE = {
  kind: 'entrypoint',
  digest: '9f3c12ab34cd'.padEnd(64, '0'),
  git: { commit: 'a'.repeat(40), dirty: false, describe: 'v1.4-12-gaaaaaaa' },
  files: 14,
  root: '/home/anna/rocket/simulation',
} as const;

export class IdleHands {
  readonly #wire: Wire;
  readonly #id: string;
  readonly #instance: string;
  readonly #bulk: number;
  /** Jobs that are done. */
  done = 0;
  #isStopped = false;

  private constructor(wire: Wire, id: string, instance: string, bulk: number) {
    this.#wire = wire;
    this.#id = id;
    this.#instance = instance;
    this.#bulk = bulk;
  }

  /** Registers a runner of `bulk` slots over a connection of its own. */
  static async register(port: number, id: string, bulk: number): Promise<IdleHands> {
    const wire = await Wire.open(port);
    const request = registration(id, bulk);
    await wire.post('/runners', request);
    return new IdleHands(wire, id, request.instance, bulk);
  }

  /** Takes jobs through their whole life, `bulk` at a time in three requests, until there are none or it is stopped. */
  async workInBulk(onDone: (jobs: number) => void = () => {}): Promise<void> {
    while (!this.#isStopped) {
      const { assignments } = await this.#claim(this.#bulk);
      if (assignments.length === 0) return;
      const refs = assignments.map(({ job, attempt }) => ({ job_id: job.id, attempt }));
      await this.#report(refs.map((ref) => ({ type: 'start', ...ref, code: CODE })));
      await this.#report(refs.map((ref) => ({ type: 'complete', ...ref, result: RESULT })));
      this.done += refs.length;
      onDone(refs.length);
    }
  }

  /** The same one by one: three requests a job. */
  async workOneByOne(onDone: (jobs: number) => void = () => {}): Promise<void> {
    for (;;) {
      const { assignments } = await this.#claim(1);
      const [assignment] = assignments;
      if (assignment === undefined) return;
      const { job, attempt } = assignment;
      await this.#wire.post(`/jobs/${job.id}/start`, { runner_id: this.#id, attempt, code: CODE });
      await this.#wire.post(`/jobs/${job.id}/complete`, { runner_id: this.#id, attempt, result: RESULT });
      this.done += 1;
      onDone(1);
    }
  }

  /** It holds no job when `workInBulk` resolves. */
  stop(): void {
    this.#isStopped = true;
  }

  close(): void {
    this.#wire.close();
  }

  #claim(maxJobs: number): Promise<ClaimResponse> {
    return this.#wire.post(`/runners/${this.#id}/claims`, { instance: this.#instance, max_jobs: maxJobs });
  }

  async #report(reports: readonly object[]): Promise<void> {
    const path = `/runners/${this.#id}/reports`;
    const { outcomes } = await this.#wire.post<ReportsResponse>(path, { instance: this.#instance, reports });
    const refused = outcomes.find((it) => 'problem' in it);
    if (refused !== undefined) throw new Error(`a report was refused: ${JSON.stringify(refused)}`);
  }
}
