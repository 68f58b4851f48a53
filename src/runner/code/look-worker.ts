/** The thread of `LookThread`: answers each question by a look. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import type { CodeIdentity } from '../../contract/types.ts';
import { CodeLook, type Looked, type LookTime } from './code-look.ts';
import { GitProgram } from './git-program.ts';

/** The code to look at; the members of `CodeLookOptions`. */
export interface LookWork {
  entrypoint: string;
  globs: readonly string[] | undefined;
  own: readonly string[];
  /** Of the processes of git. */
  env: Readonly<Record<string, string>>;
}

export interface LookQuestion {
  id: number;
  time: LookTime;
}

/** The answer to a question with all known changes; or a change, as soon as it is seen. */
export type LookAnswer =
  { id: number; looked: Looked; changesMs: readonly number[] } | { changed: CodeIdentity; files: readonly string[] };

const port = parentPort as MessagePort;
const { env, ...work } = workerData as LookWork;
const say = (message: LookAnswer): void => port.postMessage(message);
const look = new CodeLook({
  ...work,
  clock: systemClock,
  git: new GitProgram(systemClock, env),
  onChange: (changed, files) => say({ changed, files }),
});

port.on('message', ({ id, time }: LookQuestion) => {
  void look.look(time).then((looked) => say({ id, looked, changesMs: look.changesMs }));
});
