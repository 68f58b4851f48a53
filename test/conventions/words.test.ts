/** Words that texts for people no longer have: each thing has one name. The API's own names stay where its members are named. */
import { expect } from 'chai';
import { filesIn, type SourceFile } from './files.ts';

/** The word that is out, and its successor. */
const OUT: readonly [word: RegExp, instead: string][] = [
  [/\bbatch(es)?\b/i, 'study'],
  [/\bjobs?\b/i, 'run'],
  [/\baudit(s|ed)?\b(?![- ]log)/i, 'spot check'],
  [/\bMaintenance\b/, 'Drained'],
  [/\bclean runs?\b/i, 'passing runs'],
  [/\bnot shown:/, 'not enough runs'],
];

/** The description of the API, the store's own words, and programs that call their units of work jobs. */
const ALLOWED = [
  'src/contract/',
  'src/http/',
  'src/launcher/',
  'src/coordinator/kernel/',
  'src/analysis/questions/',
  'src/analysis/questions.ts',
  // The words of the launcher's clusters, and of the answer about rare events, where more runs are not always the remedy.
  'src/analysis/rare/',
  'web/src/rare/',
  'web/src/machines/',
];

/** Names of the API and of commands, as they are typed. */
const NAMES =
  /\$\{[^}]*\}|`[^`]*`|\/batches|\/jobs|--[a-z-]*(batch|jobs)\b|simbatch audit|latest audit|(batch|job)\/|[a-z]+[-_.](batch|batches|job|jobs|audit)\b|\b(batch|job|jobs|audit)[-_.=][a-z<]+|"audit"/g;

interface Text {
  path: string;
  text: string;
}

/** Literals with more than one word, and texts of elements. */
function textsOf({ path, text }: SourceFile): Text[] {
  const lines = text.split('\n').filter((line) => !/^\s*(\*|\/\/|\/\*|import\b)/.test(line));
  const literal = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|>([^<>{}=;()]*)</g;
  return [...lines.join('\n').matchAll(literal)]
    .map((it) => (it[1] ?? it[2] ?? it[3] ?? '').trim())
    .filter((it) => /[a-z,:“”] +[a-z$“]/i.test(it) && !/^[,;)]|^import\b|=>|;$/.test(it))
    .map((it) => ({ path, text: it }));
}

describe('conventions: words', () => {
  const sources = [...filesIn(['src', 'web/src']), ...filesIn(['web/src'], '.tsx')].filter(
    ({ path }) => !ALLOWED.some((it) => path.startsWith(it)),
  );

  it('are those that people read, in messages, help and the dashboard', () => {
    const faults = sources.flatMap(textsOf).flatMap(({ path, text }) => {
      const prose = text.replaceAll(NAMES, '');
      return OUT.filter(([word]) => word.test(prose)).map(([, instead]) => `${path}: ${instead}: ${text}`);
    });
    expect(faults).to.deep.equal([]);
  });

  it('are those that people read, in the pages of the documentation for the words of results', () => {
    // A page may name the API's batch and job; what a result is called has one name everywhere.
    const pages = filesIn(['docs'], '.md').filter(({ path }) => !/docs\/(decisions\/|api\.md)/.test(path));
    const words = OUT.filter(([, instead]) => instead === 'passing runs' || instead === 'not enough runs');
    const faults = pages.flatMap(({ path, text }) =>
      words.flatMap(([word, instead]) => (word.test(text) ? [`${path}: ${instead}`] : [])),
    );
    expect(faults).to.deep.equal([]);
  });
});
