import { expect } from 'chai';
import { below } from '../../src/base/directories.ts';

describe('base/directories', () => {
  it('joins a folder and what is below it, the root of the file system too', () => {
    expect(below('/a/b', 'c')).to.equal('/a/b/c');
    expect(below('/', 'c/d')).to.equal('/c/d');
  });
});
