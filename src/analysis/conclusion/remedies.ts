/** Remedies of failures that all runs of a study share, by the message. Pure. */

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/No module named|ModuleNotFoundError|ImportError/, 'install the module for the interpreter that executes the runs'],
  [/Cannot find module|ERR_MODULE_NOT_FOUND/, 'install the package in the folder of the simulation'],
  [
    /killed after its time limit|time limit/i,
    'raise `compute.job_timeout_seconds`, or correct what keeps the simulation from its end',
  ],
  [
    /signal (?:9|SIGKILL)|out of memory|MemoryError/i,
    'raise `compute.container.memory_request`: memory may have ended',
  ],
  [/No space left|ENOSPC|the disk of/, 'free space on the disk of the runner'],
  [/Permission denied|EACCES/, 'give the user of the runner the right to it'],
  [/ENOENT|No such file|not found/i, 'correct the path: it must exist where the runs are executed'],
];

/** A message of the shape `<what failed>: <why>; <remedy>`. */
const HAS_REMEDY =
  /; (?:add|correct|create|free|give|install|load|lower|make|name|raise|remove|return|see|send|set|start|use|write)\b/;

/** The message of a failure with its remedy; `run`: the command that shows the output of an example. */
export function withRemedy(message: string, run: string): string {
  const text = message.trim().replace(/[.;]+$/, '');
  if (HAS_REMEDY.test(text)) return text;
  const remedy = REMEDIES.find(([cause]) => cause.test(text))?.[1];
  return remedy === undefined ? `${text}; see its output with \`${run}\`` : `${text}; ${remedy}`;
}
