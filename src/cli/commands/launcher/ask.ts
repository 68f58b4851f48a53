/** `simbatch launcher check` and `script`: the answers of the engines and the coordinator, and the text that engines get. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import type { DemandGroup } from '../../../contract/types.ts';
import { durationMs } from '../../../domain/durations.ts';
import { parseCpu, parseMemory } from '../../../domain/quantity.ts';
import { BYTES_PER_GB } from '../../../domain/scheduling.ts';
import { probe, probeLabel } from '../../../launcher/check/probe.ts';
import { checkCoordinator, loopbackFaults } from '../../../launcher/check/way-back.ts';
import { coordinatorPort } from '../../../launcher/loop/coordinator.ts';
import type { CoordinatorPort } from '../../../launcher/loop/ports.ts';
import type { LauncherConfig, QueueConfig } from '../../../launcher/settings.ts';
import { misfitOf } from '../../../launcher/decision/fits.ts';
import type { AllocationRequest, CheckResult, Engine } from '../../../launcher/engine.ts';
import { requestOf } from '../../../launcher/request.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { loadStudy } from '../../study/check-study.ts';
import { connect, endpointOption } from '../../options.ts';
import { note, write, writeLine } from '../../terminal/output.ts';
import { printable } from '../../terminal/format.ts';
import {
  configOption,
  launcherSetup,
  queueNamed,
  stateOption,
  trustOption,
  untrusted,
  type LauncherFlags,
} from './setup.ts';

/** The id in scripts and checks, which belongs to no allocation. */
const EXAMPLE_ID = 'example00000';

const exampleRequest = (config: LauncherConfig, queue: QueueConfig, need?: DemandGroup): AllocationRequest =>
  requestOf(config, queue, { id: EXAMPLE_ID, token: undefined, need, isKept: false });

interface CheckFlags extends LauncherFlags {
  study?: string;
  probe?: boolean;
  probeLimit: number;
}

/** The results of one queue, or of the coordinator, as they come. */
const say = async ({ queue, isFault, message }: CheckResult): Promise<void> => {
  await writeLine(`${isFault ? 'fault' : 'ok   '} ${queue}: ${printable(message)}`);
  if (isFault) process.exitCode = EXIT.failed;
};

export function checkCommand(): Command {
  return new Command('check')
    .description(
      'ask each engine whether it would accept an allocation of its queues, and the coordinator whether runners can come back; nothing is started without --probe',
    )
    .option('--study <file>', 'and whether runs of this study file fit')
    .option('--probe', 'start one allocation of each queue, whose runner registers and leaves without a run')
    .addOption(
      new Option('--probe-limit <duration>', 'the longest time until the runner of a probe has registered')
        .default(600_000, '10m')
        .argParser(limitOption),
    )
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(endpointOption())
    .addOption(trustOption())
    .action(check);
}

async function check(flags: CheckFlags): Promise<void> {
  const { config, engines } = await launcherSetup(flags);
  const need = flags.study === undefined ? undefined : await needOf(flags.study);
  const coordinator = coordinatorPort(await connect({ endpoint: config.endpoint }));
  const fitting: QueueConfig[] = [];
  for (const queue of config.queues) {
    const misfit = need === undefined ? undefined : misfitOf(queue, need);
    if (misfit === undefined) fitting.push(queue);
    // A queue that does not fit the study is reported and not asked: another one may fit.
    else await writeLine(`no fit ${queue.name}: ${printable(misfit.why)}`);
  }
  for (const engine of new Set(engines.values())) {
    const queues = fitting.filter((it) => engines.get(it.name) === engine);
    const results = await engine.check(queues.map((it) => exampleRequest(config, it, need)));
    for (const it of results) await say(it);
  }
  const fits = { ...config, queues: fitting };
  for (const it of loopbackFaults(fits)) await say(it);
  for (const it of await checkCoordinator({ config: fits, coordinator, clock: systemClock })) await say(it);
  const refused = await untrusted(flags, fits);
  if (refused !== undefined) await say({ queue: 'coordinator', isFault: true, message: refused });
  if (flags.probe === true) await probeAll(fitting, flags, coordinator);
  if (fitting.length === 0) {
    throw new Failure(
      EXIT.failed,
      'runs of the study fit no queue; add a queue that fits, or lower what a run requests',
    );
  }
}

/** Probes the queues one after the other; Ctrl-C ends the allocation of the probe that runs, and the others are left out. */
async function probeAll(
  queues: readonly QueueConfig[],
  flags: CheckFlags,
  coordinator: CoordinatorPort,
): Promise<void> {
  const { config, engines } = await launcherSetup(flags, probeLabel);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGTERM', onSignal);
  process.once('SIGINT', onSignal);
  const parts = { config, coordinator, clock: systemClock, limitMs: flags.probeLimit, signal: stop.signal };
  for (const queue of queues) {
    if (stop.signal.aborted) break;
    const engine = engines.get(queue.name) as Engine;
    await say(await probe(queue, { ...parts, engine, note: (it) => note(printable(it)) }));
  }
  process.off('SIGTERM', onSignal);
  process.off('SIGINT', onSignal);
}

function limitOption(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined || ms === 0) throw new InvalidArgumentError('It must be a time such as 90s, 10m or 1h.');
  return ms;
}

/** The needs of the runs of a study file, as the coordinator would state them. */
async function needOf(file: string): Promise<DemandGroup> {
  const { submission } = await loadStudy(file);
  const { simulation, compute, monte_carlo: design } = submission.config;
  const { container, kubernetes, baremetal, job_timeout_seconds: timeout } = compute;
  return {
    simulation: simulation.name,
    cpu_cores: Number(parseCpu(container.cpu_request)) / 1_000,
    memory_gb: Number(parseMemory(container.memory_request)) / BYTES_PER_GB,
    timeout_secs: timeout,
    mean_seconds: null,
    image: container.image,
    ...(kubernetes === undefined || kubernetes === null ? {} : { kubernetes }),
    ...(baremetal === undefined || baremetal === null ? {} : { baremetal }),
    runs: design.runs,
    active: 0,
    oldest_pending_at: new Date(systemClock.now()).toISOString(),
    batches: [],
  };
}

export function scriptCommand(): Command {
  return new Command('script')
    .description('print the script or manifest that a queue hands to its engine, without the token')
    .argument('<queue>', 'a queue of the configuration')
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(endpointOption())
    .action(script);
}

async function script(name: string, flags: LauncherFlags): Promise<void> {
  const { config, engines } = await launcherSetup(flags);
  const queue = queueNamed(config, name);
  await write((engines.get(name) as Engine).script(exampleRequest(config, queue)));
}
