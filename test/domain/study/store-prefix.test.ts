/** The prefix of a study in a bucket: the rule, and the pattern of the schema that shows it to clients. */
import { expect } from 'chai';
import { GRAMMARS } from '../../../src/contract/patterns.ts';
import { storePrefix, storePrefixFault } from '../../../src/domain/study/store-prefix.ts';
import { submissionFaults } from '../../../src/domain/study/submission.ts';

const GOOD: readonly [given: string, prefix: string][] = [
  ['', ''],
  ['/', ''],
  ['a', 'a'],
  ['/team a/x/', 'team a/x'],
  ['//a/b//', 'a/b'],
  ['a/..b/.c/d..', 'a/..b/.c/d..'],
  ['größe/日本', 'größe/日本'],
  ['a/attempt-1/%2e%2e/+', 'a/attempt-1/%2e%2e/+'],
];
const BAD: readonly [given: string, detail: RegExp][] = [
  ['../private', /^is "\.\.\/private" with the folder `\.\.`, which would leave the bucket; name folders only$/],
  ['..', /folder `\.\.`/],
  ['../../x', /folder `\.\.`/],
  ['a/../../private', /folder `\.\.`/],
  ['a/./b', /folder `\.`/],
  ['a/..', /folder `\.\.`/],
  ['/../', /folder `\.\.`/],
  ['a//b', /^is "a\/\/b" with an empty folder; write one \/ between folders$/],
  ['a\\..\\b', /backslash/],
  ['a\nb', /^is "a\\nb" with a backslash, a control character/],
  ['a\u009bb', /control character/],
  ['a\0', /control character/],
];

describe('domain/study/store-prefix', () => {
  const pattern = new RegExp(GRAMMARS['s3-prefix'].pattern, 'u');
  for (const [given, prefix] of GOOD)
    it(`${JSON.stringify(given)} is ${JSON.stringify(prefix)}`, () => {
      expect([storePrefixFault(given), storePrefix(given), pattern.test(given)]).to.deep.equal([
        undefined,
        prefix,
        true,
      ]);
    });
  for (const [given, detail] of BAD)
    it(`${JSON.stringify(given)} is refused, whichever bucket is named`, () => {
      expect(storePrefixFault(given)).to.match(detail);
      expect(pattern.test(given)).to.equal(false);
      for (const s3_bucket of ['', 'sims', 'unknown'])
        expect(submissionFaults({ config: { telemetry: { storage: { s3_bucket, s3_prefix: given } } } })).to.deep.equal(
          [{ pointer: '/config/telemetry/storage/s3_prefix', detail: storePrefixFault(given) }],
        );
    });

  it('refuses half a character, which a key cannot have', () => {
    expect(storePrefixFault('a\ud800')).to.match(/half a character/);
  });
});
