/** Executes the plans of `scenarios.ts` and `studies.ts` and returns the recordings as text. */
import { ActorPlayer, plain } from '../../../machines/actor-player.ts';
import { SNAPSHOT_FORMAT, type Scenario, type Step } from '../../../src/coordinator/snapshots/format.ts';
import { layOut } from './layout.ts';
import { SCENARIOS, type ScenarioPlan } from './scenarios.ts';
import { recordStudy } from './recorder.ts';
import { STUDIES } from './studies.ts';

function recordScenario({ name, about, machine, input, events }: ScenarioPlan): Scenario {
  const player = ActorPlayer.begin(machine, input);
  const start = player.stored;
  const startFacts = player.takeFacts();
  const steps = events.map((event): Step => {
    if (typeof event === 'number') return { restart: event, ...player.restart(event) };
    const did = player.send(event);
    return did === 'refused' ? { event: plain(event), refused: true } : { event: plain(event), ...did };
  });
  return {
    format: SNAPSHOT_FORMAT,
    kind: 'scenario',
    name,
    about,
    machine,
    input,
    start,
    ...(startFacts.length === 0 ? {} : { startFacts }),
    steps,
    end: player.stored,
  };
}

/** Returns file name -> text of all recordings. */
export async function recordAll(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const add = (document: { name: string }): void => {
    const file = `${document.name}.json`;
    if (files.has(file)) throw new Error(`two recordings are named ${document.name}`);
    files.set(file, layOut(document));
  };
  for (const plan of SCENARIOS) add(recordScenario(plan));
  for (const plan of STUDIES) add(await recordStudy(plan));
  return files;
}
