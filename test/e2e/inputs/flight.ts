/** A coordinator, and a runner with the simulations of the corpus as its engines. */
import { execFileSync, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { serving } from '../../support/program.ts';
import { pythonFault } from '../../support/runner-modes.ts';
import { Site } from '../../support/runner-process.ts';
import { study } from '../../support/studies.ts';
import { corpus, type Simulation } from './corpus.ts';

/** The Node client, as an import has it. */
export const CLIENT = `file://${join(packageRoot, 'clients/node/index.js')}`;
const normal = (mean: number, std_dev: number, units: string) => ({
  distribution: { type: 'normal' as const, mean, std_dev },
  units,
});

/** A study of a simulation of the corpus. */
export function flight(simulation: string, runs: number): BatchSubmission {
  const submission = study({ name: simulation, simulation, runs, seed: 7, maxRetries: 0 });
  submission.config.dispersions = {
    mass: normal(10, 0.5, 'kg'),
    cd_bias: normal(0.05, 0.01, ''),
    wind: normal(0, 3, 'm/s'),
    thrust: normal(50, 1, 'N'),
  };
  return submission;
}

function hasCompiler(): boolean {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export class Flight {
  readonly client: Client;
  readonly #site: Site;
  readonly #coordinator: ChildProcess;
  readonly #engines: readonly string[];
  readonly #endings: ReadonlySet<string>;

  private constructor(site: Site, coordinator: ChildProcess, port: string) {
    this.#site = site;
    this.#coordinator = coordinator;
    this.client = new Client({ endpoint: `http://127.0.0.1:${port}` });
    const python = pythonFault() === undefined ? ['.py'] : [];
    this.#endings = new Set(['.mjs', '.sh', ...python, ...(hasCompiler() ? ['.c'] : [])]);
    this.#engines = corpus(CLIENT)
      .filter(({ ending }) => this.#endings.has(ending))
      .flatMap((it) => [this.#write(it, 'faulty'), this.#write(it, 'honest')]);
  }

  static async open(): Promise<Flight> {
    const site = new Site();
    const { child: coordinator, port } = await serving(['--data-dir', join(site.folder, 'data')]);
    return new Flight(site, coordinator, port);
  }

  /** Whether this machine executes simulations of this kind. */
  has(ending: Simulation['ending']): boolean {
    return this.#endings.has(ending);
  }

  /** The source of a simulation. */
  fileOf(engine: string, ending: Simulation['ending']): string {
    return join(this.#site.folder, 'simulations', engine, `flight${ending}`);
  }

  /** Starts a runner; it takes the place of the one before. */
  start(isWarm: boolean): void {
    const python = { PYTHONPATH: join(packageRoot, 'clients/python') };
    const environment = { ...python, SVC_RUNNER_ENVIRONMENT_INHERITED: 'PYTHONPATH' };
    this.#site.start(this.client.endpoint, [...this.#engines, ...(isWarm ? ['--warm'] : [])], environment);
  }

  async stop(): Promise<void> {
    await this.#site.stop();
  }

  async close(): Promise<void> {
    this.#coordinator.kill('SIGKILL');
    await this.#site.clean();
  }

  /** Resolves once the study has ended; all of its runs must have completed. */
  async completed(batchId: string): Promise<void> {
    for (let tries = 0; ; tries++) {
      const { batch } = await this.client.batch(batchId);
      if (batch.completed_jobs === batch.total_jobs) return;
      if (batch.ended_at !== undefined || tries > 4_000) throw new Error(JSON.stringify(batch));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Writes one of the twins, compiled if it must be; returns the setting of its engine. */
  #write({ name, ending, program, ...it }: Simulation, twin: 'faulty' | 'honest'): string {
    const engine = `${name}-${twin}`;
    // A folder of its own: the code of an engine is all that is below.
    const source = this.fileOf(engine, ending);
    const folder = dirname(source);
    mkdirSync(folder, { recursive: true });
    writeFileSync(source, program(it[twin]));
    chmodSync(source, 0o755);
    if (ending !== '.c') return `--entrypoint=${engine}=${source}`;
    execFileSync('cc', ['-O1', '-o', join(folder, 'flight'), source]);
    return `--entrypoint=${engine}=${join(folder, 'flight')}`;
  }
}
