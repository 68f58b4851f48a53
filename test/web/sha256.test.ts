/** The dashboard's SHA-256 must equal Node's, or its previews would show other samples. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';

describe('web/node-crypto', () => {
  it('equals Node for any text', async () => {
    const address = new URL('../../../web/src/node-crypto.ts', import.meta.url);
    const { tsImport } = await import('tsx/esm/api');
    const ours = (await tsImport(address.href, import.meta.url)) as {
      createHash(name: string): { update(text: string): { digest(encoding: 'hex'): string } };
      hash(name: string, text: string): string;
    };
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (text) => {
        const expected = createHash('sha256').update(text, 'utf8').digest('hex');
        expect(ours.createHash('sha256').update(text).digest('hex')).to.equal(expected);
        expect(ours.hash('sha256', text)).to.equal(expected);
      }),
    );
  });
});
