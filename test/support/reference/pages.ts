/** The pages of docs/ that are made from the program; a test compares them with the files, and `npm run reference` writes them. */
import { LEXICON } from '../../../src/base/text/lexicon.ts';
import { commandPage } from './command-page.ts';
import { membersPage } from './members-page.ts';

/** name -> its text */
export const MADE_PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  'cli-reference.md': commandPage,
  'lexicon.md': lexiconPage,
  'members.md': membersPage,
};

const HEAD = `# The words

For all readers: after it you can read every page and the dashboard without guessing at a word.

Made from \`src/base/text/lexicon.ts\` by \`npm run reference\`. The dashboard shows the sentence of a word that begins a heading or a label as its tooltip.

| word | meaning |
| --- | --- |
`;

function lexiconPage(): string {
  return (
    HEAD +
    Object.entries(LEXICON)
      .map(([word, meaning]) => `| ${word} | ${meaning} |\n`)
      .join('')
  );
}
