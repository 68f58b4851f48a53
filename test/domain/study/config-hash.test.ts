import { expect } from 'chai';
import * as fc from 'fast-check';
import { configHash, withoutSources } from '../../../src/domain/study/config-hash.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';

/** Reverses the order of all members. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, turned(member)]),
  );
}

const hash = (value: unknown): string => configHash(value as BatchConfig);

describe('domain/study/config-hash', () => {
  const { config } = study({ seed: 7 });

  it('is 64 hexadecimal digits and the same in every version', () => {
    expect(hash({})).to.equal('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
    expect(hash({ b: [1, null, 'x'], a: { c: true } })).to.equal(hash(JSON.parse('{"a":{"c":true},"b":[1,null,"x"]}')));
    expect(configHash(config)).to.match(/^[0-9a-f]{64}$/);
  });

  it('is independent of the order of members and depends on the order of lists', () => {
    expect(hash(turned(config))).to.equal(configHash(config));
    expect(hash({ a: [1, 2] })).to.not.equal(hash({ a: [2, 1] }));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(hash(turned(value))).to.equal(hash(value));
      }),
    );
  });

  it('depends on every value', () => {
    const others = [
      study({ seed: 8 }),
      study({ seed: 7, runs: 11 }),
      study({ seed: 7, timeoutSecs: 1 }),
      study({ seed: 7, config: { dispersions: { mass: { units: 'g' } } } }),
      study({ seed: 7, config: { compute: { container: { environment: { A: '1' } } } } }),
    ];
    const hashes = new Set([configHash(config), ...others.map((it) => configHash(it.config))]);
    expect(hashes.size).to.equal(others.length + 1);
    expect(hash({ a: undefined, b: 1 })).to.equal(hash({ b: 1 }));
    expect(hash({ a: null, b: 1 })).to.not.equal(hash({ b: 1 }));
    expect(hash({ a: '1' })).to.not.equal(hash({ a: 1 }));
  });

  it('is that of the dispersions alone without their sources', () => {
    const noted = study({ seed: 7, config: { dispersions: { mass: { source: 'scale of 2026' } } } }).config;
    expect(configHash(noted)).to.not.equal(configHash(config));
    expect(configHash({ ...noted, dispersions: withoutSources(noted.dispersions) })).to.equal(configHash(config));
  });

  it('keeps every digit of a seed, as number or bigint', () => {
    const seeded = (seed: number | bigint): string => configHash(study({ seed }).config);
    expect(seeded(9_223_372_036_854_775_807n)).to.not.equal(seeded(9_223_372_036_854_775_806n));
    expect(seeded(42n)).to.equal(seeded(42));
  });
});
