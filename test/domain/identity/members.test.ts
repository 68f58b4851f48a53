import { expect } from 'chai';
import { registry } from '../../../src/contract/build.ts';
import { BatchSubmission } from '../../../src/contract/study.ts';
import { continuationHash, designHash, differences } from '../../../src/domain/identity/design.ts';
import { runKey } from '../../../src/domain/reuse/run-key.ts';
import { MEMBERS } from '../../../src/domain/identity/members.ts';
import type { BatchSubmission as Submission } from '../../../src/contract/types.ts';
import { study } from '../../support/studies.ts';

interface Schema {
  $id?: string;
  $ref?: string;
  type?: string | string[];
  oneOf?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

/** Members that are compared as one value. */
const WHOLE = new Set(['/config/scenarios', '/requirements', '/outputs', '/labels', '/policy/precision']);
/** Members for an orchestrator, which the coordinator keeps and does not read. */
const OPAQUE = new Set(['/config/compute/kubernetes', '/config/compute/baremetal']);

/** The pointers of the leaves of a schema: a variant, a number, a text, a list of these. */
function leaves(schema: Schema, pointer: string): string[] {
  if (WHOLE.has(pointer) || OPAQUE.has(pointer)) return [pointer];
  if (schema.$ref !== undefined) return leaves(registry.get(schema.$ref) as Schema, pointer);
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return leaves(first, pointer);
  if (schema.oneOf !== undefined) return [pointer];
  if (schema.properties !== undefined)
    return Object.entries(schema.properties).flatMap(([name, it]) => leaves(it, `${pointer}/${name}`));
  const { additionalProperties: values, items } = schema;
  if (typeof values === 'object' && values.$ref !== undefined) return leaves(values, `${pointer}/*`);
  if (items?.$ref !== undefined) return leaves(items, `${pointer}/*`);
  return [pointer];
}

/** A value for each member, and another one. */
const VALUES: Record<string, [before: unknown, after: unknown]> = {
  '/name': ['a study', 'the same study'],
  '/config/simulation/name': ['rocket', 'glider'],
  '/config/simulation/version': ['1.0', '1.1'],
  '/config/simulation/duration_minutes': [1, 2],
  '/config/simulation/code/sha256': ['a'.repeat(64), 'b'.repeat(64)],
  '/config/simulation/code/source': ['c'.repeat(64), 'd'.repeat(64)],
  '/config/simulation/code/python': ['3.11', '3.12'],
  '/code': ['AAAA', 'BBBB'],
  '/config/monte_carlo/runs': [10, 20],
  '/config/monte_carlo/run_ids': ['0-4', '0-5'],
  '/config/monte_carlo/cell_run_ids': ['0-9', '0-10'],
  '/runs_override': [4, 5],
  '/config/monte_carlo/sampling_method': ['monte_carlo', 'quasi_monte_carlo'],
  '/config/monte_carlo/seed': [42, 43],
  '/config/monte_carlo/replicate': [1, 2],
  '/config/monte_carlo/replicates': [2, 3],
  '/config/epistemic/*/interval': [
    [0, 1],
    [0, 2],
  ],
  '/config/epistemic/*/levels': [2, 3],
  '/config/scenarios': [{ wind: { calm: {}, storm: {} } }, { wind: { storm: {}, calm: {} } }],
  '/config/monte_carlo/design/indices': ['total', 'other'],
  '/config/monte_carlo/design/second_order': [true, false],
  '/config/dispersions/*/distribution': [
    { type: 'fixed', value: 1 },
    { type: 'fixed', value: 2 },
  ],
  '/config/dispersions/*/units': ['kg', 'lb'],
  '/config/dispersions/*/source': ['a scale', 'a data sheet'],
  '/config/correlations/*/parameters': [
    ['mass', 'wind'],
    ['wind', 'mass'],
  ],
  '/config/correlations/*/rank': [0.3, 0.4],
  '/config/adaptive/algorithm': ['external', 'other'],
  '/config/adaptive/requirement': ['a', 'b'],
  '/config/adaptive/studies': [2, 3],
  '/config/adaptive/population': [1000, 2000],
  '/config/adaptive/level_probability': [0.1, 0.2],
  '/config/adaptive/width': [500, 250],
  '/config/adaptive/tune_runs': [500, 600],
  '/config/adaptive/confirm_runs': [2000, 3000],
  '/config/adaptive/confirm_part': [2000, 1000],
  '/config/adaptive/confidence': [0.95, 0.9],
  '/config/adaptive/relative_half_width': [0.1, 0.2],
  '/config/adaptive/stop_when_settled': [false, true],
  '/config/adaptive/unknown': ['unknown', 'violated'],
  '/config/compute/container/image': ['rocket:1', 'rocket:2'],
  '/config/compute/container/environment': [{ MODE: 'a' }, { MODE: 'b' }],
  '/config/compute/container/cpu_request': ['1', '2'],
  '/config/compute/container/memory_request': ['1Gi', '2Gi'],
  '/config/compute/container/cpu_limit': ['1', '2'],
  '/config/compute/container/memory_limit': ['1Gi', '2Gi'],
  '/config/compute/max_parallel_jobs': [1, 2],
  '/config/compute/job_timeout_seconds': [1, 2],
  '/config/compute/isolation': ['shared', 'process'],
  '/config/compute/kubernetes': [{ namespace: 'a' }, { namespace: 'b' }],
  '/config/compute/baremetal': [{ working_directory: 'a' }, { working_directory: 'b' }],
  '/config/compute/resources': [{ gpu: 1 }, { gpu: 2 }],
  '/config/compute/max_retries': [1, 2],
  '/config/early_termination/enabled': [true, false],
  '/config/early_termination/check_frequency_hz': [1, 2],
  '/config/early_termination/conditions/*/variable': ['altitude', 'speed'],
  '/config/early_termination/conditions/*/condition': ['< 0', '< 1'],
  '/config/early_termination/conditions/*/description': ['landed', 'on the ground'],
  '/config/early_termination/shadow': [true, false],
  '/config/telemetry/sampling_rate_hz': [1, 2],
  '/config/telemetry/variables': [['altitude'], ['altitude', 'speed']],
  '/config/telemetry/storage/s3_bucket': ['a', 'b'],
  '/config/telemetry/storage/s3_prefix': ['a', 'b'],
  '/config/telemetry/storage/compression': ['none', 'gzip'],
  '/config/telemetry/buffer_flush_interval_seconds': [1, 2],
  '/config/telemetry/live': [true, false],
  '/config/histories/*/name': ['height', 'altitude'],
  '/config/histories/*/variable': ['altitude', 'speed'],
  '/config/histories/*/at/from': [0, 1],
  '/config/histories/*/at/to': [10, 20],
  '/config/histories/*/at/step': [1, 2],
  '/config/histories/*/at/points': [
    [0, 1],
    [0, 2],
  ],
  '/config/histories/*/interpolation': ['previous', 'linear'],
  '/config/histories/*/origin': ['end', 'start'],
  '/config/histories/*/units': ['m', 'ft'],
  '/config/derived/*/name': ['peak', 'top'],
  '/config/derived/*/take': ['max', 'min'],
  '/config/derived/*/telemetry': ['altitude', 'speed'],
  '/config/derived/*/while': ['speed > 3', 'speed > 4'],
  '/config/derived/*/at': ['end', 'start'],
  '/config/derived/*/band': [
    [0, 1],
    [0, 2],
  ],
  '/config/derived/*/expression': ['outputs.a', 'outputs.b'],
  '/config/derived/*/units': ['m', 'ft'],
  '/policy/canary_runs': [1, 2],
  '/policy/canary': ['nominal', 'corners'],
  '/policy/max_failures': [1, 2],
  '/policy/stop_when': ['settled', 'precise'],
  '/policy/precision': [[{ output: 'miss', statistic: 'mean', half_width: 1 }], []],
  '/policy/code': ['pin', 'any'],
  '/policy/reuse': ['all', 'none'],
  '/policy/priority': [1, 2],
  '/requirements': [[{ name: 'hit', output: 'miss', condition: '< 1', probability: 0.9 }], []],
  '/outputs': [{ miss: { units: 'm' } }, { miss: { units: 'km' } }],
  '/labels': [{ campaign: 'a' }, { campaign: 'b' }],
};

/** Sets a value at a pointer; `*` is a member or an element that both submissions have. */
function put(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  const key = name === '*' ? (Array.isArray(target) ? '0' : 'mass') : name;
  if (rest.length === 0) target[key] = value;
  else put((target[key] ??= rest[0] === '*' && isList(key) ? [] : {}) as Record<string, unknown>, rest, value);
}
const isList = (name: string): boolean => ['conditions', 'correlations', 'histories', 'derived'].includes(name);

/** With this, the study is of replicates, whose number is compared with that of its runs. */
const REPLICATES_BASE = 'replicates';

/** A study that has every member. */
function whole(changed?: string): Submission {
  const submission = structuredClone(study()) as unknown as Record<string, unknown>;
  for (const [pointer, [before, after]] of Object.entries(VALUES)) {
    // A history has steps or points.
    if (pointer.endsWith('/at/points') && changed !== pointer) continue;
    // The digest of the bytes counts where the source is not known.
    if (pointer.endsWith('/replicates') && changed !== pointer && changed !== REPLICATES_BASE) continue;
    if (pointer.endsWith('/source') && changed === '/config/simulation/code/sha256') continue;
    put(submission, pointer.split('/').slice(1), pointer === changed ? after : before);
  }
  return submission as unknown as Submission;
}

/** The key of a run with these parameters. */
function keyOf({ config }: Submission): string {
  const code = { digest: config.simulation.code!.sha256 };
  return runKey(config, { code, parameters: { mass: 1 }, randomSeed: 2 });
}

describe('domain/identity/members', () => {
  it('has a row and an example for every member of the schema, and none besides', () => {
    const members = leaves(BatchSubmission as unknown as Schema, '').sort();
    expect(MEMBERS.map((it) => it.pointer).sort()).to.deep.equal(members);
    expect(Object.keys(VALUES).sort()).to.deep.equal(members);
  });

  for (const { pointer, part } of MEMBERS) {
    if (pointer === '/code') continue;
    it(`${pointer}: another value changes the ${part}${part === 'design' ? '' : ', not the design'}`, () => {
      const base = whole(
        pointer.endsWith('/sha256') ? pointer : pointer.endsWith('/replicates') ? REPLICATES_BASE : undefined,
      );
      if (pointer.endsWith('/sha256')) base.config.simulation.code!.sha256 = 'e'.repeat(64);
      const changed = whole(pointer);
      const { [part]: mine, ...others } = differences(base, changed);
      expect(mine.map((it) => it.replace(/\/(?:mass|0)(?=\/)/, '/*'))).to.deep.equal([pointer]);
      expect(Object.values(others).flat()).to.deep.equal([]);
      const isDesign = part === 'design' && !pointer.endsWith('/seed');
      expect(designHash(changed) !== designHash(base)).to.equal(isDesign);
    });
  }

  for (const { pointer, key } of MEMBERS) {
    it(`${pointer}: another value ${key === 'direct' ? 'changes' : 'does not change'} the key of a run with the same parameters`, () => {
      expect(keyOf(whole(pointer)) !== keyOf(whole())).to.equal(key === 'direct');
    });
  }

  it('takes a function of the same source for the same, whatever its bytes', () => {
    const [one, other] = [whole(), whole()];
    other.config.simulation.code!.sha256 = 'f'.repeat(64);
    other.code = 'CCCC';
    expect(designHash(other)).to.equal(designHash(one));
    expect(differences(one, other).design).to.deep.equal([]);
  });

  it('takes more replicates of the same size for more runs', () => {
    const [one, other] = [study(), study()];
    Object.assign(one.config.monte_carlo, { runs: 20, replicates: 2 });
    Object.assign(other.config.monte_carlo, { runs: 40, replicates: 4 });
    expect(designHash(other)).to.equal(designHash(one));
    expect(differences(one, other)).to.deep.include({ design: [], count: ['/config/monte_carlo/runs'] });
  });

  it('takes an absent member for its default, and null for absent', () => {
    const bare = study();
    for (const { pointer, absent } of MEMBERS.filter((it) => it.absent !== undefined)) {
      const written = structuredClone(bare) as unknown as Record<string, unknown>;
      put(written, pointer.split('/').slice(1), absent);
      expect(Object.values(differences(bare, written as unknown as Submission)).flat(), pointer).to.deep.equal([]);
    }
    const nulls = study({ config: { compute: { container: { environment: null, cpu_limit: null } } } });
    nulls.config.correlations = null;
    nulls.config.dispersions['mass']!.distribution = {
      ...bare.config.dispersions['mass']!.distribution,
      lower: null,
    } as never;
    expect(designHash(nulls)).to.equal(designHash(bare));
  });

  it('continues the same design whatever the number of runs, and only the same selected runs and the same budget', () => {
    const selected = { config: { monte_carlo: { run_ids: '0-4' } } };
    const adaptive = { config: { adaptive: { algorithm: 'external' as const }, monte_carlo: { runs: 10 } } };
    const submissions = [
      study({ runs: 10 }),
      study({ runs: 20, seed: 43 }),
      study({ runs: 10, config: { monte_carlo: { run_ids: null } } }),
      study({ runs: 10, ...selected }),
      study({ runs: 20, ...selected }),
      study(adaptive),
      study({ config: { ...adaptive.config, monte_carlo: { runs: 20 } } }),
    ];
    const hashes = submissions.map(continuationHash);
    const order = [...new Set(hashes)];
    expect(hashes.map((it) => order.indexOf(it))).to.deep.equal([0, 0, 0, 1, 1, 2, 3]);
  });
});
