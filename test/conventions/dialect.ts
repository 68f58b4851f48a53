/** Phrases that the project's English avoids, each with the standard words to use, and a search for them in a text. */

export interface Phrase {
  /** Matches the phrase in lower-case text in which the words of identifiers are separated by spaces. */
  pattern: RegExp;
  /** Standard words for the same. */
  use: string;
}

/** Source of the list: the words that readers of the code had to guess. Extend it when a review finds another one. */
export const PHRASES: readonly Phrase[] = [
  // `told_apart` is a member of the interface, with the meaning of the dictionary.
  { pattern: /\b(tells?|told(?! apart\b)|telling)\b/, use: 'emit, report, notify, log, return' },
  { pattern: /\b(hears?|heard)\b/, use: 'receive, handle; contact' },
  { pattern: /\b(goes|go|going|went) on\b(?! to\b)/, use: 'continue' },
  { pattern: /\b(comes?|came|coming) to (be|an end|stand|its?)\b/, use: 'is created, becomes, ends' },
  {
    pattern: /\b(stands?|stood|standing) (behind|beside|for|in|there|by|at|before|under|once|twice|as|on)\b/,
    use: 'is',
  },
  { pattern: /(?<!\bthere )\b(is|are|was|were) no (?!longer|more|such|other|less|way|op\b)[a-z]+/, use: 'is not a' },
  { pattern: /\bbehind\b/, use: 'after, below, hidden by' },
  { pattern: /\b(given|gives?|giving) away\b/, use: 'release' },
  { pattern: /\bat work\b/, use: 'running, busy' },
  { pattern: /\bunder ?way\b/, use: 'running, in flight' },
  { pattern: /\b(falls?|fell|falling) due\b/, use: 'expire' },
  { pattern: /\b(call|calls|called|calling) (it |them )?off\b/, use: 'cancel' },
  { pattern: /\bat rest\b|\brests\b/, use: 'deactivate, inactive' },
  { pattern: /\b(nobody|somebody|whoever|whosoever)\b/, use: 'the role: client, runner, operator, subscriber' },
  { pattern: /\b(those|they|he|she) who\b|\bthe ones? (that|who)\b|\bone that\b/, use: 'a noun' },
  { pattern: /\b(whatever|wherever) (it|they|he|she|may|comes|else)\b/, use: 'any, every' },
  {
    pattern: /\b(seeker|witness|deed|ledger|parting|farewell|turn ?out|lean fetch|census)s?\b/,
    use: "the table of words' term",
  },
  { pattern: /(?:\/\*\*?|^\s*\*|\/\/|^#) (what|who|those)\b(?!.*\?)/, use: 'a noun as the subject' },
];

/** Names on the wire, in stored records or of other interfaces (ask and tell, of optimisers) that contain a phrase and cannot change. */
const KEPT_NAMES =
  /\bheardAtMs\b|\btold_apart\b|\btoldApart\b|\btell_and_ask\b|(?<=[.`])tell\b|\btell(?=[(=,:])|\bask[- ]tell\b/g;

/** The words of a text: camel case and snake case separated, lower case. Offsets are not kept, lines are. */
export const wordsOf = (text: string): string =>
  text
    .replace(KEPT_NAMES, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();

/** Each use of the dialect in a text, as `line: phrase (use ...)`. Pure. */
export function dialectIn(text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const words = wordsOf(line);
    return PHRASES.flatMap(({ pattern, use }) => {
      const match = pattern.exec(words);
      return match === null ? [] : [`${index + 1}: "${match[0]}" (use: ${use})`];
    });
  });
}
