/** Why mutants that fail no test live, by their ids. */
export const LIVING: Readonly<Record<string, string>> = {
  '1385454a':
    'the same program: without bytes there is no line to be found, and a chunk of output has one byte at least, so both turns of the loop return',
  '0002d210': 'the same program: the value of an async function is waited for by its caller',
};
