/** An FMU as a subject: start values, units and outputs of its model description; executed with FMPy. */
import { basename, dirname, extname } from 'node:path';
import { fmuAdapter } from '../adapter-text.ts';
import { readWithPython } from './python-script.ts';
import { MOST_INPUTS, plainName, type FoundInput, type Subject } from '../subject.ts';

interface ModelDescription {
  inputs: FoundInput[];
  outputs: { name: string; units: string }[];
  stop_time: number | null;
  fmi: string;
}

export async function fmuSubject(file: string, python: string): Promise<Subject> {
  const found = await readWithPython<ModelDescription>(python, 'read_fmu.py', [file]);
  const stem = plainName(basename(file, extname(file)));
  const outputs = found.outputs.map((it) => it.name);
  return {
    name: stem,
    folder: dirname(file),
    from: `the start values of the model description (FMI ${found.fmi})`,
    inputs: found.inputs.slice(0, MOST_INPUTS),
    adapter: {
      name: `${stem}.run.py`,
      text: () =>
        fmuAdapter(basename(file), { inputs: found.inputs.map((it) => it.name), outputs, stopTime: found.stop_time }),
    },
    notes: [
      `outputs in the model description: ${outputs.join(', ') || 'none'}; each has its value at the end, NAME_max and NAME_min`,
      'a run needs FMPy: pip install fmpy',
      ...(found.stop_time === null
        ? [`the FMU has no stop time: FMPy takes its own, or set STOP_TIME in ${stem}.run.py`]
        : []),
      ...(found.inputs.length > MOST_INPUTS
        ? [`the first ${MOST_INPUTS} of ${found.inputs.length} inputs are listed`]
        : []),
    ],
  };
}
