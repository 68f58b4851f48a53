/** Why mutants that fail no test live, by their ids. */
export const LIVING: Readonly<Record<string, string>> = {
  '1385454a':
    'the same program: without bytes there is no line to be found, and a chunk of output has one byte at least, so both turns of the loop return',
  '05c303a6':
    'the caller waits for the promise; only the note that the starter has served a run is lost, which resets the count of its deaths, and no test ends a starter after a run',
  '0002d210': 'the same program: the value of an async function is waited for by its caller',
  '00a06d9f': 'no near test reports files that stay on a runner for a study whose place is gone',
  '0d7c5bc4': 'no near test closes a coordinator while a webhook is being delivered',
};
