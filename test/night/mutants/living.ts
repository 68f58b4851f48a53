/** Why mutants that fail no test live, by their ids. */
export const LIVING: Readonly<Record<string, string>> = {
  '093fcf01': 'a matter of microseconds: the file has no name, and is closed whether or not its closing is waited for',
  '002e4994':
    'the same program: all states of a level reach its threshold, and a threshold is reached by half of them at most',
  '0f49a27f': 'the same program: the names of the variables differ',
  '01352c5c': 'the same runs: the connection of a runner keeps it running while a run executes',
  '02cedbc5':
    'the same answer: the place of the table is free at once, and the worker closes the stream before it takes another request',
};
