/** The keys of runs against those of an independent program, and what they depend on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { keyGroup, runKey, type KeyedConfig, type KeyedRun } from '../../../src/domain/reuse/run-key.ts';
import type { TerminationCondition } from '../../../src/contract/types.ts';

interface Vector {
  name: string;
  version: string;
  duration_minutes: number;
  environment: Record<string, string>;
  enabled: boolean;
  conditions: TerminationCondition[];
  shadow: boolean;
  sampling_rate_hz: number;
  variables: string[];
  code: string;
  image: string;
  /** The 8 bytes of each double, hexadecimal. */
  parameters: Record<string, string>;
  random_seed: number;
  draw: number;
  histories?: KeyedConfig['histories'];
  derived?: KeyedConfig['derived'];
  key: string;
}

const VECTORS = JSON.parse(
  readFileSync(join(packageRoot, 'test/domain/reuse/vectors.json'), 'utf8'),
) as readonly Vector[];

const configOf = (it: Vector): KeyedConfig => ({
  simulation: { name: it.name, version: it.version, duration_minutes: it.duration_minutes },
  compute: { container: { environment: it.environment } },
  early_termination: {
    enabled: it.enabled,
    check_frequency_hz: 1,
    conditions: it.conditions,
    ...(it.shadow ? { shadow: true } : {}),
  },
  telemetry: { sampling_rate_hz: it.sampling_rate_hz, variables: it.variables },
  ...(it.histories === undefined ? {} : { histories: it.histories }),
  ...(it.derived === undefined ? {} : { derived: it.derived }),
});

const runOf = (it: Vector): KeyedRun => {
  const values = Object.entries(it.parameters).map(([name, hex]) => [name, Buffer.from(hex, 'hex').readDoubleLE()]);
  return {
    code: { digest: it.code, ...(it.image === '' ? {} : { image: it.image }) },
    parameters: Object.fromEntries(values) as Record<string, number>,
    randomSeed: it.random_seed,
    ...(it.draw < 0 ? {} : { draw: it.draw }),
  };
};

describe('domain/reuse: run-key', () => {
  it('computes the keys of an independent program from the description', () => {
    expect(VECTORS.map((it) => runKey(configOf(it), runOf(it)))).to.deep.equal(VECTORS.map((it) => it.key));
  });

  it('is another one for every change that may change a result, and the same for rules that are not evaluated', () => {
    const [plain] = VECTORS;
    const same = VECTORS.filter((it) => it.key === plain!.key);
    expect(same.map((it) => [it.enabled, it.conditions.length])).to.deep.equal([
      [false, 0],
      [false, 1],
      [true, 0],
    ]);
    expect(new Set(VECTORS.map((it) => it.key))).to.have.lengthOf(VECTORS.length - 2);
  });

  it('groups studies by all that their runs share: what differs in the group differs in every key', () => {
    const [plain] = VECTORS;
    const groups = VECTORS.map((it) => keyGroup(configOf(it), '42'));
    for (const [at, it] of VECTORS.entries()) {
      const isOfRun = ['code', 'image', 'parameters', 'random_seed', 'draw'].some(
        (name) => JSON.stringify(it[name as keyof Vector]) !== JSON.stringify(plain![name as keyof Vector]),
      );
      if (isOfRun || it.key === plain!.key) expect(groups[at], `vector ${at}`).to.equal(groups[0]);
      else expect(groups[at], `vector ${at}`).not.to.equal(groups[0]);
    }
    expect(keyGroup(configOf(plain!), '43')).not.to.equal(groups[0]);
  });

  it('does not depend on the order of names', () => {
    const [it] = VECTORS.filter(({ environment }) => Object.keys(environment).length === 2);
    const reversed = (members: Record<string, string>) => Object.fromEntries(Object.entries(members).toReversed());
    const other = { ...it!, environment: reversed(it!.environment), parameters: reversed(it!.parameters) };
    expect(runKey(configOf(other), runOf(other))).to.equal(it!.key);
  });
});
