/** The words of the product, each with one sentence: docs/lexicon.md is made of this table, and the dashboard shows the sentence at its headings. */

/** word -> its meaning. Words are in lower case and singular; a meaning is one sentence. */
export const LEXICON: Readonly<Record<string, string>> = {
  coordinator: 'The process that keeps studies and results, and assigns runs to runners: `simbatch serve`.',
  study:
    'A set of runs of one simulation, with their dispersions, design, seed and requirements; the API calls it a `batch`.',
  run: 'One execution of the simulation with one set of parameters, and exactly one result; the API calls it a `job`.',
  attempt: 'One try of a runner to execute a run; a run whose attempt fails or is lost gets another one.',
  runner: 'The process that executes runs on a machine: `simbatch runner`.',
  slot: 'Room for one run at a time in a runner.',
  launcher: 'The process that starts runners on a cluster while runs wait, within limits: `simbatch launcher`.',
  allocation: 'The share of a cluster in which a runner of the launcher works for a limited time.',
  simulation: 'Your program, which reads the parameters of a run and writes its outputs.',
  dispersion: 'A parameter that varies from run to run, with its distribution.',
  design:
    'The parameters of all runs of a study: a pure function of its dispersions, its sampling method and its seed.',
  seed: 'The number from which all random draws of a study follow.',
  output: 'A number that the simulation computes in a run.',
  requirement: 'A condition on an output, with the probability and the confidence with which it must hold.',
  verdict: 'The judgement of a requirement: met, violated, or not decided by the runs so far.',
  finding: 'A fact that makes results doubtful, blocks the study or slows it, with its remedy.',
  telemetry: 'Values that a simulation sends over its time, kept with the run.',
  history: 'The course of a variable of the telemetry at the same times in every run of a study.',
  cell: 'One combination of the levels of the scenarios of a study, judged on its own.',
  round: 'The runs that are added to an adaptive study at once.',
  canary: 'The first runs of a study, or a small study before it, that must complete before the others are assigned.',
};

/** Returns the meaning of the word with which a heading or a label begins, as plain text. */
export function meaningOf(label: string): string | undefined {
  const [first = ''] = /^\p{L}+/u.exec(label.toLowerCase()) ?? [];
  const singular = first.endsWith('ies') ? `${first.slice(0, -3)}y` : first.replace(/s$/, '');
  const meaning = [first, singular].find((it) => Object.hasOwn(LEXICON, it));
  return meaning === undefined ? undefined : LEXICON[meaning]!.replaceAll('`', '');
}
