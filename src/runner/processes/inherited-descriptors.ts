/** Keeps the descriptors of the runner from the processes that it starts. LevelDB opens the files of the spool without O_CLOEXEC. */
import type { StdioNull, StdioPipe } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';

/** The first descriptor after the standard ones. */
const FIRST = 3;
/** O_CLOEXEC in the octal flags of /proc/self/fdinfo. */
const CLOSED_ON_EXEC = 0o2000000;

let nothing: number | undefined;

/**
 * Returns `stdio` for `spawn`, with /dev/null in place of every other descriptor that the process would inherit. These have no
 * streams, so the type is that of `stdio`.
 */
export function withoutInherited<const S extends readonly (StdioNull | StdioPipe)[]>(stdio: S): [...S] {
  nothing ??= openSync('/dev/null', 'r+');
  const all: (StdioNull | StdioPipe | number)[] = [...stdio];
  for (const descriptor of inherited()) {
    // An ignored descriptor above the standard ones stays as it is.
    while (all.length < descriptor) all.push('ignore');
    if (descriptor === all.length) all.push(nothing);
  }
  return all as unknown as [...S];
}

/** The descriptors that a process would inherit, in ascending order. */
function inherited(): number[] {
  const descriptors = descriptorsIn('/proc/self/fd') ?? descriptorsIn('/dev/fd') ?? [];
  return descriptors.filter((it) => it >= FIRST && !isClosedOnExec(it)).toSorted((a, b) => a - b);
}

function descriptorsIn(directory: string): number[] | undefined {
  try {
    return readdirSync(directory).map(Number);
  } catch {
    return undefined;
  }
}

/** True for a descriptor that exec closes; false where the system does not say. */
function isClosedOnExec(descriptor: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    return false;
  }
}
