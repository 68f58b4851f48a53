/** Bad counted resources of a study and of `serve --resource`: each refusal names the field, the value and the remedy. */
import { expect } from 'chai';
import type { Option } from 'commander';
import { resourceOption } from '../../../src/cli/resource-option.ts';
import type { Fault } from '../../../src/contract/types.ts';
import { studyFaults } from '../../../src/http/request/study-faults.ts';
import { fakeCoordinator, submission } from '../../support/fake-api.ts';
import { listen, post } from '../../support/http.ts';

const AT = '/config/compute/resources';

function asking(resources: unknown): any {
  const study: any = structuredClone(submission);
  study.config.compute.resources = resources;
  return study;
}
const many = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`r${at}`, 1]));

describe('counted resources: bad input', () => {
  // The resources of a study, the pointer, the text.
  const studies: [unknown, string, RegExp][] = [
    [null, AT, /is null; it must be an object/],
    ['gpu=1', AT, /is "gpu=1"; it must be an object/],
    [['gpu'], AT, /is an array; it must be an object/],
    [many(33), AT, /has 33 members; the limit is 32/],
    [{ gpu: 0 }, `${AT}/gpu`, /is 0; it must be at least 1/],
    [{ gpu: -1 }, `${AT}/gpu`, /is -1; it must be at least 1/],
    [{ gpu: 1.5 }, `${AT}/gpu`, /is 1.5; it must be an integer/],
    [{ gpu: '1' }, `${AT}/gpu`, /is "1"; it must be an integer/],
    [{ gpu: 'auto' }, `${AT}/gpu`, /is "auto"; it must be an integer/],
    [{ gpu: null }, `${AT}/gpu`, /is null; it must be an integer/],
    [{ comsol: 10_001 }, `${AT}/comsol`, /is 10001; it must be at most 10000/],
    [{ GPU: 1 }, `${AT}/GPU`, /"GPU".*must be the name of a resource: a letter, .*all in lower case/],
    [{ '': 1 }, `${AT}/`, /must be the name of a resource/],
    [{ 'a b': 1 }, `${AT}/a b`, /must be the name of a resource/],
    [{ 'a/b': 1 }, `${AT}/a~1b`, /must be the name of a resource/],
    [{ cores: 2 }, `${AT}/cores`, /asked for by `cpu_request` and `memory_request`/],
    [{ memory: 2 }, `${AT}/memory`, /asked for by `cpu_request` and `memory_request`/],
    [JSON.parse('{"__proto__": 1}'), `${AT}/__proto__`, /must be the name of a resource/],
  ];
  for (const [value, pointer, detail] of studies) {
    it(`a study with ${JSON.stringify(value).slice(0, 30)} -> ${pointer}`, () => {
      const faults = studyFaults(asking(value));
      expect(faults.map((it) => it.pointer)).to.deep.equal([pointer]);
      expect(faults[0]!.detail).to.match(detail);
    });
  }

  it('a study may ask for any name of the operator, at its limits', () => {
    for (const value of [undefined, {}, { gpu: 1 }, { 'a-b_9': 10_000 }, { constructor: 1 }, many(32)])
      expect(studyFaults(asking(value)), JSON.stringify(value)).to.deep.equal([]);
  });

  it('a submission is refused with all of them, and nothing is stored', async () => {
    const coordinator = fakeCoordinator();
    const server = await listen({ coordinator });
    const response = await post(`${server.url}/jobs`, asking({ gpu: 0, Comsol: 1 }));
    expect(response.status).to.equal(422);
    const { errors } = (await response.json()) as { errors: Fault[] };
    expect(errors.map((it) => it.pointer).sort()).to.deep.equal([`${AT}/Comsol`, `${AT}/gpu`]);
    expect(coordinator.calls).to.deep.equal([]);
    await server.close(0);
  });

  const given = (...texts: string[]): unknown => {
    const option: Option = resourceOption();
    return texts.reduce<unknown>((former, text) => option.parseArg!(text, former as never), undefined);
  };
  const options: [string[], RegExp][] = [
    [['comsol'], /must be a name and an amount, such as comsol=2/],
    [['=2'], /name must be the name of a resource/],
    [['Comsol=2'], /name must be the name of a resource: .*all in lower case/],
    [['cores=2'], /asked for by `cpu_request`/],
    [['a=b=2'], /name must be the name of a resource/],
    [['comsol='], /amount must be a whole number from 1 to 10000/],
    [['comsol=0'], /from 1 to 10000/],
    [['comsol=-1'], /from 1 to 10000/],
    [['comsol=1.5'], /from 1 to 10000/],
    [['comsol=auto'], /from 1 to 10000/],
    [['comsol=10001'], /from 1 to 10000/],
    [['comsol=1', 'comsol=2'], /comsol is given twice/],
    [Object.keys(many(33)).map((name) => `${name}=1`), /At most 32 resources can be given/],
  ];
  for (const [texts, message] of options)
    it(`--resource ${texts.slice(0, 2).join(' --resource ')} is refused`, () => {
      expect(() => given(...texts)).to.throw(message);
    });

  it('--resource takes pools at the limits', () => {
    expect(given('comsol=2', 'gpu=10000')).to.deep.equal({ comsol: 2, gpu: 10_000 });
    expect(Object.keys(given(...Object.keys(many(32)).map((name) => `${name}=1`)) as object)).to.have.length(32);
  });
});
