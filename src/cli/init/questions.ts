/** The three questions of `simbatch init` on a terminal. An empty answer takes what is in brackets. */
import { createInterface } from 'node:readline/promises';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/**
 * Asks until `read` takes the answer; a Failure of it is shown, and the question asked again.
 * @throws Failure when the input ends
 */
export async function ask<T>(question: string, read: (answer: string) => T): Promise<T> {
  for (;;) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const closed = new Promise<undefined>((resolve) => {
      terminal.once('close', () => resolve(undefined));
      terminal.once('SIGINT', () => terminal.close());
    });
    const answer = await Promise.race([terminal.question(`${question} `), closed]);
    terminal.close();
    if (answer === undefined) throw new Failure(EXIT.interrupted, 'nothing was written: the questions were left');
    try {
      return read(answer.trim());
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      process.stderr.write(`${error.message}\n`);
    }
  }
}
