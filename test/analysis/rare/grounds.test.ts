/** Each warning and each end of a study of rare events on both sides of its bound. */
import { expect } from 'chai';
import { combinedRare } from '../../../src/analysis/rare/answer/combine.ts';
import { rareWarnings } from '../../../src/analysis/rare/answer/warnings.ts';
import { Attempt, type ConfirmingDraw } from '../../../src/analysis/rare/confirmation.ts';
import { RareDraws } from '../../../src/analysis/rare/draws.ts';
import { RareStudy } from '../../../src/analysis/rare/study.ts';
import type { RareEventAnswer } from '../../../src/contract/types.ts';
import type { RareSettings } from '../../../src/domain/study/rare-event/settings.ts';

type Grounds = Parameters<typeof rareWarnings>[1];
type Counts = ReturnType<Attempt['counts']>;

/** A confirmed answer without a warning but that of one study. */
const CONFIRMED = {
  sentence: 'confirmed',
  phase: 'ended',
  reason: 'confirmed',
  runs: 3_000,
  budget: 5_000,
  estimate: 1e-5,
  lower: 0.5e-5,
  upper: 1.5e-5,
  confidence: 0.95,
  search: { estimate: 1e-5, levels: [] },
  attempts: [{}],
  found_outside: 0.01,
  largest_share: 0.1,
  direct: { violations: 0, unknown: 0, of: 1_000, lower: 0, upper: 3e-3 },
  studies: ['a'],
  parts: [{}],
  warnings: [],
  verdict: { verdict: 'not-shown', reason: 'one-study', given: null },
} as unknown as RareEventAnswer;

const COUNTS: Counts = {
  runs: 2_000,
  hits: 50,
  unknown: 0,
  outside: 0,
  unknownOutside: 0,
};

function attemptWith(counts: Partial<Counts>, unknownDraws = 0): Attempt {
  const draws = Array.from({ length: unknownDraws }, () => ({
    isUnknown: true,
  }));
  return {
    counts: () => ({ ...COUNTS, ...counts }),
    draws: [{ isUnknown: false }, ...draws],
  } as unknown as Attempt;
}

function warningsOf(answer: Partial<RareEventAnswer>, grounds: Partial<Grounds> = {}): RareEventAnswer['warnings'] {
  return rareWarnings(
    { ...CONFIRMED, ...answer },
    {
      attempt: attemptWith({}),
      unknown: 'unknown',
      confirmRuns: 2_000,
      hasNoTimeLimit: false,
      ...grounds,
    },
  );
}
const codes = (...given: Parameters<typeof warningsOf>): string[] => warningsOf(...given).map(({ code }) => code);
const ONE = 'rare-one-study';

describe('analysis/rare/grounds', () => {
  it('warns of one study where it has an estimate of regions, and of nothing else at every bound', () => {
    expect(codes({})).to.deep.equal([ONE]);
    expect(codes({ estimate: null, lower: 0, upper: 1e-3, reason: 'plateau' })).to.deep.equal([]);
    expect(
      codes({
        estimate: 0.3,
        lower: 0.2,
        upper: 0.4,
        reason: 'not-rare',
        attempts: [],
      }),
    ).to.deep.equal([]);
    expect(
      codes({ phase: 'search', reason: null, estimate: null, attempts: [] }, { attempt: undefined }),
    ).to.deep.equal([]);
  });

  const attempts: [code: string, counts: Partial<Counts>, words: RegExp][] = [
    ['rare-outside', { outside: 1 }, /^1 violating run where hardly any was expected: there is no upper bound/],
    ['rare-unknown', { unknown: 1 }, /^1 confirming run ended without a value: the lower bound counts them as passing/],
    ['rare-unknown-outside', { unknownOutside: 1 }, /^1 run without a value might violate .*"unknown": "unrelated"/],
    ['rare-few-hits', { hits: 49 }, /^only 49 confirming runs violated: raise confirm_runs/],
  ];
  for (const [code, counts, words] of attempts) {
    it(`warns from the first run on: ${code}`, () => {
      const warnings = warningsOf({}, { attempt: attemptWith(counts) });
      expect(warnings.map((it) => it.code)).to.deep.equal([ONE, code]);
      expect(warnings[1]!.message).to.match(words);
      expect(codes({}, { attempt: undefined }), 'without an attempt').to.deep.equal([ONE]);
    });
  }

  it('says what is left out where unknown runs are unrelated, and what they widen elsewhere', () => {
    const attempt = attemptWith({ unknown: 1 }, 1);
    expect(codes({}, { attempt, unknown: 'unrelated' })).to.deep.equal([ONE, 'rare-unrelated']);
    expect(codes({}, { attempt, unknown: 'violated' })).to.deep.equal([ONE, 'rare-unknown']);
    expect(codes({}, { unknown: 'unrelated' })).to.deep.equal([ONE]);
    const [, one] = warningsOf({}, { attempt: attemptWith({}, 1), unknown: 'unrelated' });
    const [, two] = warningsOf({}, { attempt: attemptWith({}, 2), unknown: 'unrelated' });
    expect([one!.message, two!.message].map((it) => it.slice(0, 44))).to.deep.equal([
      '1 confirming run without a value is left out',
      '2 confirming runs without a value are left o',
    ]);
  });

  it('says that a second attempt follows only while one can', () => {
    const attempt = attemptWith({ outside: 2 });
    const isRepeated = (answer: Partial<RareEventAnswer>): boolean =>
      /a second attempt with a new proposal begins/.test(
        warningsOf({ phase: 'confirm', reason: null, ...answer }, { attempt })[1]!.message,
      );
    expect(isRepeated({})).to.equal(true);
    expect(isRepeated({ runs: 3_001 }), 'no runs left').to.equal(false);
    expect(isRepeated({ attempts: [{}, {}] as RareEventAnswer['attempts'] }), 'the last attempt').to.equal(false);
    expect(isRepeated({ phase: 'ended', reason: 'confirmed' })).to.equal(false);
  });

  it('warns where the confirmation hardly looked, one run dominates, or the bounds are wide: above the bound', () => {
    expect(codes({ found_outside: 0.0101 })).to.deep.equal([ONE, 'rare-found-outside']);
    expect(codes({ found_outside: null, largest_share: null })).to.deep.equal([ONE]);
    expect(codes({ largest_share: 0.101 })).to.deep.equal([ONE, 'rare-one-run-dominates']);
    expect(codes({ upper: 1.501e-5 })).to.deep.equal([ONE, 'rare-wide']);
    expect(codes({ upper: null }), 'without an upper bound').to.deep.equal([ONE]);
    expect(codes({ lower: 0 }), 'without a lower bound').to.deep.equal([ONE]);
    expect(codes({ upper: 1, attempts: [] }, { attempt: undefined }), 'bounds of plain runs').to.deep.equal([ONE]);
  });

  it('says whether the search or the confirmation has missed regions, beyond a factor of five', () => {
    const search = (estimate: number | null): Partial<RareEventAnswer> => ({
      search: { estimate, levels: [] },
    });
    const message = (estimate: number): string => warningsOf(search(estimate))[1]?.message ?? '';
    expect(message(5.01e-5)).to.match(/estimates 5\.0e-5: regions were missed by the confirmation; raise population/);
    expect(message(1.99e-6)).to.match(/regions were missed by the search; raise population/);
    for (const near of [5e-5, 1e-5, 2.01e-6]) expect(codes(search(near)), String(near)).to.deep.equal([ONE]);
    expect(codes(search(null)), 'a search without an estimate').to.deep.equal([ONE]);
    expect(codes({ search: null })).to.deep.equal([ONE]);
    expect(codes({ estimate: 0, lower: 0 }), 'an estimate of 0').to.deep.equal([ONE]);
    expect(codes({ ...search(1e-3), attempts: [] }, { attempt: undefined }), 'before the confirmation').to.deep.equal([
      ONE,
    ]);
  });

  it('warns of runs without a time limit', () => {
    expect(codes({}, { hasNoTimeLimit: true })).to.deep.equal([ONE, 'rare-no-time-limit']);
  });

  it('counts as outside the violations, and the runs without a value, that weigh more than the clip', () => {
    const draw = (weight: number, end: 'violates' | 'unknown' | 'passes'): ConfirmingDraw => ({
      weight,
      isViolating: end === 'violates',
      isUnknown: end === 'unknown',
      isNominal: false,
    });
    const plan = {
      settings: { unknown: 'unknown', confidence: 0.95 },
      share: 0.8,
      proposal: { weight: ([weight]: readonly number[]) => weight },
      found: [[1], [1], [1.1]],
      clip: 1,
      betsBelow: [0.1],
      betsAbove: [0.1],
    } as unknown as ConstructorParameters<typeof Attempt>[0];
    const attempt = (...draws: ConfirmingDraw[]): Attempt => new Attempt(plan, draws);
    const inside = [draw(1, 'violates'), draw(1, 'unknown'), draw(2, 'passes')];
    expect(attempt(...inside).counts()).to.deep.equal({ runs: 3, hits: 1, unknown: 1, outside: 0, unknownOutside: 0 });
    expect(attempt(...inside).bounds()!.upper).not.to.equal(null);
    for (const [end, counted] of [
      ['violates', { outside: 1, unknownOutside: 0 }],
      ['unknown', { outside: 0, unknownOutside: 1 }],
    ] as const) {
      const beyond = attempt(...inside, draw(1.1, end));
      expect(beyond.counts()).to.include(counted);
      expect(beyond.bounds()!.upper, end).to.equal(null);
    }
    expect(attempt().foundOutside).to.be.closeTo(1 / 3, 1e-12);
  });

  describe('of two studies', () => {
    const requirement = {
      name: 'r',
      output: 'y',
      condition: '< 0',
      probability: 0.999,
      confidence: 0.95,
    };
    const joint = (first: Partial<RareEventAnswer>, second: Partial<RareEventAnswer>): RareEventAnswer =>
      combinedRare(
        [
          { ...CONFIRMED, ...first },
          { ...CONFIRMED, ...second },
        ],
        requirement,
      );

    it('finds intervals apart that do not overlap, and not those that touch', () => {
      const touching = joint({}, { lower: 1.5e-5, upper: 3e-5, estimate: 2e-5 });
      expect(touching).to.include({ apart: false, lower: 0.5e-5, upper: 3e-5 });
      expect(touching.warnings).to.deep.equal([]);
      expect(touching.verdict).to.deep.equal({
        verdict: 'met',
        reason: null,
        given: 'regions-found',
      });
      for (const [a, b] of [
        [{}, { lower: 1.501e-5, upper: 3e-5 }],
        [{ lower: 1.501e-5, upper: 3e-5 }, {}],
        [{ lower: 1.501e-5, upper: null }, {}],
      ]) {
        const apart = joint(a!, b!);
        expect(apart.apart).to.equal(true);
        expect(apart.warnings.map(({ code }) => code)).to.deep.equal(['rare-studies-apart']);
        expect(apart.sentence).to.match(/^the studies found different regions: do not use this number\./);
        expect(apart.verdict).to.deep.equal({
          verdict: 'not-shown',
          reason: 'studies-apart',
          given: null,
        });
      }
      expect(joint({ upper: null }, { lower: 9e-5, upper: 1e-4 }), 'an interval without an upper end').to.include({
        apart: false,
        upper: null,
      });
    });

    it('has each warning once, with the study that has it, and not that of one study alone', () => {
      const [wide, few] = [
        { code: 'rare-wide', message: 'wide' },
        { code: 'rare-few-hits', message: 'few' },
      ];
      const one = { code: ONE, message: 'alone' };
      expect(joint({ warnings: [one, wide] }, { warnings: [one, wide, few] }).warnings).to.deep.equal([
        wide,
        { code: 'rare-few-hits', message: 'study 2: few' },
      ]);
    });

    it('has no number nor a verdict while one is open, and no number where one has none', () => {
      const open = joint({}, { phase: 'confirm', reason: null, verdict: null });
      expect(open).to.include({
        phase: 'confirm',
        estimate: null,
        lower: null,
        upper: null,
        apart: null,
        verdict: null,
      });
      const without = joint({}, { reason: 'plateau', estimate: null });
      expect(without).to.include({
        phase: 'ended',
        estimate: null,
        lower: null,
        apart: null,
      });
      const beyond = 'Violations in regions that were not found are excluded only above 3.7e-3 (1,000 nominal runs)';
      const direct = { violations: 0, unknown: 0, of: 1000, lower: 0, upper: 0.0037 };
      const ended = (reason: RareEventAnswer['reason']): Partial<RareEventAnswer> => ({
        reason,
        estimate: null,
        direct,
        sentence: `no estimate: ${reason}. ${beyond}`,
      });
      expect(joint(ended('plateau'), ended('plateau')).sentence).to.match(
        /^by both studies, no estimate: plateau\. Violations in regions .* only above 1\.8e-3 \(2,000 nominal runs\)$/,
      );
      expect(joint(ended('plateau'), ended('constant-output')).sentence).to.match(
        /^no joint estimate of 2 studies\. Study 1: no estimate: plateau\. Study 2: no estimate: constant-output\. Violations in regions [^:]* \(2,000 nominal runs\)$/,
      );
      const notRare = joint({}, { reason: 'not-rare', estimate: 0.3 });
      expect(notRare).to.include({
        phase: 'ended',
        estimate: null,
        lower: null,
        apart: null,
      });
    });
  });

  describe('ends', () => {
    const SETTINGS: RareSettings = {
      population: 100,
      levelProbability: 0.1,
      width: 50,
      tuneRuns: 50,
      confirmRuns: 200,
      confirmPart: 200,
      confidence: 0.95,
      budget: 3_000,
      unknown: 'unknown',
      stopsWhenSettled: false,
      limit: 0,
      isStrict: false,
      required: { probability: 0.999, confidence: 0.95 },
    };
    /** A study after its first round, in which the scores are these. */
    function after(scoreOf: (run: number) => number, settings: Partial<RareSettings> = {}): RareStudy {
      const study = new RareStudy({ ...SETTINGS, ...settings }, new RareDraws(['a', 'b'], '1'));
      const { rows, count } = study.next()!;
      study.take(
        rows,
        Float64Array.from({ length: count }, (_, run) => scoreOf(run)),
      );
      return study;
    }
    const climbs = (run: number): number => run - 1_000;
    const reasonOf = (...given: Parameters<typeof after>): string => after(...given).reason ?? 'continues';
    const unknownUpTo = (runs: number) => (run: number) => (run < runs ? Number.NaN : climbs(run));

    it('has no output only where no run has a value', () => {
      expect(reasonOf(() => Number.NaN)).to.equal('no-output');
      expect(reasonOf((run) => (run === 0 ? -1 : Number.NaN))).to.equal('too-many-unknown');
    });
    it('takes up to half of the runs without a value', () => {
      expect(reasonOf(unknownUpTo(50))).to.equal('continues');
      expect(reasonOf(unknownUpTo(51))).to.equal('too-many-unknown');
    });
    it('is not rare from a tenth of the runs with a value on', () => {
      const violating =
        (count: number, unknown = 0) =>
        (run: number) =>
          run < unknown ? Number.NaN : run < unknown + count ? 1 : climbs(run);
      expect(reasonOf(violating(9))).to.equal('continues');
      expect(reasonOf(violating(10))).to.equal('not-rare');
      expect(reasonOf(violating(30))).to.equal('not-rare');
      expect(reasonOf(violating(8, 30)), 'a tenth of 70').to.equal('not-rare');
      expect(reasonOf(violating(6, 30))).to.equal('continues');
    });
    it('is constant only where every run has the same score', () => {
      expect(reasonOf(() => -3.2)).to.equal('constant-output');
      expect(after(() => -3.2).constantScore).to.equal(-3.2);
      expect(
        reasonOf((run) => (run < 30 ? Number.NaN : -3.2)),
        'as far as it is known',
      ).to.equal('constant-output');
      expect(
        reasonOf((run) => (run === 99 ? -3.1 : -3.2)),
        'a run that is nearer',
      ).to.equal('continues');
      expect(
        reasonOf((run) => (run === 99 ? -3.3 : -3.2)),
        'a run that is farther',
      ).to.equal('plateau');
    });
    it('is a plateau where more than half have the score of the level, and none is nearer', () => {
      expect(reasonOf((run) => (run < 50 ? -1 : -2))).to.equal('continues');
      expect(reasonOf((run) => (run < 51 ? -1 : -2))).to.equal('plateau');
    });
    it('is a plateau where a level does not climb', () => {
      const study = after((run) => (run < 20 ? -1 : climbs(run)));
      for (let round = 0; round < 2; round++) {
        const { rows, count } = study.next()!;
        study.take(rows, new Float64Array(count).fill(-1));
      }
      expect(study.reason).to.equal('plateau');
    });
    it('is not reached where a level has no room in the budget', () => {
      expect(reasonOf(climbs, { budget: 100 + 100 + 2 * 50 + 200 })).to.equal('continues');
      expect(reasonOf(climbs, { budget: 100 + 100 + 2 * 50 + 199 })).to.equal('not-reached');
    });
    it('is not reached after thirty levels', () => {
      const study = after(climbs, { budget: 100_000 });
      let score = -900;
      while (study.reason === undefined) {
        const { rows, count } = study.next()!;
        study.take(
          rows,
          Float64Array.from({ length: count }, () => (score += 1e-3)),
        );
      }
      expect(study.reason).to.equal('not-reached');
      expect(study.search!.levels).to.have.length(30);
    });
  });
});
