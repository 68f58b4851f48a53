/** `simbatch open`: shows a study, a run or the whole dashboard in a browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { clientCommand, connect, type ClientFlags } from '../options.ts';
import { BATCH_ARGUMENT, JOB_ARGUMENT, resolveEither } from '../study/references.ts';
import { note, writeJson, writeLine } from '../terminal/output.ts';

interface OpenFlags extends ClientFlags {
  print?: boolean;
}

export function openCommand(): Command {
  return clientCommand('open', 'show a study, a run or the dashboard in a browser')
    .argument('[study|run]', `${BATCH_ARGUMENT}; or ${JOB_ARGUMENT}; none: the list of studies`)
    .option('--print', 'only print the address')
    .action(async (reference: string | undefined, flags: OpenFlags) => {
      const client = await connect(flags);
      const address = `${client.endpoint.replace(/\/$/, '')}/#${reference === undefined ? '/batches' : await pageOf(client, reference)}`;
      if (flags.format === 'json') await writeJson({ url: address });
      else await writeLine(address);
      if (flags.print !== true && flags.format !== 'json' && !(await openBrowser(address)))
        note('no browser was opened: open the address in one');
    });
}

async function pageOf(client: Parameters<typeof resolveEither>[0], reference: string): Promise<string> {
  const target = await resolveEither(client, reference);
  return 'jobId' in target ? `/jobs/${target.jobId}` : `/batches/${target.batchId}`;
}

const PROGRAMS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** True when a program of the system took the address. Without a display there is none. */
export async function openBrowser(address: string): Promise<boolean> {
  const { DISPLAY, WAYLAND_DISPLAY, BROWSER } = process.env;
  const own = BROWSER === undefined || BROWSER === '' ? undefined : [BROWSER];
  const hasDisplay = DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  const [program, ...args] = own ?? PROGRAMS[process.platform] ?? (hasDisplay ? ['xdg-open'] : []);
  if (program === undefined) return false;
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.unref();
  try {
    await once(child, 'spawn');
    return true;
  } catch {
    return false;
  }
}
