import { expect } from 'chai';
import type { StudySensitivity } from '../../src/contract/types.ts';
import { tornado } from '../../src/report/tornado.ts';

type Influence = StudySensitivity['parameters'][number];

const influence = (name: string, sobol_cosine: number | null, told_apart: boolean | null): Influence => ({
  name,
  spearman: null,
  spearman_p: null,
  prcc: null,
  prcc_p: null,
  prcc_p_holm: null,
  srrc: null,
  sobol_cosine,
  noise_floor: sobol_cosine === null ? null : 0.1,
  told_apart,
  reason: null,
});

/** The bars as class and width. */
const barsOf = (text: string): [string, number][] =>
  [...text.matchAll(/<rect\s+class="([^"]+)"\s+x="130"\s+width="([\d.]+)"/g)].map(([, kind, width]) => [
    kind!,
    Number(width),
  ]);

describe('report/tornado', () => {
  it('has a bar for each input in proportion to its index, and a line at the largest index by chance', () => {
    const { text } = tornado('miss', [
      influence('wind', 0.5, true),
      influence('mass', 0.25, true),
      influence('cd', 0.05, false),
      influence('none', -0.01, false),
      influence('nearly', -0.001, false),
      influence('flag', null, null),
    ]);
    // 0 is at 130 and the largest at 360.
    expect(barsOf(text)).to.deep.equal([
      ['bar', 230],
      ['bar', 115],
      ['bar pale', 23],
      ['bar pale', 0.5],
      ['bar pale', 0.5],
    ]);
    expect(text).to.include('<line class="mark" x1="176.0" x2="176.0"');
    expect(text)
      .to.include('aria-label="What drives miss"')
      .and.include('>-0.01<')
      .and.include('>0.00<')
      .and.not.include('flag');
    expect(text).to.include('dashed: the largest index by chance, 0.1; pale: not told apart from none<');
    expect(/viewBox="0 0 400 (\d+)"/.exec(text)?.[1]).to.equal('123');
  });

  it('says nothing of pale bars where there are none, cuts long names, and is empty without an index', () => {
    const { text } = tornado('miss', [influence('a_name_with_more_letters_than_fit', 0.5, true)]);
    expect(text).to.include('>a_name_with_more_let…<').and.not.include('pale');
    expect(tornado('miss', [influence('flag', null, null)]).text).to.equal('');
  });

  it('escapes names', () => {
    expect(tornado('<b>', [influence('<i>', 0.5, true)]).text).to.not.match(/<[bi]>/);
  });
});
