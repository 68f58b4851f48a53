/** The digest of code files, in its bytes. The expected digests were computed by Python's hashlib from the definition in docs/code.md. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { codeDigest, digestInImage } from '../../../src/runner/code/digest.ts';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const file = (path: string, content: string) => ({ path, hash: sha256(content) });

const CASES: readonly { name: string; files: readonly (readonly [path: string, content: string])[]; digest: string }[] =
  [
    { name: 'no file', files: [], digest: 'e6f41697901ac62eac8db17de65f50d223d675835d53d79cb12555c78ff0c87f' },
    {
      name: 'one file',
      files: [['run.py', 'print(1)\n']],
      digest: '3dba09ac178827061db1442548ffdd2638c3778de06b133f240f57ae0709b3e9',
    },
    {
      name: 'an empty file',
      files: [['run.py', '']],
      digest: 'bef5ff306894336cf62102c74a3b89ef8d93e23f9c874cbf29aec468121c2651',
    },
    {
      name: 'files in the order of the bytes of their paths',
      files: [
        ['b', '1'],
        ['B', '2'],
        ['b/a', '3'],
        ['b-a', '4'],
        ['\xc3\xa9', '5'],
        ['\xff', '6'],
      ],
      digest: '9db0cb7ce5a50a45e92de6a7e3c5c22a76bd4c46a1778a4e7bef3e02f4a8def4',
    },
  ];

describe('runner/code: the digest', () => {
  for (const { name, files, digest } of CASES) {
    it(`is that of the definition: ${name}`, () => {
      expect(codeDigest(files.map((it) => file(...it)))).to.equal(digest);
      expect(codeDigest(files.toReversed().map((it) => file(...it)))).to.equal(digest);
    });
  }

  it('of files in an image depends on both', () => {
    const files = codeDigest([file('run.py', 'print(1)\n')]);
    expect(digestInImage(files, `sha256:${'ab'.repeat(32)}`)).to.equal(
      'd6293edc37fdac29ee68f18afdf034e7f6f63a6d7b92409f3a9cbe1ef07172ed',
    );
    expect(digestInImage(files, `sha256:${'ac'.repeat(32)}`)).not.to.equal(
      'd6293edc37fdac29ee68f18afdf034e7f6f63a6d7b92409f3a9cbe1ef07172ed',
    );
  });

  it('differs for other paths and other contents, whatever the order', () => {
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\xff'), minLength: 1, maxLength: 4 });
    const tree = fc.uniqueArray(fc.tuple(path, fc.constantFrom('1', '2')), { selector: ([it]) => it, maxLength: 5 });
    const textOf = (it: readonly (readonly [string, string])[]): string =>
      JSON.stringify(it.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    fc.assert(
      fc.property(tree, tree, (a, b) => {
        const isSame = codeDigest(a.map((it) => file(...it))) === codeDigest(b.map((it) => file(...it)));
        expect(isSame).to.equal(textOf(a) === textOf(b));
      }),
    );
  });
});
