/** The words and their meanings, and the labels in which they are found. */
import { expect } from 'chai';
import { LEXICON, meaningOf } from '../../../src/base/text/lexicon.ts';

describe('base/text/lexicon', () => {
  it('has about twenty words in the singular, each with one sentence', () => {
    expect(Object.keys(LEXICON)).to.have.length.within(18, 24);
    for (const [word, meaning] of Object.entries(LEXICON)) {
      expect(word).to.match(/^[a-z]+$/);
      expect(meaning, word).to.match(/^[A-Z][^.]+\.$/);
    }
  });

  it('finds the word with which a label begins, also in the plural, and no other', () => {
    const found = ['Studies', 'dispersions', 'History altitude [m]', 'Slots', 'Rounds (5)'].map(meaningOf);
    const words = ['study', 'dispersion', 'history', 'slot', 'round'];
    expect(found).to.deep.equal(words.map((it) => LEXICON[it]?.replaceAll('`', '')));
    for (const label of ['Preview of the design', 'Constructor', 'Address', '', '17'])
      expect(meaningOf(label), label).to.equal(undefined);
    expect(meaningOf('Runner')).to.equal('The process that executes runs on a machine: simbatch runner.');
  });
});
