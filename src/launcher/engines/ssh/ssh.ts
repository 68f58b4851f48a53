/** The ssh engine: one allocation is one detached runner on a machine of the queue, started and found again by scripts over ssh. */
import { inParallel } from '../../../base/async/in-parallel.ts';
import {
  EngineRefused,
  EngineUnreachable,
  NothingStarted,
  oneLine,
  errorLine,
  type AllocationRequest,
  type Cleaned,
  type CheckResult,
  type EndedAllocation,
  type Engine,
  type EngineAllocation,
  type EngineContext,
  type EngineModule,
  type EngineView,
  type Submitted,
} from '../../engine.ts';
import type { QueueConfig } from '../../settings.ts';
import { describeNode, packKit, type Kit } from '../../kit/kit.ts';
import { cleanHost } from './clean-host.ts';
import { checkHost } from './check-host.ts';
import { hostOf, readHost } from './host-list.ts';
import { hostsFor, mismatchOf, mostRunsOn } from './place.ts';
import {
  END,
  folderName,
  listScript,
  probeScript,
  runScript,
  shipCommand,
  startScript,
  stopScript,
} from './scripts.ts';
import { Machines, type Machine } from './machines.ts';
import { sectionFaults, SshSection } from './section.ts';
import { SshProgram } from './ssh-program.ts';
import { ReverseTunnels } from './tunnels.ts';

/** A start that arrives later, by the clock of the host, does nothing. */
const START_WITHIN_SECS = 45;
const SETTLE_MS = 75_000;
/** A kit with Node over a slow line. */
const SHIP_MS = 300_000;
/** Hosts keep the folders of ended allocations at least so long for a launcher that does not run. */
const LEAST_KEPT_DAYS = 14;
/** Hosts that are asked at once. */
const WIDTH = 20;

export const sshEngine: EngineModule<typeof SshSection> = {
  name: 'ssh',
  section: SshSection,
  faults: (queue) => sectionFaults(queue),
  mismatch: (queue, need) => mismatchOf(queue, need),
  open: (context) => new SshEngine(context),
};

class SshEngine implements Engine {
  readonly settleMs = SETTLE_MS;
  readonly #context: EngineContext<SshSection>;
  readonly #ssh: SshProgram;
  readonly #machines: Machines;
  readonly #tunnels: ReverseTunnels;
  readonly #kits = new Map<boolean, Promise<Kit>>();

  constructor(context: EngineContext<SshSection>) {
    this.#context = context;
    this.#ssh = new SshProgram(context);
    this.#machines = new Machines(context);
    this.#tunnels = new ReverseTunnels(this.#ssh, context.clock, context.runnerEndpoint);
  }

  async list(): Promise<EngineView> {
    const views = await inParallel(this.#machines.all, WIDTH, (machine) => this.#view(machine));
    return { allocations: views.flatMap((it) => it.allocations), silent: views.flatMap((it) => it.silent) };
  }

  async submit(request: AllocationRequest): Promise<Submitted> {
    const queue = this.#queue(request.queue);
    if (request.token?.includes('\n') === true) throw new EngineRefused('the token has several lines');
    const places = new Set(hostsFor(queue, request.need?.baremetal).map((it) => it.place));
    let failure: Error = new EngineRefused('no host of the queue has room for another allocation');
    const dead: string[] = [];
    for (const machine of this.#machines.byRoom(queue).filter((it) => places.has(it.target.place))) {
      if (machine.silence?.isRefusal === false) {
        dead.push(machine.silence.why);
        continue;
      }
      try {
        if (await this.#start(machine, queue, request)) return this.#submitted(machine, request);
      } catch (error) {
        // Nothing was started there, so another host may be asked.
        if (!(error instanceof NotStarted)) throw error;
        if (error.cause instanceof EngineUnreachable) dead.push(error.cause.message);
        else failure = error.cause;
      }
    }
    if (dead.length > 0) throw new NothingStarted(`no host that answers has room: ${dead.join('; ')}`);
    throw failure;
  }

  async stop(allocations: readonly EngineAllocation[], now: boolean): Promise<void> {
    const faults: string[] = [];
    await inParallel(this.#machines.all, WIDTH, async ({ target, folders }) => {
      const own = allocations.filter((it) => it.place === target.place);
      const names = own.map((it) => folderName(it.queue, it.id)).filter((it) => /^[a-z0-9.-]+$/.test(it));
      if (names.length === 0) return;
      try {
        await this.#ssh.script(target, stopScript(folders, names, now));
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error));
      }
    });
    if (faults.length > 0) throw new EngineUnreachable(faults.join('; '));
  }

  async clean(ended: readonly EndedAllocation[]): Promise<Cleaned> {
    const total = { count: 0, bytes: 0, kept: [] as string[] };
    let why: string | undefined;
    await inParallel(this.#machines.all, WIDTH, async (machine) => {
      const own = ended.filter((it) => it.place === machine.target.place && machine.rooms.has(it.queue));
      if (own.length === 0) return;
      const fault = await cleanHost(this.#ssh, machine, own, total);
      why ??= fault;
    });
    return why === undefined ? total : { ...total, why };
  }

  async check(requests: readonly AllocationRequest[]): Promise<CheckResult[]> {
    const results: CheckResult[] = [];
    for (const request of requests) {
      const queue = this.#queue(request.queue);
      const places = new Set(hostsFor(queue, request.need?.baremetal).map((it) => it.place));
      const machines = this.#machines.byRoom(queue).filter((it) => places.has(it.target.place));
      results.push(...(await inParallel(machines, WIDTH, (machine) => checkHost(this.#ssh, machine, queue))).flat());
    }
    return results;
  }

  script(request: AllocationRequest): string {
    const queue = this.#queue(request.queue);
    const [machine] = this.#machines.byRoom(queue);
    if (machine === undefined) return '';
    const kit = { sha256: 'DIGEST_OF_THE_KIT', folder: 'simbatch-runner' };
    const options = this.#options(queue, machine, 0, kit);
    return runScript(this.#narrowed(request, queue, machine), options);
  }

  async #view(machine: Machine): Promise<EngineView> {
    const { place } = machine.target;
    const { clock } = this.#context;
    const silent = (why: string): EngineView => ({
      allocations: [],
      silent: [...machine.rooms.keys()].map((queue) => ({ queue, place, why })),
    });
    const { silence } = machine;
    if (silence !== undefined && clock.monotonicMs() < silence.untilMs) return silent(silence.why);
    try {
      const allocations = await this.#listOne(machine);
      machine.note(allocations);
      this.#keepTunnels(machine, allocations);
      return { allocations, silent: [] };
    } catch (error) {
      const why = errorLine(error);
      machine.noteSilence(why, error instanceof EngineRefused, clock.monotonicMs());
      return silent(why);
    }
  }

  async #listOne({ target, folders }: Machine): Promise<EngineAllocation[]> {
    const lines = await this.#ssh.script(target, listScript(folders));
    const lifetimeMsOf = (name: string): number | undefined =>
      this.#context.queues.find((it) => it.name === name)?.lifetimeMs;
    return readHost(lines, { place: target.place, nowMs: this.#context.clock.now(), lifetimeMsOf }).map((it) => ({
      ...it,
      handle: this.#handle(target.place, folders.directory, it),
    }));
  }

  /** A tunnel is open while allocations of its queue live on the host. */
  #keepTunnels({ target, rooms }: Machine, found: EngineAllocation[]): void {
    for (const { name, section } of this.#context.queues) {
      const port = section.reverse_tunnel;
      if (port === undefined || !rooms.has(name)) continue;
      const living = found.filter((it) => it.queue === name && it.state !== 'ended');
      if (living.length === 0) this.#tunnels.close(target, port);
      // A tunnel that fails is a reason why allocations wait; the next round opens it again.
      else this.#tunnels.open(target, port).catch(() => {});
      const fault = this.#tunnels.fault(target, port);
      if (fault !== undefined) for (const it of living) it.reason = fault;
    }
  }

  /** Returns whether the allocation was started there; false: the host is full. Throws NotStarted when certainly nothing was. */
  async #start(machine: Machine, queue: QueueConfig<SshSection>, request: AllocationRequest): Promise<boolean> {
    const { target, folders } = machine;
    const kit = request.runner.program === undefined ? await certainlyNothing(this.#kit(queue)) : undefined;
    const { reverse_tunnel: port } = queue.section;
    if (port !== undefined) await certainlyNothing(this.#tunnels.open(target, port));
    const probe = async () => hostOf(await this.#ssh.script(target, probeScript(folders, kit)), target.place);
    let host = await certainlyNothing(probe());
    if (kit !== undefined && host.kit !== 'present') {
      if (host.platform !== kit.platform) {
        const why = `${target.place} is ${host.platform} and the kit for ${kit.platform}; name a runner in runner.program`;
        throw new NotStarted(new EngineRefused(why));
      }
      await certainlyNothing(machine.exclusively(() => this.#ship(machine, kit)));
      host = await certainlyNothing(probe());
    }
    const options = this.#options(queue, machine, host.nowSecs + START_WITHIN_SECS, kit);
    const lines = await this.#ssh.script(target, startScript(this.#narrowed(request, queue, machine), options));
    const said = lines.join(' ');
    if (/^(started|exists)$/.test(said)) return true;
    if (said === 'full') return false;
    if (said === 'late') throw new NotStarted(new EngineUnreachable(`${target.place}: the start arrived too late`));
    throw new NotStarted(new EngineRefused(`${target.place}: ${said.replace(/^failed /, '')}`));
  }

  async #ship({ target, folders }: Machine, kit: Kit): Promise<void> {
    const { stdout, stderr, code } = await this.#ssh.send(target, shipCommand(folders, kit), kit.archive, SHIP_MS);
    if (stdout.split('\n').includes(END)) return;
    const why = oneLine(stderr) || `exit code ${String(code)}`;
    throw new EngineRefused(
      `${target.place}: the runner kit cannot be unpacked: ${why}; make room or name another directory`,
    );
  }

  #kit({ section }: QueueConfig<SshSection>): Promise<Kit> {
    const withNode = section.ship === 'kit-with-node';
    const known = this.#kits.get(withNode);
    if (known !== undefined) return known;
    const packed = withNode ? describeNode(process.execPath).then((node) => packKit({ node })) : packKit();
    const kit = packed.catch((error: unknown) => {
      this.#kits.delete(withNode);
      throw new EngineRefused(error instanceof Error ? error.message : String(error), { cause: error });
    });
    this.#kits.set(withNode, kit);
    return kit;
  }

  #options(
    queue: QueueConfig<SshSection>,
    { folders, rooms }: Machine,
    notAfterSecs: number,
    kit: StartKit | undefined,
  ) {
    const { working_directory: workingDirectory, setup } = queue.section;
    const keptDays = Math.max(LEAST_KEPT_DAYS, (this.#context.keepDays ?? 0) + 1);
    return { ...folders, keptDays, notAfterSecs, room: rooms.get(queue.name) ?? 0, kit, workingDirectory, setup };
  }

  /** The request with the slots that the study allows on this host, and the tunnel as its way to the coordinator. */
  #narrowed(request: AllocationRequest, { section }: QueueConfig<SshSection>, machine: Machine): AllocationRequest {
    let { args } = request.runner;
    const most = mostRunsOn(machine.host, request.need?.baremetal);
    if (most !== undefined)
      args = withOption(args, '--max-concurrent-jobs', (value) => String(Math.min(Number(value), most)));
    const { reverse_tunnel: port } = section;
    if (port !== undefined) {
      args = withOption(args, '--endpoint', (value) => {
        const url = new URL(value);
        url.hostname = '127.0.0.1';
        url.port = String(port);
        return url.href.replace(/\/$/, '');
      });
    }
    return { ...request, runner: { ...request.runner, args } };
  }

  #submitted(machine: Machine, request: AllocationRequest): Submitted {
    const { place } = machine.target;
    machine.add(request);
    return { place, handle: this.#handle(place, machine.folders.directory, request) };
  }

  /** For people: the folder of the allocation, with its log. */
  #handle(place: string, directory: string, { queue, id }: Pick<EngineAllocation, 'queue' | 'id'>): string {
    return `${place}:${directory}/${this.#context.launcher}/live/${folderName(queue, id)}`;
  }

  #queue(name: string): QueueConfig<SshSection> {
    const queue = this.#context.queues.find((it) => it.name === name);
    if (queue === undefined) throw new Error(`the ssh engine has no queue ${name}`);
    return queue;
  }
}

type StartKit = Pick<Kit, 'sha256' | 'folder'>;

/** The submission failed before anything could be started. */
class NotStarted extends Error {
  override readonly cause: EngineRefused | EngineUnreachable;

  constructor(cause: EngineRefused | EngineUnreachable) {
    super(cause.message, { cause });
    this.cause = cause;
  }
}

async function certainlyNothing<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw error instanceof EngineRefused || error instanceof EngineUnreachable ? new NotStarted(error) : error;
  }
}

/** Replaces the value of an option; others stay. */
function withOption(args: readonly string[], option: string, change: (value: string) => string): readonly string[] {
  return args.map((it, at) => (args[at - 1] === option ? change(it) : it));
}
