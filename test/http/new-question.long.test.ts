/** A new question is one file and its line in the list: route, description, worker, client, answers from files and a command follow. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { Command } from 'commander';
import { packageRoot } from '../../src/base/package.ts';
import { study } from '../support/studies.ts';

const LIST = 'dist/src/analysis/questions.js';
const FILE = 'dist/src/analysis/questions/open-runs.js';
const QUESTION = `
import { answered, named } from '../../contract/build.js';
import { headerMembers } from '../../contract/answers/header.js';
import { integerQuery } from '../../contract/queries.js';
import { count } from '../../contract/scalars.js';
import { question } from '../question.js';
import { answerHeader } from '../table/header.js';

export const openRuns = question({
  name: 'open-runs',
  operationId: 'getOpenRuns',
  summary: 'Count the open runs of a batch',
  query: { times: integerQuery(1, 9, 'A factor; 1 without it.') },
  response: named('OpenRuns', 'The open runs.', answered({ ...headerMembers, open: count('Times the factor.') })),
  answer({ table }, { times = 1 }) {
    if (times === 7) throw new RangeError('not answered: 7 is not a factor; give another one');
    const header = answerHeader(table);
    return { ...header, open: times * (header.excluded.open ?? 0) };
  },
});
`;

/** The modules of the copy have no types here. */
type Modules = Record<string, (...args: any[]) => any>;

describe('http: a new question', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'simbatch-new-question-'));
    await symlink(join(packageRoot, 'node_modules'), join(root, 'node_modules'));
    await cp(join(packageRoot, 'package.json'), join(root, 'package.json'));
    const filter = (path: string): boolean => !/\.(map|d\.ts)$/.test(path);
    for (const folder of ['src', 'machines'])
      await cp(join(packageRoot, 'dist', folder), join(root, 'dist', folder), { recursive: true, filter });
    await writeFile(join(root, FILE), QUESTION);
    const list = await readFile(join(root, LIST), 'utf8');
    const longer = list.replace('QUESTIONS = [', 'QUESTIONS = [ openRuns,');
    expect(longer).not.to.equal(list);
    await writeFile(join(root, LIST), `import { openRuns } from './questions/open-runs.js';\n${longer}`);
  });
  after(() => rm(root, { recursive: true }));

  const load = (path: string): Promise<Modules> =>
    import(pathToFileURL(join(root, 'dist/src', path)).href) as Promise<Modules>;

  it('has a route, a description, an answer of the worker, a method of the client, an answer from a file and a command', async () => {
    const { openCoordinator } = await load('coordinator/coordinator.js');
    const { openStore } = await load('coordinator/kernel/storage/open-store.js');
    const { systemClock } = await load('base/clock.js');
    const { startHttp } = await load('http/server.js');
    const { Client } = await load('client/client.js');
    const { fileAnalysis } = await load('cli/offline/file-analysis.js');
    const { RunTableBuilder } = await load('analysis/table/table-builder.js');

    const coordinator = await openCoordinator!(await openStore!(join(root, 'data')), systemClock);
    const log = { debug: () => {}, info: () => {}, error: () => {} };
    const server = await startHttp!({ coordinator, host: '127.0.0.1', port: 0, log, clock: systemClock });
    try {
      const { batch_id } = await coordinator.submit(study({ runs: 5 }));
      const { analysis } = new (Client as unknown as new (options: object) => any)({ endpoint: server.url });
      expect((await analysis.ask('open-runs', batch_id, { times: 3 })).open).to.equal(15);
      const get = async (path: string): Promise<any> => (await fetch(server.url + path)).json();
      const path = `/batches/${batch_id}/open-runs`;
      expect(await get(path)).to.include({ open: 5, of: 5 });
      expect((await get(`${path}?times=10`)).detail).to.match(/`times` is "10"; it must be an integer from 1 to 9/);
      expect(await get(`${path}?times=7`)).to.include({ status: 400, code: 'malformed-query' });
      const { paths, components } = await get('/openapi.json');
      const described = paths['/batches/{batch_id}/open-runs'].get;
      expect(described.operationId).to.equal('getOpenRuns');
      expect(described.parameters.map((it: { name: string }) => it.name)).to.include.members([
        'times',
        'family',
        'wait',
      ]);
      expect(components.schemas.OpenRuns.properties.open.description).to.equal('Times the factor.');
      const Builder = RunTableBuilder as unknown as new (layout: object) => { build(): object };
      const table = new Builder({ batchId: batch_id, method: 'monte_carlo', runs: 4 }).build();
      const file = fileAnalysis!({ table, submission: {}, warnings: [] });
      expect((await file.ask('open-runs', batch_id, { times: 2 })).open).to.equal(8);
      await insistOnCommand(server.url);
    } finally {
      coordinator.releaseWaiting();
      await server.close(1_000);
      await coordinator.close();
    }
  });

  /** Runs `simbatch ask open-runs` in this process. */
  async function insistOnCommand(endpoint: string): Promise<void> {
    const { run, buildProgram } = await load('cli/program.js');
    const { completeWords } = await load('cli/completion/candidates.js');
    const file = join(root, 'answer.txt');
    const ask = async (...args: string[]): Promise<[code: number, text: string]> => {
      await writeFile(file, '');
      process.exitCode = undefined;
      const code = await run!(['ask', 'open-runs', 'latest', ...args, '-f', file, '--endpoint', endpoint]);
      return [code, await readFile(file, 'utf8')];
    };
    const [code, text] = await ask('--times', '3', '-o', 'json');
    expect(code).to.equal(0);
    expect(JSON.parse(text)).to.include({ open: 15, of: 5 });
    expect((await ask('-o', 'table'))[1]).to.match(/^of +5\nn_used +0\n[^]*open +5\n$/m);

    const { commands } = await buildProgram!(['ask']);
    const part = commands
      .find((it: Command) => it.name() === 'ask')
      .commands.find((it: Command) => it.name() === 'open-runs') as Command;
    expect(part.helpInformation()).to.match(
      /count the open runs of a batch[^]*--times <number> +a factor; 1 without it\n/,
    );
    const { candidates } = await completeWords!(part, ['latest', '--'], {});
    expect(candidates.map((it: [string]) => it[0])).to.include.members(['--times', '--family', '--from']);
  }
});
