/** Tests of the table of engines. */
import { expect } from 'chai';
import { ENGINES, engineNamed } from '../../../src/launcher/engines/table.ts';

describe('launcher/engines/table', () => {
  it('finds every engine by its name', () => {
    expect(ENGINES.map((it) => engineNamed(it.name))).to.deep.equal(ENGINES);
    expect(engineNamed('none')).to.equal(undefined);
  });

  it('has a description for every member of a section', () => {
    for (const { name, section } of ENGINES) {
      const { properties } = section as { properties?: Record<string, { description?: string }> };
      for (const [member, { description }] of Object.entries(properties ?? {})) {
        expect(description, `${name}.${member}`).to.be.a('string');
      }
    }
  });
});
