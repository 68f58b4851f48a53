/** A script of Node as a subject: the options of `util.parseArgs`, else those in its help text. */
import { readFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { packageRoot } from '../../../base/package.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { commandSubject, helpSubject } from './command-line.ts';
import { lookAt } from './started.ts';
import { plainName, type FoundInput, type Subject } from '../subject.ts';

const RECORDER = join(packageRoot, 'clients/adapters/record-options.mjs');

export async function nodeSubject(
  script: string,
  options: { mayStart: boolean; isInPlace: boolean },
): Promise<Subject> {
  const source = readFileSync(script, 'utf8');
  const folder = dirname(script);
  if (source.includes('SVC_RUN_CONFIG') || source.includes('@simbatch/client')) {
    const name = plainName(basename(script, extname(script)));
    return { name, folder, from: '', inputs: [], entrypoint: script, notes: [] };
  }
  const words = ['node', basename(script)];
  const command = { words, folder, isInPlace: options.isInPlace };
  if (options.mayStart) {
    if (source.includes('parseArgs')) {
      const { report } = await lookAt(script, [process.execPath, '--import', RECORDER, resolve(script), '{report}']);
      const found = report === undefined ? [] : (JSON.parse(report) as FoundInput[]);
      if (found.length > 0)
        return commandSubject(command, {
          from: 'the options of parseArgs',
          inputs: found,
          values: {},
          options: Object.fromEntries(found.map(({ name }) => [name, `--${name}`])),
        });
    }
    const found = await helpSubject(command);
    if (found !== undefined) return found;
  }
  throw new Failure(
    EXIT.usage,
    `no input was found in ${script}: read the parameters as docs/simulation-authors.md shows, or give its command: simbatch init -- node ${basename(script)} --speed {speed=30}`,
  );
}
