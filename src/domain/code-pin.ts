/** Which runner executes the code of a study that pins it. Pure. */
import type { BatchContext, RunnerCapabilities, RunnerEngine } from '../contract/types.ts';
import { isFunctions } from './study/function-code.ts';

/** The code of a runner, as it states it. */
export interface RunnerCode {
  capabilities: RunnerCapabilities;
  /** Undefined: it does not state its code. */
  engines?: readonly RunnerEngine[] | undefined;
}

/** The part of a batch that says which code executes its runs. */
export type CodePin = Pick<BatchContext, 'simulationName' | 'pinsCode' | 'pinnedCode'>;

/** Returns the engine that executes runs of this simulation in this image; `image` undefined: on the machine itself. */
export function engineFor(
  { engines, capabilities }: RunnerCode,
  simulationName: string,
  image: string | undefined,
): RunnerEngine | 'image not looked at' | undefined {
  const wanted = capabilities.container_runtime === undefined ? undefined : image;
  const plain = engines?.filter((it) => it.image === undefined) ?? [];
  const named = (name: string): RunnerEngine | undefined => plain.find((it) => it.name === name);
  const engine = named(simulationName) ?? named('*') ?? plain[0];
  if (engine === undefined || wanted === undefined) return engine;
  return engines?.find((it) => it.image === wanted && it.name === engine.name) ?? 'image not looked at';
}

/** True when the runner may execute runs of the batch: any code where none is pinned, else the pinned one, or a known one while none is fixed. */
export function executesPinned(runner: RunnerCode, { simulationName, pinsCode, pinnedCode }: CodePin): boolean {
  // The code of a function comes with its study.
  if (pinsCode === undefined || isFunctions(simulationName)) return true;
  const engine = engineFor(runner, simulationName, pinsCode.image);
  // The start of a run says which image the tag names there.
  if (engine === 'image not looked at') return true;
  if (engine?.code === undefined) return false;
  return pinnedCode === undefined || engine.code.digest === pinnedCode;
}
