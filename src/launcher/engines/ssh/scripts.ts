/**
 * The shell scripts that run on the hosts: POSIX sh, sent on the standard input of `sh -s`, so that any login shell will do and
 * nothing of them is seen in a list of processes. Each is one function, so that a script that arrives in part does nothing. Pure.
 *
 * An allocation is the folder `<directory>/<launcher>/live/<queue>.<id>`. `mkdir` makes it or fails, so an id starts once. In it:
 * `run` (the script of the allocation), `pid` (process, its start time, boot of the machine, time), `log`, `exit`.
 */
import type { AllocationRequest } from '../../engine.ts';
import { quoted } from '../../../base/text/shell.ts';

/** Text before this line is that of login scripts. */
export const BEGIN = 'simbatch-begin';
/** An answer without this line is incomplete. */
export const END = 'simbatch-end';
/** How long a runner may take to leave at the end of the lifetime. */
const LEAVE_SECS = 60;
/** How often the end of the runner is looked for, for the case that its script was killed. */
const GUARD_SECS = 10;

export interface HostFolders {
  launcher: string;
  /** Directory on the machine, relative to the home directory unless absolute. */
  directory: string;
}

/** Name of the folder of an allocation; queues have no dot. */
export const folderName = (queue: string, id: string): string => `${queue}.${id}`;

const absolute = (variable: string, path: string): string =>
  `${variable}=${quoted(path)}; case $${variable} in /*) ;; *) ${variable}=$HOME/$${variable} ;; esac`;

/** Functions that all scripts use. A process is identified by its number and its start time: numbers are used again. */
const IDENTITY = `boot() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none; }
born() {
  if [ -r /proc/self/stat ]; then
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    set -- \${stat##*) }
    case $1 in Z | X) ;; *) echo "\${20}" ;; esac
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' _
  fi
}
alive() {
  p='' b='' o='' t=''
  [ -f "$1/pid" ] && read -r p b o t <"$1/pid"
  [ -n "$p" ] && [ "$o" = "$boot" ] && [ "$(born "$p")" = "$b" ]
}`;

const script = (folders: HostFolders, body: string): string => `main() {
${prelude(folders)}
${body}
echo ${END}
}
main
`;

const prelude = ({ launcher, directory }: HostFolders): string => `umask 077
${absolute('d', directory)}
root=$d/${launcher}
${IDENTITY}
boot=$(boot)
echo ${BEGIN}`;

/**
 * Prints a line for each allocation: `name TAB state TAB started TAB mark TAB last line of the log`. The state is starting,
 * alive, an exit code, or lost-<why>. Ended allocations are moved away after a quarter of an hour.
 */
export function listScript(folders: HostFolders): string {
  return script(
    folders,
    `printf 'host\\t%s\\n' "$(date +%s)"
waited=
for a in "$root"/live/*; do
  [ -d "$a" ] || continue
  if alive "$a"; then
    s=alive
  else
    # Its exit code is written a moment after its end.
    [ -f "$a/exit" ] || [ -n "$waited" ] || { sleep 1; waited=yes; }
    if [ ! -f "$a/exit" ]; then
      if [ -z "$p" ]; then
        [ -n "$(find "$a" -prune -mmin +2)" ] && echo lost-start >"$a/exit"
      elif [ "$o" != "$boot" ]; then
        echo lost-boot >"$a/exit"
      else
        echo lost-killed >"$a/exit"
      fi
    fi
    s=starting
    [ -f "$a/exit" ] && read -r s <"$a/exit"
  fi
  m=none
  [ -f "$a/timeout" ] && m=timeout
  [ -f "$a/stop" ] && m=stop
  l=
  case $s in alive | starting) ;; *) l=$(tail -n 1 "$a/log" 2>/dev/null | tr -cd '\\040-\\176' | cut -c 1-400) ;; esac
  printf '%s\\t%s\\t%s\\t%s\\t%s\\n' "\${a##*/}" "$s" "\${t:-0}" "$m" "$l"
  [ -n "$(find "$a/exit" -mmin +15 2>/dev/null)" ] && mv "$a" "$root/ended/"
done`,
  );
}

/** Prints the host's time, its system, and whether the kit with this digest is there. */
export function probeScript(folders: HostFolders, kit: { sha256: string; folder: string } | undefined): string {
  const program = kit === undefined ? '' : `"$d/kits/${kit.sha256}/${kit.folder}/simbatch-runner"`;
  return script(
    folders,
    `k=${kit === undefined ? 'none' : 'missing'}
${kit === undefined ? '' : `[ -x ${program} ] && k=present`}
printf '%s\\t%s\\t%s\\t%s\\n' "$(date +%s)" "$(uname -s)" "$(uname -m)" "$k"`,
  );
}

/** Prints `name TAB value` for each thing that a runner needs: cores, directory, and tar and node, or the program. */
export function checkScript(
  folders: HostFolders,
  { setup, program, needsNode }: { setup: string | undefined; program: string | undefined; needsNode: boolean },
): string {
  const have = (name: string, test: string): string => `if ${test}; then answer=yes; else answer=no; fi
printf '${name}\\t%s\\n' "$answer"`;
  return script(
    folders,
    [
      `printf 'cores\\t%s\\n' "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 0)"`,
      have('directory', 'mkdir -p "$root" 2>/dev/null && [ -w "$root" ]'),
      // In the same shell as later the runner, but after everything that does not need it.
      ...(setup === undefined ? [] : [`{ ${setup.trimEnd()}\n} >/dev/null 2>&1 </dev/null`]),
      ...(program === undefined
        ? [have('tar', 'command -v tar >/dev/null 2>&1')]
        : [have('program', `command -v ${quoted(program)} >/dev/null 2>&1`)]),
      ...(needsNode ? [`printf 'node\\t%s\\n' "$(node --version </dev/null 2>/dev/null || echo none)"`] : []),
    ].join('\n'),
  );
}

/** The command that unpacks the kit from its standard input, for any login shell. Prints the last line when the kit is whole. */
export function shipCommand(
  { directory }: HostFolders,
  { sha256, folder }: { sha256: string; folder: string },
): string {
  const words = [
    `umask 077; d=${directory}; case $d in /*) ;; *) d=$HOME/$d ;; esac`,
    `k=$d/kits; t=$k/${sha256}.part.$$`,
    `mkdir -p "$t" && tar -xzf - -C "$t" && { [ -d "$k/${sha256}" ] || mv "$t" "$k/${sha256}"; }`,
    `rm -rf "$t"`,
    `[ -x "$k/${sha256}/${folder}/simbatch-runner" ] && echo ${END}`,
  ].join('; ');
  return `sh -c '${words}'`;
}

export interface StartOptions extends HostFolders {
  /** Seconds since 1970 by the clock of the host after which nothing is started any more. */
  notAfterSecs: number;
  /** Allocations of the queue at once. */
  room: number;
  /** The digest and folder of the kit; undefined: the request names its program. */
  kit: { sha256: string; folder: string } | undefined;
  workingDirectory: string | undefined;
  setup: string | undefined;
  /** Days for which the folders of ended allocations stay on the host, whatever the launcher does. */
  keptDays: number;
}

/** The script of the allocation itself, which the host keeps as `run`. It has no secret: the token comes on descriptor 3. */
export function runScript(
  request: AllocationRequest,
  { kit, workingDirectory, setup, directory }: StartOptions,
): string {
  const { runner, lifetimeSecs, token } = request;
  const kitProgram = kit === undefined ? [] : [`"$d/kits/${kit.sha256}/${kit.folder}/simbatch-runner"`];
  const program = runner.program === undefined ? kitProgram : runner.program.map(quoted);
  const secret = token === undefined ? [] : ['--token-fd', '3'];
  const command = [...program, ...[...runner.args, ...secret].map(quoted)].join(' ');
  const work = workingDirectory === undefined ? 'w=$HOME' : absolute('w', workingDirectory);
  return `# The folder of this file is the allocation.
a=$1
${absolute('d', directory)}
${work}
${IDENTITY}
finish() { echo "$1" >"$a/exit.part"; mv "$a/exit.part" "$a/exit"; exit 0; }
record() { echo "$1 $(born "$1") $(boot) $(date +%s)" >"$a/pid.part"; mv "$a/pid.part" "$a/pid"; }
record $$
if [ -f "$a/stop" ]; then finish 143; fi
cd "$w" || finish 78
${setup === undefined ? '' : `${setup.trimEnd()}\n`}${Object.entries(runner.environment)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')}${command} </dev/null &
p=$!
exec 3<&-
record "$p"
# Ends the runner at the end of the lifetime, also when the launcher is away. It ends with the runner, also when this script is killed.
(
  trap 'kill "$s" 2>/dev/null; exit 0' TERM
  pause() { sleep "$1" & s=$!; wait "$s"; }
  b=$(born "$p")
  same() { [ -n "$b" ] && [ "$(born "$p")" = "$b" ]; }
  left=${String(lifetimeSecs)}
  while same && [ "$left" -gt 0 ]; do
    n=$((left < ${String(GUARD_SECS)} ? left : ${String(GUARD_SECS)}))
    pause "$n"
    left=$((left - n))
  done
  same || exit 0
  : >"$a/timeout"
  kill -TERM "$p" 2>/dev/null
  n=${String(LEAVE_SECS)}
  while same && [ "$n" -gt 0 ]; do
    pause 1
    n=$((n - 1))
  done
  same && kill -KILL "$p" 2>/dev/null
) >/dev/null 2>&1 &
guard=$!
wait "$p"
c=$?
kill "$guard" 2>/dev/null
finish "$c"
`;
}

/**
 * Starts an allocation, detached. Prints `started`, `exists` (the id was started before), `full` (no room for it), `late` (the
 * script arrived too late) or `failed` with why. The token is part of the script, and only of its input.
 */
export function startScript(request: AllocationRequest, options: StartOptions): string {
  const { queue, id, token } = request;
  const name = folderName(queue, id);
  const secret = token === undefined ? '3</dev/null' : "3<<'SIMBATCH_TOKEN'";
  const words = token === undefined ? '' : `\n${token}\nSIMBATCH_TOKEN`;
  return script(
    options,
    `say() { echo "$*"; echo ${END}; exit 0; }
a=$root/live/${name}
mkdir -p "$root/live" "$root/ended" || say failed "$root cannot be made"
[ ! -d "$root/ended/${name}" ] || say exists
[ ! -d "$a" ] || say exists
now=$(date +%s)
[ "$now" -le ${String(Math.floor(options.notAfterSecs))} ] || say late
mkdir "$a" 2>/dev/null || { [ -d "$a" ] && say exists; say failed "$a cannot be made"; }
n=0
for other in "$root/live/${queue}."*; do
  [ "$other" = "$a" ] || [ -f "$other/exit" ] || n=$((n + 1))
done
[ "$n" -lt ${String(options.room)} ] || { rmdir "$a"; say full; }
find "$root/ended" -mindepth 1 -maxdepth 1 -mtime +${String(options.keptDays)} -exec rm -rf {} + 2>/dev/null
cat >"$a/run" <<'SIMBATCH_RUN'
${runScript(request, options)}SIMBATCH_RUN
detach=setsid
command -v setsid >/dev/null 2>&1 || detach=nohup
$detach sh "$a/run" "$a" </dev/null >>"$a/log" 2>&1 ${secret} &${words}
say started`,
  );
}

/**
 * Deletes the folders of these allocations, which have ended. Prints `name TAB KiB` for each that was there and is gone, `name TAB kept` for a folder that
 * cannot be deleted.
 */
export function cleanScript(folders: HostFolders, names: readonly string[]): string {
  return script(
    folders,
    `for n in ${names.join(' ')}; do
  for a in "$root/ended/$n" "$root/live/$n"; do
    [ -d "$a" ] || continue
    # A folder without an exit code may have a living runner.
    [ -f "$a/exit" ] || { printf '%s\\tkept\\n' "$n"; continue; }
    k=$(du -sk "$a" 2>/dev/null | cut -f 1)
    if rm -rf "$a" 2>/dev/null; then printf '%s\\t%s\\n' "$n" "\${k:-0}"; else printf '%s\\tkept\\n' "$n"; fi
  done
done`,
  );
}

/** Sends SIGTERM to the runners of these allocations; with `now` again after a second, and SIGKILL ten seconds later. */
export function stopScript(folders: HostFolders, names: readonly string[], now: boolean): string {
  const each = (body: string): string => `for n in ${names.join(' ')}; do
  a=$root/live/$n
  [ -d "$a" ] || continue
  ${body}
done`;
  const signal = (name: string): string => each(`alive "$a" && kill -${name} "$p" 2>/dev/null`);
  const force = `sleep 1
${signal('TERM')}
i=0
while [ "$i" -lt 10 ]; do
  some=
  ${each('alive "$a" && some=yes')}
  [ -n "$some" ] || break
  sleep 1
  i=$((i + 1))
done
${signal('KILL')}`;
  return script(
    folders,
    `${each('[ -f "$a/exit" ] || : >"$a/stop"')}
${signal('TERM')}
${now ? force : ''}`,
  );
}
