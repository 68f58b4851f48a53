import { expect } from 'chai';
import { bytesOfRange, parseByteRange } from '../../../src/domain/files/byte-range.ts';
import { fileKindOf, filePathFault, mediaTypeOf, pathInAttempt } from '../../../src/domain/files/file-path.ts';

/** header -> the bytes of a file of 10 bytes; `whole`: the header is ignored; `none`: it has none of them. */
const RANGES: Record<string, [number, number] | 'whole' | 'none'> = {
  'bytes=0-0': [0, 1],
  'bytes=2-5': [2, 6],
  'bytes=8-': [8, 10],
  'bytes=8-99': [8, 10],
  'bytes=-3': [7, 10],
  'bytes=-99': [0, 10],
  'bytes= 1 - 2 ': [1, 3],
  'bytes=10-': 'none',
  'bytes=-0': 'none',
  'bytes=5-4': 'whole',
  'bytes=-': 'whole',
  'bytes=0-1,3-4': 'whole',
  'lines=0-1': 'whole',
  'bytes=a-b': 'whole',
  '': 'whole',
};

describe('domain/files/byte-range, file-path', () => {
  for (const [header, expected] of Object.entries(RANGES)) {
    it(`reads the range ${JSON.stringify(header)}`, () => {
      const range = parseByteRange(header);
      if (range === undefined) expect(expected).to.equal('whole');
      else {
        const bytes = bytesOfRange(range, 10);
        expect(bytes === undefined ? 'none' : [bytes.start, bytes.end]).to.deep.equal(expected);
      }
    });
  }

  it('knows no range without a header', () => {
    expect(parseByteRange(undefined)).to.equal(undefined);
  });

  it('refuses paths that leave their folder', () => {
    for (const path of ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', 'a\0', 'a\ud800', 'x'.repeat(4097)])
      expect(filePathFault(path), JSON.stringify(path.slice(0, 20))).to.be.a('string');
    for (const path of ['a', 'a/b.csv', '..a/b..', 'with space', 'back\\slash', 'grün'])
      expect(filePathFault(path), path).to.equal(undefined);
  });

  it('names the kind, the media type and the path of an address', () => {
    expect(['stdout.log', 'deep/stdout.log', 'telemetry-2.parquet', 'metadata.json'].map(fileKindOf)).to.deep.equal([
      'stdout',
      'artifact',
      'telemetry',
      'metadata',
    ]);
    expect(mediaTypeOf('a/B.PNG')).to.equal('image/png');
    expect(mediaTypeOf('a.svg')).to.equal('application/octet-stream');
    expect(pathInAttempt('/out/b/00000000/attempt-2/deep/x.csv')).to.equal('deep/x.csv');
    expect(pathInAttempt('/out/x.csv')).to.equal(undefined);
    expect(pathInAttempt('C:\\out\\b\\00000000\\attempt-2\\deep\\x.csv')).to.equal('deep/x.csv');
    for (const place of ['/out/b/00000000', 's3://bucket/b/0'])
      expect(pathInAttempt(`${place}/attempt-2/deep/a\\b.csv`)).to.equal('deep/a\\b.csv');
  });
});
