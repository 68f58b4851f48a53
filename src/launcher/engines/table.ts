/** The table of engines: one row for each. A new engine is a folder here and its row. */
import type { EngineModule } from '../engine.ts';
import { kubernetesEngine } from './kubernetes/kubernetes.ts';
import { slurmEngine } from './slurm/slurm.ts';
import { sshEngine } from './ssh/ssh.ts';

export const ENGINES: readonly EngineModule[] = [slurmEngine, kubernetesEngine, sshEngine];

/** The engine of this name; undefined for an unknown one. */
export const engineNamed = (name: string): EngineModule | undefined => ENGINES.find((it) => it.name === name);
