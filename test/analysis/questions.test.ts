/** Questions are asked by the same names and parameters in Python and in the documentation. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUESTIONS } from '../../src/analysis/questions.ts';
import { convergence } from '../../src/analysis/questions/convergence.ts';
import { packageRoot } from '../../src/base/package.ts';
import { fileAnalysis } from '../../src/cli/offline/file-analysis.ts';
import { study } from '../support/studies.ts';
import { type Run, tableOf } from './tables.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

const RULE = { variable: 'miss', condition: '> 58' };

/** The dashboard draws them; a notebook has the runs themselves, and a probe from the call that executes it. */
const DRAWN = ['distributions', 'probe', 'telemetry-band', 'transitions'];

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

  it('answer without an optional parameter as with the default that the API description and the help name', async () => {
    const runs = Array.from({ length: 60 }, (_, row): Run => {
      const parameters = { wind: (row * 37) % 60, mass: (row * 11) % 7 };
      const outputs = [['miss', parameters.wind + (row % 3)]] as const;
      if (row % 11 === 5)
        return { status: 'Failed', reason: 'early_termination', parameters, outputs, terminatedBy: RULE };
      return row % 9 === 4
        ? { status: 'Failed', reason: 'exit', parameters }
        : { status: 'Completed', parameters, outputs };
    });
    const { config, ...rest } = study({ runs: 60 });
    const design = { ...config.monte_carlo, sampling_method: 'saltelli' } as const;
    const submission = { ...rest, config: { ...config, monte_carlo: design } };
    const file = fileAnalysis({ table: tableOf(runs), submission, warnings: [] });
    const { batchId } = tableOf(runs);
    const required: Record<string, Record<string, unknown>> = {
      verdicts: { output: 'miss', condition: '<= 50', probability: 0.5 },
      sensitivity: { output: 'miss' },
      indices: { output: 'miss' },
      convergence: { output: 'miss', quantity: 'p50' },
      worst: { output: 'miss' },
      pbox: { output: 'miss' },
      compare: { with: batchId },
    };
    const compared: string[] = [];
    for (const { name, query } of QUESTIONS) {
      // A file has no curves.
      if (name === 'band') continue;
      for (const [parameter, schema] of Object.entries(query)) {
        const { default: fallback } = schema as { default?: unknown };
        if (fallback === undefined) continue;
        const without = required[name] ?? {};
        const ask = (asked: object): Promise<object> => file.ask(name, batchId, asked);
        expect(await ask({ ...without, [parameter]: fallback }), `${name} ${parameter}`).to.deep.equal(
          await ask(without),
        );
        compared.push(`${name} ${parameter}`);
      }
    }
    expect(compared).to.include.members(['worst k', 'worst direction', 'verdicts terminated', 'summary missing']);
    const fewer = await file.ask('worst', batchId, { output: 'miss', k: 9 });
    expect(fewer, 'a default that is not the one of the answer would be seen').not.to.deep.equal(
      await file.ask('worst', batchId, { output: 'miss' }),
    );
  });

  it('take percentiles above 0 and below 100 for the quantity that converges', () => {
    const check = (quantity: string) => () => convergence.check?.({ output: 'y', quantity });
    for (const percent of ['p0.1', 'p1', 'p50', 'p99.9']) expect(check(percent), percent).to.not.throw();
    for (const percent of ['p0', 'p00', 'p0.0', 'p100', 'p-1', 'p'])
      expect(check(percent), percent).to.throw(RangeError, 'it must be mean, failure or a percentile such as p95');
  });

  it('have each a row in the table of docs/analysis.md', () => {
    const rows = read('docs/analysis.md').matchAll(/^\| [^|]+\? \| `([\w-]+)`/gm);
    expect([...rows].map((it) => it[1])).to.include.members(QUESTIONS.map((it) => it.name));
  });
});
