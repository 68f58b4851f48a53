/** Questions are asked by the same names and parameters in Python and in the documentation. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUESTIONS } from '../../src/analysis/questions.ts';
import { packageRoot } from '../../src/base/package.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

/** The dashboard draws them; a notebook has the runs themselves. */
const DRAWN = ['distributions', 'telemetry-band', 'transitions'];

describe('analysis/questions', () => {
  it('are asked by Python with parameters that they have', () => {
    const methods = read('clients/python/simbatch/batch/batch.py').split(/^ {4}def /m);
    const asked = methods.flatMap((method) => {
      const [, name, rest] = /self\._ask\(answers\.\w+, "([\w-]+)"([^\n]*)\)/.exec(method) ?? [];
      if (name === undefined) return [];
      const given = [...rest!.matchAll(/(\w+)=/g)].map((it) => it[1]!);
      const [, members = ''] = /query = \{(.*)\}/.exec(method) ?? [];
      const [, options = ''] = /options: ([\w, ]+)\./.exec(method) ?? [];
      const named = [...members.matchAll(/"(\w+)":/g)].map((it) => it[1]!);
      return [{ name, parameters: [...given, ...named, ...options.split(', ').filter((it) => it !== '')] }];
    });
    const names: string[] = QUESTIONS.map((it) => it.name).filter((it) => !DRAWN.includes(it));
    expect(asked.map((it) => it.name)).to.have.members(names);
    for (const { name, parameters } of asked) {
      const { query } = QUESTIONS.find((it) => it.name === name)!;
      expect(parameters, name).to.have.members(Object.keys(query));
    }
  });

  it('have each a row in the table of docs/analysis.md', () => {
    const rows = read('docs/analysis.md').matchAll(/^\| [^|]+\? \| `([\w-]+)`/gm);
    expect([...rows].map((it) => it[1])).to.include.members(QUESTIONS.map((it) => it.name));
  });
});
