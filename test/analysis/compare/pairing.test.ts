/** Pairing by common random numbers: which designs and inputs make two studies paired, and the inputs that are named. */
import { expect } from 'chai';
import { type PairedSide, designOf, pairingOf } from '../../../src/analysis/compare/pairing.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';

const RUNS = 4;

type Drawn = Partial<BatchConfig['monte_carlo']> & { scheme?: string };

/** A study with four inputs, one of them fixed; `changed` moves inputs, `undefined` leaves one out. */
function side(drawn: Drawn = {}, changed: Record<string, number | undefined> = {}): PairedSide {
  const { scheme = 'mc-sampler/1', ...plan } = drawn;
  const names = ['drag', 'mass', 'site', 'wind'].filter((name) => !(name in changed) || changed[name] !== undefined);
  const config = {
    monte_carlo: { runs: RUNS, sampling_method: 'monte_carlo', seed: 7, ...plan },
    dispersions: Object.fromEntries(
      names.map((name) => [
        name,
        { distribution: name === 'site' ? { type: 'fixed', value: 650 } : { type: 'normal' } },
      ]),
    ),
  } as unknown as BatchConfig;
  const inputs = names.map((name) => ({
    name,
    values: Float64Array.from({ length: RUNS }, (_, i) => (name === 'site' ? 650 : i / 7) + (changed[name] ?? 0)),
  }));
  return { inputs, rows: Uint32Array.from({ length: RUNS }, (_, i) => i), ...designOf(config, scheme) };
}

const unknown = (known: PairedSide): PairedSide => ({ inputs: known.inputs, rows: known.rows });

describe('analysis/compare/pairing', () => {
  const cases: [title: string, before: PairedSide, after: PairedSide, equal: number, differing: string[], reason: string | null][] = [
    ['the same study', side(), side(), 3, [], null],
    ['one input changed', side(), side({}, { mass: 1 }), 2, ['mass'], null],
    ['one input changed in the last bit', side(), side({}, { drag: 2 ** -53 }), 2, ['drag'], null],
    ['a fixed input changed', side(), side({}, { site: 5 }), 3, ['site'], null],
    ['an input removed', side(), side({}, { wind: undefined }), 2, ['wind'], null],
    ['an input added', side({}, { wind: undefined }), side(), 2, ['wind'], null],
    ['all but a fixed input changed', side(), side({}, { drag: 1, mass: 1, wind: 1 }), 0, ['drag', 'mass', 'wind'], 'no varying input is equal to the bit'],
    ['another seed', side(), side({ seed: 8 }), 3, [], 'the seeds differ: 7 and 8'],
    ['seeds that differ beyond a double', side({ seed: 9007199254740993n }), side({ seed: 9007199254740992n }), 3, [], 'the seeds differ: 9007199254740993 and 9007199254740992'],
    ['another method', side(), side({ sampling_method: 'quasi_monte_carlo' }), 3, [], 'the sampling methods differ: monte_carlo and quasi_monte_carlo'],
    ['another replicate', side(), side({ replicate: 2 }), 3, [], 'the replicates differ: 0 and 2'],
    ['the first replicate, said and not said', side(), side({ replicate: 0 }), 3, [], null],
    ['another scheme', side(), side({ scheme: 'mc-sampler/2' }), 3, [], 'the sampling schemes differ: mc-sampler/1 and mc-sampler/2'],
    ['more runs of a Monte Carlo design', side(), side({ runs: 9 }), 3, [], null],
    ['a Latin hypercube of more runs', side({ sampling_method: 'latin_hypercube' }), side({ sampling_method: 'latin_hypercube', runs: 9 }), 3, [], 'the Latin hypercubes have 4 and 9 runs'],
    ['designs that are not known, all inputs equal', unknown(side()), side(), 3, [], null],
    ['designs that are not known, an input changed', unknown(side()), side({}, { mass: 1 }), 2, ['mass'], 'inputs differ and the seed of a study is not known'],
  ]; // prettier-ignore
  for (const [title, before, after, equal, differing, reason] of cases) {
    it(`${reason === null ? 'pairs' : 'does not pair'} ${title}`, () => {
      expect(pairingOf(before, after)).to.deep.equal({ inputs: equal + differing.length, equal, differing, reason });
    });
  }

  it('takes an input whose values are all the same for a fixed one, whatever its distribution', () => {
    const flat = (it: PairedSide): PairedSide => ({
      ...it,
      inputs: [{ name: 'mass', values: new Float64Array(RUNS).fill(3) }],
    });
    expect(pairingOf(flat(side()), flat(side())).reason).to.equal('no varying input is equal to the bit');
  });
});
