/** Cost of a claim with 1,000 open studies, against one. */
import type { ClaimResponse } from '../src/contract/types.ts';
import { withCoordinator } from './support/folder.ts';
import { measure, median, type Measure } from './support/measure.ts';
import { registration, study } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const OPEN = [1, 1_000] as const;
const CLAIMS = 2_000;
const WARM_UP = 500;
const ROUNDS = 3;

/** Of a claim of one job by a runner that holds none: the median in ms, and the coordinator's CPU in us. */
function claimCost(openBatches: number): Promise<{ ms: number; cpuUs: number }> {
  return withCoordinator(async (coordinator) => {
    const wire = await Wire.open(coordinator.port);
    for (let at = 0; at < openBatches; at += 1) await wire.post('/jobs', study(1_000_000, `study ${at}`));
    const runners = Array.from({ length: WARM_UP + CLAIMS }, (_, at) => registration(`r${at}`, 1));
    for (const it of runners) await wire.post('/runners', it);
    const times: number[] = [];
    let cpu = 0;
    for (const [at, { id, instance }] of runners.entries()) {
      if (at === WARM_UP) cpu = coordinator.cpuSecs();
      const since = performance.now();
      const { assignments } = await wire.post<ClaimResponse>(`/runners/${id}/claims`, { instance, max_jobs: 1 });
      if (at >= WARM_UP) times.push(performance.now() - since);
      if (assignments.length !== 1) throw new Error(`${assignments.length} jobs`);
    }
    const cpuUs = ((coordinator.cpuSecs() - cpu) * 1e6) / CLAIMS;
    wire.close();
    return { ms: median(times), cpuUs };
  });
}

export async function run(): Promise<Measure[]> {
  const found = OPEN.map(() => [] as Awaited<ReturnType<typeof claimCost>>[]);
  // In turns, so that a change of the machine's load meets both.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, openBatches] of OPEN.entries()) found[at]?.push(await claimCost(openBatches));
  }
  const [one = [], many = []] = found;
  return [
    measure(
      'a claim with 1 open study',
      'ms',
      one.map((it) => it.ms),
    ),
    measure(
      'a claim with 1,000 open studies',
      'ms',
      many.map((it) => it.ms),
    ),
    measure(
      "a claim's CPU with 1 open study",
      'us',
      one.map((it) => it.cpuUs),
    ),
    measure(
      "a claim's CPU with 1,000 open studies",
      'us',
      many.map((it) => it.cpuUs),
    ),
    measure(
      "a claim's CPU, 1,000 open studies to one",
      'x',
      many.map((it, at) => it.cpuUs / (one[at]?.cpuUs ?? NaN)),
      { atMost: 2 },
    ),
    measure(
      'time of a claim, 1,000 open studies to one',
      'x',
      many.map((it, at) => it.ms / (one[at]?.ms ?? NaN)),
      { atMost: 2 },
    ),
  ];
}
