/**
 * The GPUs of this machine, or of its allocation: which there are, which are free, and the variables that show a run its own alone.
 * Without a GPU resource the runner leaves the variables as they are.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';

/** The GPUs by the names that the variables take: indices or UUIDs. `source`: where they were found, for the log. */
export interface FoundDevices {
  ids: readonly string[];
  source: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables with which a cluster or an operator gives a share of the GPUs of a machine, the first that is set counts. */
const GIVEN = ['CUDA_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'SLURM_STEP_GPUS', 'SLURM_JOB_GPUS'];
const SMI_MS = 10_000;

/** The devices in a list such as `0,2` or `GPU-1a2b,GPU-3c4d`; none for `-1` and Slurm's `NoDevFiles`. */
export function devicesIn(text: string): string[] {
  const all: string[] = [];
  for (const part of text.split(',').map((it) => it.trim())) {
    const [, first, last] = /^(\d{1,4})-(\d{1,4})$/.exec(part) ?? [];
    if (first !== undefined) for (let at = Number(first); at <= Number(last); at += 1) all.push(String(at));
    else if (/^(?:\d{1,4}|(?:GPU|MIG)-[A-Za-z0-9/-]+)$/.test(part)) all.push(part);
    // Devices after an invalid one are not visible either.
    else break;
  }
  return [...new Set(all)];
}

/** Looks for GPUs: those of the allocation, then those of nvidia-smi, then device files. */
export async function findDevices(env: Environment, ports = systemPorts): Promise<FoundDevices> {
  for (const name of GIVEN) {
    const value = env[name];
    if (value !== undefined) return { ids: devicesIn(value), source: `${name}=${value}` };
  }
  const listed = await ports.smi();
  if (listed !== undefined) {
    const ids = [...listed.matchAll(/^GPU (\d+):/gm)].map((it) => it[1] ?? '');
    if (ids.length > 0) return { ids, source: 'nvidia-smi -L' };
  }
  const ids = ports
    .deviceFiles()
    .flatMap((it) => /^nvidia(\d+)$/.exec(it)?.[1] ?? [])
    .sort((a, b) => Number(a) - Number(b));
  return ids.length > 0
    ? { ids, source: '/dev/nvidia*' }
    : { ids, source: `${GIVEN.join(', ')}, nvidia-smi and /dev/nvidia* name none` };
}

const systemPorts = {
  /** The output of `nvidia-smi -L`; undefined where it cannot be executed. */
  smi: async (): Promise<string | undefined> => {
    try {
      return (await promisify(execFile)('nvidia-smi', ['-L'], { timeout: SMI_MS })).stdout;
    } catch {
      return undefined;
    }
  },
  deviceFiles: (): string[] => readdirSync('/dev'),
};

/** The devices that are free. */
export class Devices {
  readonly #free: string[];

  constructor(ids: readonly string[]) {
    this.#free = [...ids];
  }

  /** Takes so many; the caller has made sure that they are free. */
  take(count: number): readonly string[] {
    if (count > this.#free.length)
      throw new Error(`${String(count)} devices are wanted, and ${String(this.#free.length)} are free`);
    return this.#free.splice(0, count);
  }

  giveBack(ids: readonly string[]): void {
    this.#free.push(...ids);
  }
}

/** The variables that show a run these devices alone; undefined: the runner has no GPU resource, and they stay as they are. */
export const deviceVariables = (devices: readonly string[] | undefined): Record<string, string> =>
  devices === undefined ? {} : { CUDA_VISIBLE_DEVICES: devices.join(','), ROCR_VISIBLE_DEVICES: devices.join(',') };
