/** The runner's configuration: where each setting comes from, which source wins, and what each mistake gets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { resolveConfig, supportedSimulationTypes } from '../../src/runner/config/config.ts';
import type { ConfigSources, RunnerConfig } from '../../src/runner/config/config.ts';
import { FIELDS } from '../../src/runner/config/fields.ts';
import { chooseEngine, commandOf } from '../../src/runner/launch/engine.ts';

const host = { hostname: 'lab-7.example.org', cpuCores: 8, memoryGb: 31.3 };
const FULL = `# every field
runner_id: lab-7
name: The fast one
endpoint: https://coordinator.example.org
max_concurrent_jobs: 3
heartbeat_interval_secs: 7
grace_secs: 0
engines: [rocket, glider]
capabilities:
  - reentry
  - rocket
rocket_entrypoint: sims/rocket.py
glider_entrypoint: /opt/glider
entrypoint: other.mjs
python_executable: venv/bin/python
output_root: out
working_directory: /data
keep_days: 90
artifacts: archive
checkpoint_dir: checkpoints
checkpoint_interval: 5m
checkpoint_max_gb: 2
tags: a, b
cpu_cores: 4
memory_gb: 2.5
gpu_available: true
resources: { gpu: auto, comsol: 2 }
only_with: [gpu]
allow_functions: true
environment_inherited: [AWS_*]
environment_allowed: ['*', FUEL]
token_file: /run/token
token_fd: 4
cgroup: required
container_runtime: podman
container_images: [rocket:*]
container_options: --init
allocation: slurm/main/1
ends_at: 2026-03-01T18:00:00Z
max_lifetime: 1h30m
lifetime_margin: 20
idle_exit: 5m
ephemeral: true
serve_files: true
serve_files_max_gb: 2
`;

describe('runner: configuration', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-config-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function resolved(given: {
    yaml?: string;
    env?: ConfigSources['env'];
    flags?: ConfigSources['flags'];
  }): RunnerConfig {
    const sources: ConfigSources = { flags: given.flags ?? {}, env: given.env ?? {}, cwd: '/cwd', host };
    if (given.yaml !== undefined) {
      sources.file = join(folder, 'runner.yaml');
      writeFileSync(sources.file, given.yaml);
    }
    return resolveConfig(sources);
  }

  const withEntrypoint = { entrypoint: ['sim.py'] };

  it('has defaults for everything but the entrypoint', () => {
    const config = resolved({ flags: withEntrypoint });
    expect(config).to.deep.include({
      endpoint: 'http://127.0.0.1:7070',
      tokenFile: undefined,
      tokenFd: undefined,
      environmentInherited: [],
      environmentAllowed: [],
      cgroup: 'auto',
      containers: { runtime: 'none', images: [], options: [] },
      maxConcurrentJobs: 8,
      heartbeatIntervalSecs: 5,
      graceSecs: 30,
      engines: [{ name: '*', entrypoint: '/cwd/sim.py' }],
      outputRoot: '/cwd/simbatch-output',
      keepDays: undefined,
      artifacts: 'files',
      checkpointDir: undefined,
      checkpointIntervalMs: 60_000,
      checkpointBytes: 2 ** 32,
      workingDirectory: '/cwd',
      cpuCores: 8,
      memoryGb: 31.3,
      gpuAvailable: false,
      resources: undefined,
      devices: undefined,
      onlyWith: undefined,
      allowFunctions: false,
      servesFiles: false,
      servedFileBytes: 2 ** 30,
      allocation: undefined,
      lifetime: { endsAtMs: undefined, maxMs: undefined, marginMs: 60_000, idleMs: undefined },
      isEphemeral: false,
      notes: [],
    });
    expect(config.id).to.match(/^lab-7\.example\.org-[0-9a-f]{6}$/);
    expect(config.name).to.equal(config.id);
    expect(Object.isFrozen(config)).to.equal(true);
  });

  it('has an id that stays, and another for another output root', () => {
    const ids = ['a', 'a', 'b'].map((root) => resolved({ flags: { ...withEntrypoint, output_root: root } }).id);
    expect(ids[0]).to.equal(ids[1]).and.not.to.equal(ids[2]);
  });

  it('reads every field of the file; relative paths start at the file', () => {
    expect(resolved({ yaml: FULL })).to.deep.equal({
      id: 'lab-7',
      name: 'The fast one',
      endpoint: 'https://coordinator.example.org',
      tokenFile: '/run/token',
      tokenFd: 4,
      environmentInherited: ['AWS_*'],
      environmentAllowed: ['*', 'FUEL'],
      cgroup: 'required',
      containers: { runtime: 'podman', images: ['rocket:*'], options: ['--init'] },
      allocation: 'slurm/main/1',
      lifetime: { endsAtMs: Date.UTC(2026, 2, 1, 18), maxMs: 5_400_000, marginMs: 20_000, idleMs: 300_000 },
      isEphemeral: true,
      hostname: host.hostname,
      maxConcurrentJobs: 3,
      heartbeatIntervalSecs: 7,
      graceSecs: 0,
      engines: [
        { name: 'rocket', entrypoint: join(folder, 'sims/rocket.py') },
        { name: 'glider', entrypoint: '/opt/glider' },
      ],
      capabilities: ['reentry', 'rocket'],
      tags: ['a', 'b'],
      pythonExecutable: join(folder, 'venv/bin/python'),
      outputRoot: join(folder, 'out'),
      keepDays: 90,
      artifacts: 'archive',
      checkpointDir: join(folder, 'checkpoints'),
      checkpointIntervalMs: 300_000,
      checkpointBytes: 2 ** 31,
      workingDirectory: '/data',
      cpuCores: 4,
      memoryGb: 2.5,
      gpuAvailable: true,
      resources: { gpu: 'auto', comsol: 2 },
      devices: undefined,
      onlyWith: ['gpu'],
      allowFunctions: true,
      servesFiles: true,
      servedFileBytes: 2 ** 31,
      notes: [],
    });
  });

  it('advertises engines and capabilities, each once', () => {
    expect(supportedSimulationTypes(resolved({ yaml: FULL }))).to.deep.equal(['rocket', 'glider', 'reentry']);
  });

  const values: Record<string, [file: string, env: string, flag: string | boolean, read: keyof RunnerConfig]> = {
    runner_id: ['f', 'e', 'x', 'id'],
    name: ['f', 'e', 'x', 'name'],
    endpoint: ['http://f', 'http://e', 'http://x', 'endpoint'],
    max_concurrent_jobs: ['1', '2', '3', 'maxConcurrentJobs'],
    heartbeat_interval_secs: ['1', '2', '3', 'heartbeatIntervalSecs'],
    grace_secs: ['1', '2', '3', 'graceSecs'],
    engines: ['f', 'e', 'x', 'engines'],
    capabilities: ['f', 'e', 'x', 'capabilities'],
    entrypoint: ['/f', '/e', '/x', 'engines'],
    warm: ['true', 'false', true, 'engines'],
    preload: ['f', 'e', 'x', 'engines'],
    code: ['f', 'e', 'x', 'engines'],
    python_executable: ['/f', '/e', '/x', 'pythonExecutable'],
    output_root: ['/f', '/e', '/x', 'outputRoot'],
    keep_days: ['1', '2', '3', 'keepDays'],
    artifacts: ['files', 'archive', 'files', 'artifacts'],
    checkpoint_dir: ['/f', '/e', '/x', 'checkpointDir'],
    checkpoint_interval: ['1', '2', '3', 'checkpointIntervalMs'],
    checkpoint_max_gb: ['1', '2', '3', 'checkpointBytes'],
    working_directory: ['/f', '/e', '/x', 'workingDirectory'],
    tags: ['f', 'e', 'x', 'tags'],
    environment_inherited: ['F_*', 'E', 'X', 'environmentInherited'],
    environment_allowed: ['F', 'E_*', 'X', 'environmentAllowed'],
    cgroup: ['auto', 'off', 'required', 'cgroup'],
    container_runtime: ['docker', 'podman', 'none', 'containers'],
    container_images: ['f', 'e', 'x', 'containers'],
    container_options: ['f', 'e', 'x', 'containers'],
    token_file: ['/f', '/e', '/x', 'tokenFile'],
    token_fd: ['3', '4', '5', 'tokenFd'],
    cpu_cores: ['1', '2', '3', 'cpuCores'],
    memory_gb: ['1', '2', '3', 'memoryGb'],
    serve_files: ['true', 'false', true, 'servesFiles'],
    serve_files_max_gb: ['1', '2', '3', 'servedFileBytes'],
    gpu_available: ['true', 'false', true, 'gpuAvailable'],
    resources: ['f=1', 'e=2', 'x=3', 'resources'],
    only_with: ['f', 'e', 'x', 'onlyWith'],
    allow_functions: ['true', 'false', true, 'allowFunctions'],
    allocation: ['f', 'e', 'x', 'allocation'],
    ends_at: ['111111111', '222222222', '333333333', 'lifetime'],
    max_lifetime: ['1', '2', '3', 'lifetime'],
    lifetime_margin: ['1', '2', '3', 'lifetime'],
    idle_exit: ['1', '2', '3', 'lifetime'],
    ephemeral: ['true', 'false', true, 'isEphemeral'],
  };
  for (const field of FIELDS) {
    it(`${field.name}: file < ${field.env} < --${field.flag}`, () => {
      const row = values[field.name];
      if (row === undefined) throw new Error(`no row for ${field.name}`);
      const [inFile, inEnv, asFlag, member] = row;
      const basis = { yaml: `${field.name}: ${inFile}\n` };
      const env = { [field.env]: inEnv };
      const flags = { [field.name]: field.name === 'entrypoint' ? [String(asFlag)] : asFlag };
      const needed = {
        ...(field.name === 'entrypoint' ? {} : { SVC_RUNNER_ENTRYPOINT: '/any' }),
        ...(field.name === 'container_runtime' ? { SVC_RUNNER_CONTAINER_IMAGES: '*' } : {}),
      };
      const seen = [{}, env, { ...env, ...flags }].map((_, step) =>
        JSON.stringify(
          resolved({ ...basis, env: { ...needed, ...(step > 0 ? env : {}) }, flags: step > 1 ? flags : {} })[member],
        ),
      );
      const shown = (given: string | boolean): string => String(given).replace('=', '":');
      expect(seen[0]).to.include(shown(inFile));
      expect(seen[1]).to.include(shown(inEnv));
      expect(seen[2]).to.include(shown(asFlag));
    });
  }

  it('reads variables in the output root, where the runner starts; /tmp and the number of the user are the substitutes of TMPDIR and USER', () => {
    const rootOf = (root: string, env: ConfigSources['env'], uid?: number): string =>
      resolveConfig({
        flags: { ...withEntrypoint, output_root: root },
        env,
        cwd: '/cwd',
        host: { ...host, uid },
      }).outputRoot;
    const name = '$TMPDIR/simbatch-${USER}';
    expect(rootOf(name, { TMPDIR: '/local/job-7', USER: 'ann' })).to.equal('/local/job-7/simbatch-ann');
    expect(rootOf(name, { TMPDIR: '', USER: '' }, 1000)).to.equal('/tmp/simbatch-1000');
    expect(rootOf('a/5$/$HOME', { HOME: 'h' })).to.equal('/cwd/a/5$/h');
    expect(() => rootOf('/x/$SCRATCH/$USER/$SCRATCH', {})).to.throw(
      '--output-root: output_root is "/x/$SCRATCH/$USER/$SCRATCH" and must have variables that are set here; SCRATCH, USER is not',
    );
  });

  it('reads lists of the environment with commas, and entrypoints by engine', () => {
    const env = {
      SVC_RUNNER_ENGINES: 'rocket, my-sim',
      SVC_RUNNER_ROCKET_ENTRYPOINT: '/r.py',
      SVC_RUNNER_MY_SIM_ENTRYPOINT: '/m.py',
    };
    expect(resolved({ env }).engines).to.deep.equal([
      { name: 'rocket', entrypoint: '/r.py' },
      { name: 'my-sim', entrypoint: '/m.py' },
    ]);
  });

  it('reads whether an engine is warm and its modules, for one engine before all', () => {
    const yaml = [
      'engines: [rocket, my-sim, glider]',
      'warm: true',
      'rocket_entrypoint: /r.py',
      'my-sim_entrypoint: /m.py',
      'glider_entrypoint: /g.py',
      'glider_warm: false',
      'rocket_preload: [numpy, scipy.optimize]',
    ].join('\n');
    const { engines, notes } = resolved({ yaml, env: { SVC_RUNNER_MY_SIM_PRELOAD: 'json', SVC_RUNNER_X_WARM: '1' } });
    expect(engines).to.deep.equal([
      { name: 'rocket', entrypoint: '/r.py', warm: true, preload: ['numpy', 'scipy.optimize'] },
      { name: 'my-sim', entrypoint: '/m.py', warm: true, preload: ['json'] },
      { name: 'glider', entrypoint: '/g.py', warm: false },
    ]);
    expect(notes).to.deep.equal(['SVC_RUNNER_X_WARM: x is not in engines; its warm is not used']);
    const cold = resolved({ flags: withEntrypoint, env: { SVC_RUNNER_PRELOAD: 'json' } });
    expect(cold.notes).to.deep.equal(['engine * is not warm; its preload is not used']);
  });

  it('refuses a preload that is not a list of Python modules', () => {
    expect(() => resolved({ flags: { ...withEntrypoint, warm: true, preload: 'numpy,../x' } })).to.throw(
      '--preload: preload is "numpy,../x" and must be a list of Python modules such as scipy.optimize; "../x" is not one',
    );
  });

  const TIMES: [string, string, number | RegExp][] = [
    ['max_lifetime', '90', 90_000],
    ['max_lifetime', '55m', 3_300_000],
    ['max_lifetime', '1d2h3m4s', 93_784_000],
    ['max_lifetime', '', /must be a time such as 90s, 55m, 1h30m or 2d/],
    ['max_lifetime', '5m1h', /must be a time/],
    ['max_lifetime', '-5m', /must be a time/],
    ['ends_at', '1772388000', Date.UTC(2026, 2, 1, 18)],
    ['ends_at', '2026-03-01T20:00:00.5+02:00', Date.UTC(2026, 2, 1, 18) + 500],
    ['ends_at', '2026-03-01T18:00:00', /must be an instant with its zone/],
    ['ends_at', 'tomorrow', /must be an instant with its zone/],
  ];
  for (const [name, written, read] of TIMES) {
    it(`reads ${name} ${JSON.stringify(written)}, or says what it must be`, () => {
      const { maxMs, endsAtMs } = (() => {
        if (typeof read === 'number') return resolved({ flags: { ...withEntrypoint, [name]: written } }).lifetime;
        expect(() => resolved({ flags: { ...withEntrypoint, [name]: written } })).to.throw(read);
        return { maxMs: undefined, endsAtMs: undefined };
      })();
      expect(name === 'ends_at' ? endsAtMs : maxMs).to.equal(typeof read === 'number' ? read : undefined);
    });
  }

  it('takes engine=path flags, which name engines when nothing else does', () => {
    const { engines } = resolved({ flags: { entrypoint: ['a=x.py', 'b=/y=z.py'] } });
    expect(engines).to.deep.equal([
      { name: 'a', entrypoint: '/cwd/x.py' },
      { name: 'b', entrypoint: '/y=z.py' },
    ]);
  });

  it('a flag replaces the entrypoint the file gives an engine', () => {
    const yaml = 'engines: [my-sim]\nmy-sim_entrypoint: old.py\n';
    const config = resolved({ yaml, env: { SVC_RUNNER_MY_SIM_ENTRYPOINT: '/new.py' } });
    expect(config.engines).to.deep.equal([{ name: 'my-sim', entrypoint: '/new.py' }]);
  });

  it('notes what is probably not meant', () => {
    const { notes } = resolved({
      env: {
        SVC_RUNNER_ENGINE: 'a',
        SVC_RUNNER_ENGINES: 'a',
        SVC_RUNNER_A_ENTRYPOINT: '/a',
        SVC_RUNNER_B_ENTRYPOINT: '/b',
      },
    });
    expect(notes).to.have.length(2);
    expect(notes[0]).to.include('did you mean SVC_RUNNER_ENGINES?');
    expect(notes[1]).to.include('b is not in engines');
  });

  const mistakes: [yaml: string, message: RegExp][] = [
    ['', /no engine: say what to execute/],
    ['engins: [a]\nentrypoint: x', /runner\.yaml:1:9: unknown field "engins"; did you mean engines\?/],
    ['zzz: 1\nentrypoint: x', /:1:6: unknown field "zzz"; known fields: runner_id/],
    [
      'entrypoint: x\nmax_concurrent_jobs: none',
      /:2:22: max_concurrent_jobs is "none" and must be a whole number of at least 1/,
    ],
    ['entrypoint: x\nmax_concurrent_jobs: 0', /max_concurrent_jobs is 0 and must/],
    ['entrypoint: x\nmax_concurrent_jobs: 1.5', /max_concurrent_jobs is 1.5 and must/],
    ['entrypoint: x\nmax_concurrent_jobs: [1]', /max_concurrent_jobs is \[1\] and must/],
    ['entrypoint: x\nheartbeat_interval_secs: 3601', /heartbeat_interval_secs is 3601 and must .* at most 3600/],
    ['entrypoint: x\ngrace_secs: -1', /:2:13: grace_secs is -1 and must/],
    ['entrypoint: x\nmemory_gb: .inf', /memory_gb .* must be a number/],
    ['entrypoint: x\ngpu_available: maybe', /gpu_available is "maybe" and must be true or false/],
    ['entrypoint: x\nrunner_id: a b', /runner_id is "a b" and must be 1 to 128/],
    ['entrypoint: x\nrunner_id: ../../etc', /runner_id is .* and must be/],
    [
      'entrypoint: x\ncontainer_runtime: lxc\ncontainer_images: x',
      /container_runtime is "lxc" and must be one of none, podman, docker, apptainer, charliecloud/,
    ],
    [
      'entrypoint: x\ncontainer_runtime: podman',
      /^container_runtime is podman, and container_images allows no image: name those that studies may use, or \* for any$/,
    ],
    ['entrypoint: x\ncgroup: maybe', /cgroup is "maybe" and must be one of auto, off, required/],
    ['entrypoint: x\nenvironment_allowed: [A-B]', /must be a list of names of variables.*"A-B" is not one/],
    ['entrypoint: x\ntags:\n  - {a: 1}', /tags is .* and must be a list of texts/],
    ['entrypoint: x\ntags: {a: 1}', /:2:1: tags must be a single value or a list/],
    [
      'entrypoint: x\nresources: gpu',
      /:2:12: resources is "gpu" and must have amounts from 0 to 10000, or auto for gpu; that of gpu is ""/,
    ],
    ['entrypoint: x\nresources: { Gpu: 1 }', /resources is .*"Gpu" must be the name of a resource/],
    ['entrypoint: x\nresources: { cores: 1 }', /"cores" must be .*cores and memory are asked for by `cpu_request`/],
    ['entrypoint: x\nresources: { comsol: auto }', /that of comsol is "auto"/],
    ['entrypoint: x\nresources: { gpu: -1 }', /that of gpu is -1/],
    ['entrypoint: x\nresources: { gpu: [0, 1] }', /resources/],
    ['entrypoint: x\nresources: gpu=1,gpu=2', /must have each name once; gpu is there twice/],
    ['entrypoint: x\nresources: { comsol: 10001 }', /amounts from 0 to 10000, .*that of comsol is 10001/],
    ['entrypoint: x\nresources: comsol=1.5', /that of comsol is "1.5"/],
    ['entrypoint: x\nresources: gpu=1,', /"" must be the name of a resource/],
    [
      `entrypoint: x\nresources: ${Array.from({ length: 33 }, (_, at) => `r${at}=1`).join(',')}`,
      /must have at most 32 resources/,
    ],
    ['entrypoint: x\nresources: [gpu]', /resources is .* must be names with amounts/],
    ['entrypoint: x\nonly_with: [GPU]', /only_with is .*"GPU" must be the name of a resource/],
    ['entrypoint:', /:1:1: entrypoint has no value/],
    ['entrypoint: x\nentrypoint: y', /:2:1: Map keys must be unique/],
    ['- a', /:1:1: the file must be a list of "field: value" lines/],
    ['a: [b', /runner\.yaml:1:\d+: /],
    [
      'entrypoint: x\ntoken: abc',
      /:2:8: token does not belong in a file .*; put it into a file of its own and name that in token_file/,
    ],
    [
      'engines: [rocket]\nrocekt_entrypoint: x',
      /:1:10: engine rocket has no entrypoint; set rocket_entrypoint .*did you mean that/,
    ],
    [
      'entrypoint: x\nendpoint: nope',
      /:2:11: endpoint is "nope" and is not an address; give one, e\.g\. http:\/\/127\.0\.0\.1:7070$/,
    ],
    ['entrypoint: x\nendpoint: ftp://x', /:2:11: endpoint is "ftp:\/\/x" and must begin with http:\/\/ or https:\/\//],
    ['entrypoint: x\nendpoint: lab-7:7070', /:2:11: endpoint is "lab-7:7070" and must begin with http:\/\/ or https/],
    ['entrypoint: x\nendpoint: http://x/?a=1', /endpoint is .* and must not have a query or a fragment/],
    ['entrypoint: x\nendpoint: 7070', /:2:11: endpoint is 7070 and must be a text/],
    ['entrypoint: [x, --fast]', /:1:13: entrypoint is \["x","--fast"\] and must be a path/],
    ['engines: [a]\nentrypoint: 5', /:2:13: entrypoint is 5 and must be a path/],
    ['engines: [a]\na_entrypoint: 5', /:2:15: a_entrypoint is 5 and must be a path/],
    ['engines: [a b]\nentrypoint: x', /engine "a b" must be letters/],
    ['engines: [a-b, a.b]\nentrypoint: x', /engines a-b and a\.b/],
    ['&a b: *a', /runner\.yaml:1:/],
  ];
  for (const [yaml, message] of mistakes) {
    it(`refuses ${JSON.stringify(yaml)}`, () => {
      expect(() => resolved({ yaml }))
        .to.throw(message)
        .with.property('code', 'invalid-configuration');
    });
  }

  it('never repeats a credential found in a file', () => {
    expect(() => resolved({ yaml: 'entrypoint: x\ntoken: hunter2' }))
      .to.throw()
      .with.property('message')
      .that.not.includes('hunter2');
  });

  for (const endpoint of ['http://me:hunter2@x', 'ftp://me:hunter2@x', 'me:hunter2@x', 'me hunter2@x']) {
    it(`never repeats a credential: ${endpoint}`, () => {
      expect(() => resolved({ flags: { ...withEntrypoint, endpoint } }))
        .to.throw(/^--endpoint: endpoint (must|is) /)
        .with.property('message')
        .that.not.includes('hunter2');
    });
  }

  it('reports all faults at once', () => {
    expect(() => resolved({ yaml: 'grace_secs: a\ncpu_cores: b\nzzz: 1\nentrypoint: x' }))
      .to.throw()
      .with.property('message')
      .that.satisfies((message: string) => message.split('\n').length === 3);
  });

  it('refuses a file that cannot be read', () => {
    expect(() => resolveConfig({ flags: {}, env: {}, cwd: folder, host, file: 'none.yaml' })).to.throw(
      /none\.yaml cannot be read/,
    );
  });
});

describe('runner: engines', () => {
  const all = ['a', '*', 'b'].map((name) => ({ name, entrypoint: `/${name}` }));
  const choices: [engines: string, simulation: string, chosen: string | undefined][] = [
    ['a * b', 'b', 'b'],
    ['a * b', 'c', '*'],
    ['a b', 'c', 'a'],
    ['b', 'c', 'b'],
    ['', 'c', undefined],
  ];
  for (const [names, simulation, chosen] of choices) {
    it(`of [${names}], ${simulation} is executed by ${String(chosen)}`, () => {
      const engines = all.filter((engine) => names.split(' ').includes(engine.name));
      expect(chooseEngine(engines, simulation)?.name).to.equal(chosen);
    });
  }

  const commands: [entrypoint: string, command: string[] | undefined, python?: string][] = [
    ['/s.py', ['py3', '/s.py'], 'py3'],
    ['/s.PY', ['py3', '/s.PY'], 'py3'],
    ['/s.py', undefined],
    ['/s.mjs', [process.execPath, '/s.mjs']],
    ['/s.js', [process.execPath, '/s.js']],
    ['/s.cjs', [process.execPath, '/s.cjs']],
    ['/s', ['/s'], 'py3'],
    ['/s.sh', ['/s.sh']],
  ];
  for (const [entrypoint, expected, python] of commands) {
    it(`${entrypoint} is started as ${String(expected)}`, () => {
      const launch = commandOf(entrypoint, python);
      expect(launch === undefined ? undefined : [launch.command, ...launch.args]).to.deep.equal(expected);
    });
  }
});
