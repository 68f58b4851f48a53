/** Runs a simulation's program like a runner: injected environment, separate directory, cleaned up afterwards. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository, with a slash at its end. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A program that still runs after this has not ended by itself. */
const HANGS_MS = 60_000;

export interface Ended {
  /** Null when it had to be killed, or died of a signal. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** Its metadata.json. */
  metadata: Record<string, unknown> | undefined;
  /** Its trajectory.csv. */
  trajectory: string | undefined;
}

export interface Order {
  command: string[];
  /** The run configuration: an object, or the text of the file. Without one, SVC_RUN_CONFIG is not set. */
  config?: unknown;
  telemetryUrl?: string;
  telemetryToken?: string;
  env?: Record<string, string>;
}

export const SOME_RUN = {
  run_id: 7,
  parameters: { cd: 0.45, mass_kg: 42 },
  metadata: {
    simulation_name: 'example',
    simulation_version: '1.0.0',
    duration_minutes: 10,
    sampling_method: 'monte_carlo',
    generated_at: '2026-03-01T12:00:00.000Z',
    seed: 20260301,
  },
};

export async function runProgram({ command, config, telemetryUrl, telemetryToken, env = {} }: Order): Promise<Ended> {
  const directory = mkdtempSync(join(tmpdir(), 'simbatch-client-'));
  try {
    const output = join(directory, 'output');
    mkdirSync(output);
    const given: Record<string, string> = { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', ...env };
    given.SVC_OUTPUT_DIR ??= output;
    if (telemetryUrl !== undefined) given.SVC_TELEMETRY_URL = telemetryUrl;
    if (telemetryToken !== undefined) given.SVC_TELEMETRY_TOKEN = telemetryToken;
    if (config !== undefined) {
      given.SVC_RUN_CONFIG = join(directory, 'run.json');
      writeFileSync(given.SVC_RUN_CONFIG, typeof config === 'string' ? config : JSON.stringify(config));
    }
    const { code, stdout, stderr } = await execute(command, directory, given);
    const read = (name: string) =>
      existsSync(join(output, name)) ? readFileSync(join(output, name), 'utf8') : undefined;
    const metadata = read('metadata.json');
    return {
      code,
      stdout,
      stderr,
      metadata: metadata === undefined ? undefined : (JSON.parse(metadata) as Record<string, unknown>),
      trajectory: read('trajectory.csv'),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function execute(
  [program = '', ...args]: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
