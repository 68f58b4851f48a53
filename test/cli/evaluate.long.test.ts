/** A simulation as a function: the points of a file, the studies of evaluators, and the bridge for many requests at once. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bridgeServer } from '../../src/cli/bridge/server.ts';
import { PointsQueue } from '../../src/cli/bridge/points-queue.ts';
import { Evaluator } from '../../src/client/evaluator.ts';
import { newestBatches } from '../../src/client/newest-batches.ts';
import { Throat } from '../support/throat.ts';

describe('cli/commands/evaluate', () => {
  let folder: string;
  let throat: Throat;
  let working: Promise<void>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-evaluate-'));
    throat = await Throat.open();
    working = throat.keepWorking();
  });
  after(async () => {
    const closed = throat.close();
    await working.catch(() => {});
    await closed;
    await rm(folder, { recursive: true });
  });

  async function evaluate(simulation: string, points: string, ...flags: string[]) {
    return throat.simbatch('evaluate', simulation, '--points', await pointsFile(points), ...flags);
  }
  async function pointsFile(points: string): Promise<string> {
    await writeFile(join(folder, 'x.csv'), points);
    return join(folder, 'x.csv');
  }
  const executions = (of: number): number => throat.executed.filter((r) => r === of).length;

  it('writes the outputs in the order of the points, and executes each point once', async () => {
    const file = join(folder, 'y.csv');
    const first = await evaluate('throat', 'r\n0.2\n0.4\n0.1\n0.2\n', '--outputs', 'y', '-f', file);
    expect(first.code, first.stderr).to.equal(0);
    expect(first.stderr)
      .to.match(/4 points: 3 executed, 1 known/)
      .and.match(/1 point failed, such as: run 1 ended crashed: melts/);
    const [head, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\r\n');
    expect(head).to.equal('r,y,class,run_id,error');
    expect(lines).to.deep.equal([
      '0.2,0.04000000000000001,ok,0,',
      '0.4,NaN,crashed,1,run 1 ended crashed: melts',
      '0.1,0.010000000000000002,ok,2,',
      '0.2,0.04000000000000001,ok,0,',
    ]);
    const again = await evaluate('throat', 'r\n0.1\n0.4\n', '--failed', 'raise', '-o', 'json');
    expect(again.code).to.equal(3);
    expect(again.stderr).to.match(/2 points: 0 executed, 2 known/);
    expect(JSON.parse(again.stdout)[0], 'a text is not an output').to.deep.include({
      inputs: { r: 0.1 },
      outputs: { y: 0.010000000000000002 },
    });
    await evaluate('throat', 'r\n0.4\n', '--retry-failed');
    expect([executions(0.1), executions(0.4)]).to.deep.equal([1, 2]);
  });

  it('says what continues when it is stopped', async () => {
    const idle = await Throat.open();
    let worked: Promise<void> | undefined;
    try {
      const file = await pointsFile('r\n0.2\n0.3\n');
      const { code, stderr } = await idle.stopped('evaluate', 'idle', '--points', file);
      expect(code, stderr).to.equal(130);
      expect(stderr).to.match(
        /stopped waiting for 2 points; .*the same command again executes none of them twice; simbatch watch \S+ shows them/,
      );
      // It may have been stopped before its points arrived.
      worked = idle.keepWorking();
      const again = await idle.simbatch('evaluate', 'idle', '--points', file);
      expect(again.code, again.stderr).to.equal(0);
      expect(idle.executed).to.have.members([0.2, 0.3]);
    } finally {
      const closed = idle.close();
      await worked?.catch(() => {});
      await closed;
    }
  });

  it('has another study for other inputs, versions and fixed numbers, and the same one for other outputs', async () => {
    const studyOf = async (...flags: string[]) =>
      /study (\S+)/.exec((await evaluate('nozzle', 'r,s\n0.3,1\n', ...flags)).stderr)![1];
    const first = await studyOf();
    expect(await studyOf('--outputs', 'y')).to.equal(first);
    expect(await studyOf('--inputs', 's,r')).to.equal(first);
    const others = [
      await studyOf('--version', '2'),
      await studyOf('--inputs', 'r'),
      await studyOf('--inputs', 'r', '--fixed', 's=1'),
    ];
    expect(new Set([first, ...others]).size).to.equal(4);
    const { dispersions } = (await throat.client.submission(others[2]!)).config;
    expect(dispersions['s']!.distribution).to.deep.equal({ type: 'fixed', value: 1 });
  });

  it('evaluates more points than a round has', async () => {
    const points = Array.from({ length: 10_001 }, (_, at) => at % 7);
    const { code, stderr } = await evaluate('many', `r\n${points.join('\n')}\n`, '-o', 'ndjson');
    expect(code, stderr).to.equal(0);
    expect(stderr).to.match(/10001 points: 7 executed, 9994 known/);
  });

  it('executes each point once where a study is full before it has all of them', async () => {
    const [early, late] = [
      [0.31, 0.32, 0.33],
      [0.34, 0.35, 0.36],
    ];
    const points = [...Array.from({ length: 10_000 }, (_, at) => early[at % 3]!), ...late];
    const { code, stderr, stdout } = await evaluate(
      'small',
      `r\n${points.join('\n')}\n`,
      '--budget',
      '4',
      '-o',
      'ndjson',
    );
    expect(code, stderr).to.equal(0);
    expect(stderr)
      .to.match(/study \S+ is full or closed: the further points are in study \S+/)
      .and.match(/10003 points: 6 executed, 9997 known/);
    expect([...early, ...late].map(executions)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    const ys = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { outputs: { y: number } }).outputs.y);
    expect(ys).to.deep.equal(points.map((r) => r ** 2));
  });

  it('continues in another study when its own is closed, cancelled, deleted or full, and says when a study cannot be large enough', async () => {
    const definition = { simulation: 'full', version: '1', inputs: ['r'], fixed: {} };
    const rows = (...them: number[]) => ({ rows: them.map((r) => ({ r })) });
    const ask = async (it: Evaluator, ...them: number[]) => {
      const answer = await it.evaluate(rows(...them), 30);
      return 'points' in answer ? answer.points.map(({ outputs }) => outputs['y']) : [];
    };
    const one = new Evaluator(throat.client, definition, { budget: 3 });
    expect(await ask(one, 1, 2)).to.deep.equal([1, 4]);
    const first = await one.study();
    expect(await ask(one, 3, 4), 'full').to.deep.equal([9, 16]);
    expect((await throat.client.batch(first)).batch).to.include({ closed: true, status: 'Completed' });
    for (const [at, end] of ['close', 'cancel', 'delete'].entries()) {
      const study = await one.study();
      if (end === 'close') await throat.client.rounds.close(study);
      else await throat.client.cancelBatch(study);
      if (end === 'delete') await throat.client.deleteBatch(study);
      expect(await ask(one, 5 + at), end).to.deep.equal([(5 + at) ** 2]);
      expect(await one.study()).to.not.equal(study);
    }
    const other = new Evaluator(throat.client, definition);
    expect(await other.study(), 'another program, with another budget').to.equal(await one.study());
    const failed = await new Evaluator(throat.client, { ...definition, version: '2' }, { budget: 1 })
      .evaluate(rows(1, 2))
      .then(
        () => 'evaluated',
        (error: { code: string }) => error.code,
      );
    expect(failed).to.equal('budget-exhausted');
  });

  it('makes one study for programs that begin at the same time', async () => {
    const definition = { simulation: 'together', version: '1', inputs: ['r'], fixed: {} };
    const budgets = [10, 10, 20, 10, 20];
    const studies = await Promise.all(
      budgets.map((budget) => new Evaluator(throat.client, definition, { budget }).study()),
    );
    expect(new Set(studies).size).to.equal(1);
  });

  const refused: [string, string, string[], number, RegExp][] = [
    ['a point without an input', 'r\n1\n', ['--inputs', 'r,s'], 65, /x\.csv:2: has no "s"/],
    ['an input that is fixed', 'r\n1\n', ['--fixed', 'r=1'], 64, /"r" is given twice/],
    ['a fixed text', 'r\n1\n', ['--fixed', 's=a'], 64, /must be name=number/],
    [
      'an output with the name of an input, in CSV',
      'y,r\n1,2\n',
      ['--outputs', 'y', '-o', 'csv'],
      64,
      /"y" is an input and an output/,
    ],
    ['NaN', 'r\nnan\n', [], 65, /:2: "r" is "nan"/],
  ];
  for (const [what, points, flags, exitCode, message] of refused) {
    it(`refuses ${what}`, async () => {
      const { code, stderr } = await evaluate('refused', points, ...flags);
      expect(stderr).to.match(message);
      expect(code).to.equal(exitCode);
    });
  }

  describe('the bridge', () => {
    const server = (hosts = { allowedHosts: ['bridge.lab'], anyAddress: false }) => {
      const evaluator = new Evaluator(throat.client, {
        simulation: 'bridged',
        version: '1',
        inputs: ['s', 'r'],
        fixed: {},
      });
      const queue = new PointsQueue(evaluator, () => {});
      const model = { name: 'bridged', inputs: ['s', 'r'], outputs: ['y'] };
      return bridgeServer({ ...model, evaluate: (row, signal) => queue.evaluate(row, signal) }, hosts);
    };
    let bridge: ReturnType<typeof server>;
    let url: string;
    beforeEach(async () => {
      bridge = server().listen(0, '127.0.0.1');
      await once(bridge, 'listening');
      url = `http://127.0.0.1:${(bridge.address() as AddressInfo).port}`;
    });
    afterEach(() => {
      bridge.closeAllConnections();
      bridge.close();
    });
    const post = async (path: string, body: string, headers = {}): Promise<{ status: number; body: any }> => {
      const response = await fetch(url + path, { method: 'POST', body, headers });
      return { status: response.status, body: await response.json() };
    };
    const input = (...vector: unknown[]) => JSON.stringify({ name: 'bridged', input: [vector], config: {} });

    it('answers 64 requests at once with few rounds, each point executed once, and again after its restart', async () => {
      const vectors = Array.from({ length: 64 }, (_, at) => [at % 2, 100 + (at % 40)] as const);
      const answers = await Promise.all(vectors.map((vector) => post('/Evaluate', input(...vector))));
      expect(answers.map(({ body }) => body.output)).to.deep.equal(vectors.map(([, r]) => [[r * r]]));
      const study = (await newestBatches(throat.client, 50)).find(({ name }) => name === 'bridged 1 evaluator');
      expect(study!.total_jobs).to.equal(40);
      expect(study!.rounds).to.be.at.most(20);
      const other = server().listen(0, '127.0.0.1');
      await once(other, 'listening');
      url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      expect((await post('/Evaluate', input(1, 101))).body).to.deep.equal({ output: [[101 * 101]] });
      expect(executions(101)).to.equal(1);
      other.closeAllConnections();
      other.close();
    });

    it('describes its model', async () => {
      const name = JSON.stringify({ name: 'bridged' });
      expect(await (await fetch(`${url}/Info`)).json()).to.deep.equal({ protocolVersion: 1, models: ['bridged'] });
      expect((await post('/InputSizes', name)).body).to.deep.equal({ inputSizes: [2] });
      expect((await post('/OutputSizes', name)).body).to.deep.equal({ outputSizes: [1] });
      const support = { Evaluate: true, Gradient: false, ApplyJacobian: false, ApplyHessian: false };
      expect((await post('/ModelInfo', name)).body).to.deep.equal({ support });
    });

    const errors: [string, string, string, number, string, RegExp, object?][] = [
      ['a failed run', '/Evaluate', input(0, 0.4), 500, 'ModelError', /^run \d+ ended crashed: melts$/],
      ['another model', '/Evaluate', '{"name":"other"}', 400, 'ModelNotFound', /available: bridged/],
      ['a gradient', '/Gradient', '{"name":"bridged"}', 400, 'UnsupportedFeature', /Gradient/],
      ['a Jacobian', '/ApplyJacobian', '{"name":"bridged"}', 400, 'UnsupportedFeature', /ApplyJacobian/],
      ['a Hessian', '/ApplyHessian', '{"name":"bridged"}', 400, 'UnsupportedFeature', /ApplyHessian/],
      ['a short vector', '/Evaluate', input(1), 400, 'InvalidInput', /Expected 2 but got 1/],
      ['two vectors', '/Evaluate', '{"name":"bridged","input":[[1],[2]]}', 400, 'InvalidInput', /one vector of 2/],
      ['a text as number', '/Evaluate', input(1, '2'), 400, 'InvalidInput', /number 1 .*\(r\)/],
      ['null', '/Evaluate', input(null, 2), 400, 'InvalidInput', /number 0 .*\(s\)/],
      ['NaN', '/Evaluate', '{"name":"bridged","input":[[NaN,1]]}', 400, 'InvalidInput', /not valid JSON/],
      ['a number beyond a double', '/Evaluate', '{"name":"bridged","input":[[1e999,1]]}', 400, 'InvalidInput', /1e999/],
      [
        'a config',
        '/Evaluate',
        '{"name":"bridged","input":[[1,2]],"config":{"mesh":2}}',
        400,
        'InvalidInput',
        /takes no config/,
      ],
      ['a list', '/Evaluate', '[]', 400, 'InvalidInput', /must be a JSON object/],
      ['no JSON', '/Evaluate', '{', 400, 'InvalidInput', /not valid JSON/],
      ['5 MB', '/Evaluate', ' '.repeat(5_000_000), 413, 'InvalidInput', /larger than/],
      ['another path', '/Hessian', '{}', 404, 'NotFound', /the paths are/],
      ['another method', '/Info', '{}', 405, 'MethodNotAllowed', /GET/],
      ['a web page', '/Evaluate', input(1, 2), 403, 'Forbidden', /web pages/, { origin: 'http://evil.example' }],
    ];
    /** The status of a request with this `Host` header, which `fetch` does not set. */
    const statusFor = async (address: string, host: string, path = '/Info'): Promise<number | undefined> => {
      const sent = httpRequest(address + path, { method: path === '/Info' ? 'GET' : 'POST', headers: { host } });
      sent.end(path === '/Info' ? undefined : input(1, 77));
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };

    it('answers under loopback and its own names alone: a page whose name is bound to its address starts no run', async () => {
      const { port } = bridge.address() as AddressInfo;
      const own = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'Bridge.lab', `bridge.lab:${port}`];
      for (const host of own) expect(await statusFor(url, host), host).to.equal(200);
      const foreign = ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '10.0.0.7', 'a b'];
      for (const host of foreign)
        for (const path of ['/Info', '/Evaluate'])
          expect(await statusFor(url, host, path), `${host} ${path}`).to.equal(403);
      expect(executions(77)).to.equal(0);
    });

    it('beyond loopback answers under every address, and under no other name than its own', async () => {
      const other = server({ allowedHosts: [], anyAddress: true }).listen(0, '127.0.0.1');
      await once(other, 'listening');
      const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      const statuses = [await statusFor(address, '10.0.0.7'), await statusFor(address, 'evil.example')];
      other.closeAllConnections();
      other.close();
      expect(statuses).to.deep.equal([200, 403]);
    });

    for (const [what, path, body, status, type, message, headers] of errors) {
      it(`refuses ${what}`, async () => {
        const answer = await post(path, body, headers);
        expect([answer.status, answer.body.error.type]).to.deep.equal([status, type]);
        expect(answer.body.error.message).to.match(message);
      });
    }
  });
});
