/** Which runners execute the code of a study that pins it: a table. */
import { expect } from 'chai';
import { executesPinned, type CodePin, type RunnerCode } from '../../../src/domain/code-pin.ts';
import type { RunnerEngine } from '../../../src/contract/types.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const engine = (name: string, digest: string | undefined, image?: string): RunnerEngine => ({
  name,
  ...(image === undefined ? {} : { image }),
  ...(digest === undefined ? { unknown: 'it cannot be read' } : { code: { kind: 'entrypoint', digest } }),
});
const capabilities = {
  max_concurrent_jobs: 1,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};
const contained = { ...capabilities, container_runtime: 'podman' };
const pinned = (more: Partial<CodePin> = {}): CodePin => ({
  simulationName: 'rocket',
  pinsCode: {},
  pinnedCode: A,
  ...more,
});
const inImage = pinned({ pinsCode: { image: 'x:1' } });

const CASES: readonly [name: string, runner: Partial<RunnerCode>, batch: CodePin, expected: boolean][] = [
  ['no pin', {}, { simulationName: 'rocket', pinsCode: undefined, pinnedCode: undefined }, true],
  ['the pinned code', { engines: [engine('rocket', A)] }, pinned(), true],
  ['another code', { engines: [engine('rocket', B)] }, pinned(), false],
  ['no stated engines', {}, pinned(), false],
  ['an engine without code', { engines: [engine('rocket', undefined)] }, pinned(), false],
  ['no code fixed yet, known', { engines: [engine('rocket', B)] }, pinned({ pinnedCode: undefined }), true],
  ['no code fixed yet, unknown', { engines: [engine('rocket', undefined)] }, pinned({ pinnedCode: undefined }), false],
  ['the engine of the name before that of any', { engines: [engine('*', A), engine('rocket', B)] }, pinned(), false],
  ['the engine of any name', { engines: [engine('glider', B), engine('*', A)] }, pinned(), true],
  ['the first engine otherwise', { engines: [engine('glider', A), engine('plane', B)] }, pinned(), true],
  ['a function, whose code comes with the study', {}, pinned({ simulationName: 'python-functions-3.11' }), true],
  [
    'the image of the study',
    { capabilities: contained, engines: [engine('*', B), engine('*', A, 'x:1')] },
    inImage,
    true,
  ],
  ['a tag that moved', { capabilities: contained, engines: [engine('*', A), engine('*', B, 'x:1')] }, inImage, false],
  [
    'an image not looked at',
    { capabilities: contained, engines: [engine('*', B), engine('*', B, 'y:1')] },
    inImage,
    true,
  ],
  ['an image where no runtime is', { engines: [engine('*', B), engine('*', A, 'x:1')] }, inImage, false],
];

describe('domain: pinned code', () => {
  for (const [name, runner, batch, expected] of CASES) {
    it(`${expected ? 'is executed' : 'is not executed'}: ${name}`, () => {
      expect(executesPinned({ capabilities, ...runner }, batch)).to.equal(expected);
    });
  }
});
